package durable

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// What goes over the wire is JSON, with these members.

// request is the input of a workflow.
type request struct {
	Tool   string          `json:"tool"`
	Digest string          `json:"digest,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	Seed   uint64          `json:"seed,omitempty,string"`
	Caller *caller         `json:"caller,omitempty"`
	// Trace has the members of _meta that say what the run is part of: an object.
	Trace json.RawMessage `json:"trace,omitempty"`
	// Listening is nil if the client wants no reports of upstream servers.
	Listening *listening `json:"listening,omitempty"`
	// Began is when the run began, if another workflow has begun it.
	Began time.Time `json:"began,omitzero"`
	// MaxValue is how many bytes one value may have, HeartbeatMs after how long
	// without a sign of life a worker is lost.
	MaxValue    int   `json:"maxValue,omitempty"`
	HeartbeatMs int64 `json:"heartbeatMs,omitempty"`
	// Share is what the run may take of the limits of its parent; nil without one.
	Share *executor.Share `json:"share,omitempty"`
	// Records are those of the workflows that this one continues. Spent is how many
	// executions there were, Shares are those of the children under way by their ids.
	// Waiting is what the last one of these told of itself.
	Records []json.RawMessage `json:"records,omitempty"`
	Waiting bool              `json:"waiting,omitempty"`
	Spent   int               `json:"spent,omitempty"`
	Shares  map[string]int    `json:"shares,omitempty"`
	// Uses are the answers that the caller has given.
	Uses []runs.Use `json:"uses,omitempty"`
	// Refused has the failures of questions that nobody can answer, by their kind.
	Refused map[string]json.RawMessage `json:"refused,omitempty"`
}

// caller is what calls carry about the caller of a run.
type caller struct {
	Name   string          `json:"name,omitempty"`
	Header http.Header     `json:"header,omitempty"`
	Meta   json.RawMessage `json:"meta,omitempty"`
	// Secrets are values that arguments of the run have and nobody may see: those of the
	// tool, as the workflow finds them, and of calls that are over.
	Secrets []string `json:"secrets,omitempty"`
}

// maxSecrets is how many of them there are.
const maxSecrets = 64

// withSecrets returns the caller with these secrets as well.
func (c *caller) withSecrets(secrets []string) *caller {
	own := caller{}
	if c != nil {
		own = *c
	}
	own.Secrets = slices.Clone(own.Secrets)
	for _, s := range secrets {
		if len(own.Secrets) < maxSecrets && !slices.Contains(own.Secrets, s) {
			own.Secrets = append(own.Secrets, s)
		}
	}
	if c == nil && own.Secrets == nil {
		return nil
	}
	return &own
}

// secrets returns Secrets; none without a caller.
func (c *caller) secrets() []string {
	if c == nil {
		return nil
	}
	return c.Secrets
}

// callRequest is the input of an activity.
type callRequest struct {
	Run       string          `json:"run"`
	Node      string          `json:"node"` // its path, for people
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Args      json.RawMessage `json:"args,omitempty"`
	Key       string          `json:"key"`
	Caller    *caller         `json:"caller,omitempty"`
	Trace     json.RawMessage `json:"trace,omitempty"` // as in request
	MaxValue  int             `json:"maxValue"`
	Listening *listening      `json:"listening,omitempty"` // as in request
	// Again is true after the loss of a worker: the call may have been made.
	Again bool `json:"again,omitempty"`
}

// callReply is the result of an activity, and the details of its error.
type callReply struct {
	Reply      json.RawMessage `json:"reply,omitempty"`
	Failure    json.RawMessage `json:"failure,omitempty"`
	RetryAfter time.Duration   `json:"retryAfter,omitempty"`
	Attempts   int             `json:"attempts,omitempty"`
	FromCache  bool            `json:"fromCache,omitempty"`
	Times      []attempt       `json:"times,omitempty"`
	// Reports are what the server has reported, if the client wants to know.
	Reports []report `json:"reports,omitempty"`
	// Secrets are values among the arguments that the schema of the called tool declares
	// as secrets.
	Secrets []string `json:"secrets,omitempty"`
	// ErrorType and ExceptionType describe the error for telemetry.
	ErrorType     string `json:"errorType,omitempty"`
	ExceptionType string `json:"exceptionType,omitempty"`
}

type attempt struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	Error string    `json:"error,omitempty"`
}

// outcome is the result of a workflow, and the details of its error.
type outcome struct {
	Result  json.RawMessage `json:"result,omitempty"`
	Failure json.RawMessage `json:"failure,omitempty"`
	Text    string          `json:"text,omitempty"` // of the error of the run
	// Error is the failure as a parent takes it; see executor.FailureValue. Executions
	// is how many the run had, with its children.
	Error      json.RawMessage `json:"error,omitempty"`
	Executions int             `json:"executions,omitempty"`
	// Records are all of the run, absent where they are too long: a query then has
	// them.
	Records []json.RawMessage `json:"records,omitempty"`
	Count   int               `json:"count"` // of the records
	Said    []said            `json:"said,omitempty"`
	// Secrets are those of the caller of the run at its end, for those who look at it.
	Secrets []string `json:"secrets,omitempty"`
	// Uses are the answers that the caller has given.
	Uses []runs.Use `json:"uses,omitempty"`
}

// reply is the input of the update that answers questions.
type reply struct {
	Question string          `json:"question"`
	Answer   json.RawMessage `json:"answer,omitempty"`
	Failure  json.RawMessage `json:"failure,omitempty"` // why there is no answer
}

// page is the answer to the query for records.
type page struct {
	Records []json.RawMessage `json:"records"`
	Next    int               `json:"next"`
	Done    bool              `json:"done"` // no record will follow those before Next
	// Said is what servers reported in the calls that ended with these records or
	// later ones.
	Said []said `json:"said,omitempty"`
}

// raw returns a value as JSON, nil for undefined.
func raw(v value.Value) json.RawMessage {
	if v.IsUndefined() {
		return nil
	}
	return v.Append(nil)
}

// parsed is the inverse of raw.
func parsed(text json.RawMessage) (value.Value, error) {
	if len(text) == 0 {
		return value.Undef, nil
	}
	return value.ParseLazyBytes(text)
}

// callerOf returns what travels of an info: all of it needs the key of the
// deployment, but for the name.
func callerOf(info *callinfo.Info, forwarded func(header string) bool) *caller {
	if info == nil {
		return nil
	}
	c := &caller{Name: info.Caller, Meta: raw(info.Meta)}
	for name, values := range info.Header {
		if forwarded(name) {
			if c.Header == nil {
				c.Header = http.Header{}
			}
			c.Header[name] = values
		}
	}
	if c.Name == "" && c.Header == nil && c.Meta == nil {
		return nil
	}
	return c
}

// info returns what the call of an activity carries.
func (c *caller) info() (*callinfo.Info, error) {
	if c == nil {
		return &callinfo.Info{}, nil
	}
	meta, err := parsed(c.Meta)
	if err != nil {
		return nil, err
	}
	return &callinfo.Info{Caller: c.Name, Header: c.Header, Meta: meta, SecretArguments: c.Secrets}, nil
}

// Calls is what workers have to know of the calls that they make.
type Calls interface {
	// MayRepeat reports whether a call may be made again that may have happened. It
	// may ask the server.
	MayRepeat(ctx context.Context, info *callinfo.Info, server, tool string) bool
	// SecretArguments returns the values among arguments of a tool that are secrets: of a
	// tool of the file if server is empty, else of an upstream tool whose schema is known.
	SecretArguments(info *callinfo.Info, server, tool string, args value.Value) []string
	// CheckLocked returns why a call would send nothing, as far as the file and its lock
	// file say: the same in every process.
	CheckLocked(ctx context.Context, server, tool string, args value.Value) error
	// MaskArguments returns arguments of a tool, as those of SecretArguments, without the
	// secrets among them.
	MaskArguments(server, tool string, args value.Value) value.Value
	// Redact takes secrets out of a text that is kept: those of the file, of info, and
	// info.SecretArguments.
	Redact(info *callinfo.Info, text string) string
	// RedactValue is Redact for all strings of a value.
	RedactValue(info *callinfo.Info, v value.Value) value.Value
}

// attemptsOf and timesOf translate the times of attempts.
func attemptsOf(times []graph.Attempt) []attempt {
	var list []attempt
	for _, one := range times {
		a := attempt{Start: one.Start, End: one.End}
		if one.Err != nil {
			a.Error = one.Err.Error()
		}
		list = append(list, a)
	}
	return list
}

func timesOf(list []attempt) []graph.Attempt {
	var times []graph.Attempt
	for _, one := range list {
		a := graph.Attempt{Start: one.Start, End: one.End}
		if one.Error != "" {
			a.Err = &graph.Failure{Message: one.Error}
		}
		times = append(times, a)
	}
	return times
}
