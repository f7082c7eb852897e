package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
)

// cursor is where a stream of events stands.
type cursor struct {
	id    string        // of the latest event; empty where it had none
	retry time.Duration // what the server asked for between two attempts; 0: nothing
}

// minRetry keeps a server that asks for no wait at all from being asked in a
// tight loop; maxRetry bounds what it may ask for.
const (
	minRetry = 10 * time.Millisecond
	maxRetry = time.Minute
)

// eventStream reads server-sent events (HTML Standard, section 9.2.6).
type eventStream struct {
	lines  *bufio.Reader
	limit  int64
	cursor *cursor
}

// event is one event. The data of one over the limit are dropped; envelope has
// seen all of them.
type event struct {
	name     string
	data     []byte
	envelope jsonrpc.Envelope
}

// maxField is how much of a field other than data is read.
const maxField = 4 << 10

// next returns the next event that has data. At the end of the stream the
// error is io.EOF; an event that is not complete then is dropped.
func (s *eventStream) next() (*event, error) {
	e := &event{}
	seen := false
	for {
		field, value, blank, err := s.field(e, seen)
		if err != nil {
			return nil, err
		}
		if blank {
			if seen {
				return e, nil
			}
			e = &event{}
			continue
		}
		switch field {
		case "data":
			seen = true
		case "event":
			e.name = value
		case "id":
			s.cursor.id = value
		case "retry":
			if ms, err := strconv.ParseUint(value, 10, 31); err == nil {
				s.cursor.retry = min(max(time.Duration(ms)*time.Millisecond, minRetry), maxRetry)
			}
		}
	}
}

// field reads one line. The value of data goes to e; more says that e has
// some already.
func (s *eventStream) field(e *event, more bool) (name, value string, blank bool, err error) {
	var (
		head  []byte
		data  bool
		first = true
	)
	for {
		part, err := s.lines.ReadSlice('\n')
		ended := err == nil
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) && len(part) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return "", "", false, err
		}
		if ended {
			part = bytes.TrimSuffix(part[:len(part)-1], []byte("\r"))
		}
		if first {
			first = false
			if rest, ok := bytes.CutPrefix(part, []byte("data:")); ok {
				data = true
				part = bytes.TrimPrefix(rest, []byte(" "))
				if more {
					s.data(e, []byte("\n"))
				}
			}
		}
		if data {
			s.data(e, part)
		} else if len(head) < maxField {
			head = append(head, part...)
		}
		if !ended {
			continue
		}
		if data {
			return "data", "", false, nil
		}
		if len(head) == 0 {
			return "", "", true, nil
		}
		field, rest, _ := bytes.Cut(head, []byte(":"))
		return string(field), string(bytes.TrimPrefix(rest, []byte(" "))), false, nil
	}
}

func (s *eventStream) data(e *event, part []byte) {
	e.envelope.Feed(part)
	if int64(e.envelope.Len()) <= s.limit {
		e.data = append(e.data, part...)
	} else {
		e.data = nil
	}
}

// readEvents takes the messages of a stream until done says that it is enough,
// or the stream ends, which is no error.
func readEvents(body io.Reader, r *receiver, c *cursor, done func() bool) error {
	s := &eventStream{lines: bufio.NewReader(body), limit: r.limit, cursor: c}
	for {
		e, err := s.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return overError("broke the connection: " + err.Error())
		case e.name == "" || e.name == "message":
			r.take(e.data, &e.envelope, false)
		}
		if done() {
			return nil
		}
	}
}
