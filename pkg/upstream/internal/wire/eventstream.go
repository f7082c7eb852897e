package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// cursor is where a stream of events stands.
type cursor struct {
	id    string        // of the latest event; empty if it had none
	retry time.Duration // what the server asked for between two attempts; 0: nothing
}

// maxRetry bounds the wait that a server may ask for.
const maxRetry = time.Minute

// eventStream reads server-sent events (HTML Standard, section 9.2.6).
type eventStream struct {
	lines   *bufio.Reader
	limit   int64
	account *memory.Account
	cursor  *cursor

	begun   bool // the first bytes were read
	afterCR bool // the last line ended with CR, to which a LF may belong
}

// event is one event. The data of one over the limit are dropped; envelope has
// seen all of them.
type event struct {
	name     string
	data     []byte
	envelope jsonrpc.Envelope
	buffer   messageBuffer
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
			s.account.Shrink(e.buffer.counted)
			return nil, err
		}
		if blank {
			if seen {
				e.data = e.buffer.text()
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
				s.cursor.retry = min(time.Duration(ms)*time.Millisecond, maxRetry)
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
		part, ended, err := s.part()
		if err != nil {
			return "", "", false, err
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

// byteOrderMark may stand before the first line.
const byteOrderMark = "\ufeff"

// part reads a line without its end, which is LF, CR or CRLF, or as much of a
// long one as is read at once. It does not wait for what comes behind a CR, which
// may be long in coming. The bytes are good until the next read.
func (s *eventStream) part() (part []byte, ended bool, err error) {
	if err := s.skip(); err != nil {
		return nil, false, err
	}
	for from := 0; ; {
		_, err := s.lines.Peek(from + 1) // waits for more
		there, _ := s.lines.Peek(s.lines.Buffered())
		end := bytes.IndexByte(there[from:], '\n')
		if end < 0 {
			end = len(there) - from
		}
		if cr := bytes.IndexByte(there[from:from+end], '\r'); cr >= 0 {
			end = cr
		}
		if end += from; end < len(there) {
			s.afterCR = there[end] == '\r'
			_, _ = s.lines.Discard(end + 1)
			return there[:end], true, nil
		}
		switch from = len(there); {
		case errors.Is(err, bufio.ErrBufferFull):
			_, _ = s.lines.Discard(from)
			return there, false, nil
		case errors.Is(err, io.EOF) && from > 0:
			return nil, false, io.ErrUnexpectedEOF
		case err != nil:
			return nil, false, err
		}
	}
}

// skip skips what may stand before a line and does not belong to it.
func (s *eventStream) skip() error {
	if !s.begun {
		s.begun = true
		if start, _ := s.lines.Peek(1); string(start) != byteOrderMark[:1] {
			return nil
		}
		if start, _ := s.lines.Peek(len(byteOrderMark)); string(start) == byteOrderMark {
			_, _ = s.lines.Discard(len(byteOrderMark))
		}
	}
	if !s.afterCR {
		return nil
	}
	next, err := s.lines.Peek(1)
	if err != nil {
		return err
	}
	if next[0] == '\n' {
		_, _ = s.lines.Discard(1)
	}
	s.afterCR = false
	return nil
}

func (s *eventStream) data(e *event, part []byte) {
	e.envelope.Feed(part)
	e.buffer.keep(&e.envelope, part, s.limit, s.account)
}

// readEvents takes the messages of a stream until done says that it is enough,
// or the stream ends, which is no error. It reports whether there were any.
func readEvents(body io.Reader, r *receiver, c *cursor, done func() bool) (came bool, err error) {
	s := &eventStream{lines: bufio.NewReader(body), limit: r.limit, account: r.account, cursor: c}
	for {
		e, err := s.next()
		switch {
		case errors.Is(err, io.EOF):
			return came, nil
		case err != nil:
			return came, EndedError("broke the connection: " + err.Error())
		case e.name == "" || e.name == "message":
			came = came || !e.envelope.Blank()
			r.event(e)
		}
		if e != nil {
			r.account.Shrink(e.buffer.counted)
		}
		if done() {
			return came, nil
		}
	}
}
