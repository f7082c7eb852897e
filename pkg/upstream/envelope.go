package upstream

import "bytes"

// span is where a member's value stands in a message. The zero span is an
// absent member.
type span struct{ start, end int }

func (s span) found() bool { return s.end > 0 }

// of returns the value's bytes in the message.
func (s span) of(message []byte) []byte { return message[s.start:s.end] }

// envelope finds the outer members of a JSON-RPC message (JSON-RPC 2.0,
// sections 4 and 5) without decoding what is inside them. It is fed the
// message in pieces of any size, so that the id of a message that is too long
// to keep is known all the same. It checks only what it needs; the members'
// values may still be invalid JSON.
type envelope struct {
	id, method, params, result, failure span

	rpc  bool // a member "jsonrpc" was seen
	idAt []byte

	pos      int // bytes fed so far
	state    envelopeState
	depth    int
	inString bool
	escaped  bool
	key      [len("jsonrpc") + 1]byte // the start of the current key; longer keys are of no interest
	keyLen   int
	start    int // of the current value
	last     int // end of the last byte of the current value that is not white space
}

type envelopeState uint8

const (
	beforeObject envelopeState = iota
	beforeKey
	inKey
	beforeColon
	beforeValue
	inValue
	afterObject
	notAnObject // what came is not one JSON object
)

// maxID is how long an id is worth keeping; those that we gave are shorter.
const maxID = 64

// complete reports whether exactly one whole object was fed.
func (e *envelope) complete() bool { return e.state == afterObject }

// blank reports whether nothing but white space was fed.
func (e *envelope) blank() bool { return e.state == beforeObject }

func (e *envelope) feed(chunk []byte) {
	base := e.pos
	e.pos += len(chunk)
	for i := 0; i < len(chunk); {
		if e.inString {
			i = e.skipString(chunk, i, base)
			continue
		}
		c := chunk[i]
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			e.step(c, base+i)
		}
		i++
	}
}

// skipString moves to behind the string's end or the chunk's.
func (e *envelope) skipString(chunk []byte, i, base int) int {
	from := i
	if e.escaped {
		e.escaped = false
		i++
	}
	for {
		quote := bytes.IndexByte(chunk[i:], '"')
		end := len(chunk)
		if quote >= 0 {
			end = i + quote
		}
		// Each escape before the quote is passed over; one that covers the
		// quote itself makes us look for the next.
		for i < end {
			slash := bytes.IndexByte(chunk[i:end], '\\')
			if slash < 0 {
				i = end
				break
			}
			i += slash + 2
		}
		switch {
		case i > len(chunk):
			e.escaped = true
			e.keep(chunk[from:])
			return len(chunk)
		case i == end && quote >= 0:
			e.keep(chunk[from : end+1])
			e.inString = false
			if e.state == inKey {
				e.state = beforeColon
			}
			e.last = base + end + 1
			return end + 1
		case i >= len(chunk):
			e.keep(chunk[from:])
			return len(chunk)
		}
	}
}

// keep remembers bytes of a string that is the current key or id.
func (e *envelope) keep(text []byte) {
	if e.state == inKey {
		e.keyLen += copy(e.key[e.keyLen:], text)
		return
	}
	e.keepID(text)
}

func (e *envelope) keepID(text []byte) {
	if e.depth == 1 && e.keyIs("id") && len(e.idAt) < maxID {
		e.idAt = append(e.idAt, text...)
	}
}

// keyIs compares the current key, which is kept with its closing quote.
func (e *envelope) keyIs(name string) bool {
	return e.keyLen == len(name)+1 && string(e.key[:len(name)]) == name
}

// step takes one byte that is neither white space nor inside a string.
func (e *envelope) step(c byte, at int) {
	switch e.state {
	case beforeObject:
		e.state = notAnObject
		if c == '{' {
			e.state, e.depth = beforeKey, 1
		}
	case beforeKey:
		switch c {
		case '"':
			e.state, e.inString, e.keyLen = inKey, true, 0
		case '}':
			e.state, e.depth = afterObject, 0
		default:
			e.state = notAnObject
		}
	case beforeColon:
		e.state = notAnObject
		if c == ':' {
			e.state = beforeValue
			if e.keyIs("id") {
				e.idAt = e.idAt[:0]
			}
		}
	case beforeValue:
		e.state, e.start = inValue, at
		e.value(c, at)
	case inValue:
		e.value(c, at)
	case afterObject:
		e.state = notAnObject
	}
}

func (e *envelope) value(c byte, at int) {
	if e.depth == 1 && (c == ',' || c == '}') {
		e.member()
		e.state = beforeKey
		if c == '}' {
			e.state, e.depth = afterObject, 0
		}
		return
	}
	switch c {
	case '"':
		e.inString = true
	case '{', '[':
		e.depth++
	case '}', ']':
		e.depth--
	}
	e.keepID([]byte{c})
	e.last = at + 1
}

// member notes the value that has just ended.
func (e *envelope) member() {
	at := span{e.start, e.last}
	if at.end <= at.start {
		return
	}
	switch {
	case e.keyIs("id"):
		e.id = at
	case e.keyIs("method"):
		e.method = at
	case e.keyIs("params"):
		e.params = at
	case e.keyIs("result"):
		e.result = at
	case e.keyIs("error"):
		e.failure = at
	case e.keyIs("jsonrpc"):
		e.rpc = true
	}
}
