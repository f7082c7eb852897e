// Package runsock lets other processes of the same user see the runs of this one, over a
// Unix socket in the user's runtime folder.
//
// A connection has one request and its answers, each a line of JSON. The folder is the
// user's alone: who can open a socket in it may see and end everything.
package runsock

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// request is what a client wants.
type request struct {
	Method  string      `json:"method"` // name, look, follow, answer, cancel or list
	Run     string      `json:"run,omitempty"`
	Detail  runs.Detail `json:"detail,omitempty"`
	From    int         `json:"from,omitempty"`
	Answers []answer    `json:"answers,omitempty"`
	Filter  runs.Filter `json:"filter,omitzero"`
}

// answer is a [runs.Answer].
type answer struct {
	Question string      `json:"question"`
	Value    value.Value `json:"value,omitzero"`
	Failure  value.Value `json:"failure,omitzero"`
}

// reply is a part of what comes back. The last one has Done.
type reply struct {
	Name    string         `json:"name,omitempty"`
	State   *state         `json:"state,omitempty"`
	Record  value.Value    `json:"record,omitzero"`
	Asked   *runs.Question `json:"asked,omitempty"`
	Over    *state         `json:"over,omitempty"`
	Summary *runs.Summary  `json:"summary,omitempty"`
	Error   string         `json:"error,omitempty"`
	Code    string         `json:"code,omitempty"` // of errors that places share
	Done    bool           `json:"done,omitempty"`
}

// state is a run with its failure as JSON.
type state struct {
	runs.State
	Failed  value.Value `json:"failed,omitzero"`
	Because string      `json:"because,omitempty"`
}

func stateOf(s *runs.State) *state {
	if s == nil {
		return nil
	}
	w := &state{State: *s}
	if s.Err != nil {
		w.Failed, w.Because, w.Err = executor.FailureOf(s.Err).Value(), s.Err.Error(), nil
	}
	return w
}

func (w *state) read() *runs.State {
	if w == nil {
		return nil
	}
	s := w.State
	if w.Because != "" {
		s.Err = &runs.RunError{Failure: graph.FailureFrom(w.Failed), Text: w.Because}
	}
	return &s
}

// codes are the names of errors on the wire.
var codes = map[string]error{
	"not_found": runs.ErrNotFound, "exists": runs.ErrExists, "not_asked": runs.ErrNotAsked, "over": runs.ErrOver,
	"no_worker": runs.ErrNoWorker, "unavailable": runs.ErrUnavailable, "unreadable": runs.ErrUnreadable,
}

func codeOf(err error) string {
	for code, one := range codes {
		if errors.Is(err, one) {
			return code
		}
	}
	return ""
}

// placeError is an error of the place behind the socket.
type placeError struct {
	text string
	is   error
}

// Error returns the text.
func (e *placeError) Error() string { return e.text }

// Unwrap returns the error that places share, if it is one.
func (e *placeError) Unwrap() error { return e.is }

func (r *reply) err() error {
	if r.Error == "" {
		return nil
	}
	return &placeError{r.Error, codes[r.Code]}
}

// Bounds of a line, in bytes.
const maxRequest, maxReply = 4 << 20, 128 << 20

// readLine reads a line of JSON.
func readLine(r *bufio.Reader, most int, into any) error {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); len(line) > most {
			return fmt.Errorf("a line has more than %d bytes", most)
		}
		switch {
		case err == nil:
			return json.Unmarshal(line, into)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return io.ErrUnexpectedEOF
		default:
			return err
		}
	}
}
