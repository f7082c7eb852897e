package jsonrpc

import (
	"bytes"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Span is where a member's value stands in a message. The zero Span is an
// absent member.
type Span struct{ start, end int }

// Found reports whether the member is there.
func (s Span) Found() bool { return s.end > 0 }

// Of returns the value's bytes in the message.
func (s Span) Of(message []byte) []byte { return message[s.start:s.end] }

// Envelope finds the outer members of a JSON-RPC message (JSON-RPC 2.0,
// sections 4 and 5) without decoding what is inside them. It is fed the
// message in pieces of any size, so that the id of a message that is too long
// to keep is known all the same. It checks only what it needs; the members'
// values may still be invalid JSON.
type Envelope struct {
	ID, Method, Params, Result, Error Span

	Versioned bool // a member "jsonrpc" was seen
	// Repeated is the name of a member that is there twice, "id" if that is one;
	// empty where each is there once. Readers of such a message differ in which one
	// they take.
	Repeated string

	idText   []byte
	length   int // bytes fed so far
	state    envelopeState
	depth    int
	inString bool
	escaped  bool
	key      [maxKey]byte // the start of the current key; longer keys are of no interest
	keyLen   int
	version  Span
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

// maxKey is how long a key is at most that can be of interest: "jsonrpc" with its
// closing quote, each letter written as an escape (\u006a).
const maxKey = 6*len("jsonrpc") + 1

// maxID is how long an id is worth keeping; those that we gave are shorter.
const maxID = 64

// Complete reports whether exactly one whole object was fed.
func (e *Envelope) Complete() bool { return e.state == afterObject }

// Unfinished reports whether what was fed is the start of an object, or blank.
func (e *Envelope) Unfinished() bool { return e.state != afterObject && e.state != notAnObject }

// Blank reports whether nothing but white space was fed.
func (e *Envelope) Blank() bool { return e.state == beforeObject }

// Len returns the number of bytes fed so far.
func (e *Envelope) Len() int { return e.length }

// IDText returns the start of the id, as far as it is known; it is empty if
// there are two.
func (e *Envelope) IDText() string {
	if e.Repeated == "id" {
		return ""
	}
	return string(e.idText)
}

// Feed takes the next piece of the message.
func (e *Envelope) Feed(chunk []byte) {
	base := e.length
	e.length += len(chunk)
	for i := 0; i < len(chunk); {
		if e.inString {
			i = e.skipString(chunk, i, base)
			continue
		}
		if e.depth > 1 {
			i = e.skipInner(chunk, i, base)
			continue
		}
		c := chunk[i]
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			e.step(c, base+i)
		}
		i++
	}
}

// skipInner moves through what is inside the array or object that a member is, to
// behind its end, into a string, or behind the chunk's end. Most bytes of long
// messages pass here.
func (e *Envelope) skipInner(chunk []byte, i, base int) int {
	for ; i < len(chunk); i++ {
		switch chunk[i] {
		case '"':
			e.inString = true
			return i + 1
		case '{', '[':
			e.depth++
		case '}', ']':
			if e.depth--; e.depth == 1 {
				e.last = base + i + 1
				return i + 1
			}
		}
	}
	return i
}

// skipString moves to behind the string's end or the chunk's.
func (e *Envelope) skipString(chunk []byte, i, base int) int {
	from := i
	if e.escaped {
		e.escaped = false
		i++
	}
	for i < len(chunk) {
		i += value.PlainLen(chunk[i:])
		if i == len(chunk) {
			break
		}
		switch chunk[i] {
		case '"':
			i++
			e.keep(chunk[from:i])
			e.inString = false
			if e.state == inKey {
				e.state = beforeColon
				e.plainKey()
			}
			e.last = base + i
			return i
		case '\\':
			i++ // what it covers is passed over, perhaps in the next chunk
			e.escaped = i == len(chunk)
		}
		i++
	}
	e.keep(chunk[from:])
	return len(chunk)
}

// keep remembers bytes of a string that is the current key or id.
func (e *Envelope) keep(text []byte) {
	if e.state == inKey {
		e.keyLen += copy(e.key[e.keyLen:], text)
		return
	}
	e.keepID(text)
}

func (e *Envelope) keepID(text []byte) {
	if e.depth == 1 && e.keyIs("id") && len(e.idText) < maxID {
		e.idText = append(e.idText, text...)
	}
}

// plainKey decodes the escapes of the current key, if it has any.
func (e *Envelope) plainKey() {
	text := e.key[:e.keyLen]
	if bytes.IndexByte(text, '\\') < 0 {
		return
	}
	key, err := value.Parse(`"` + string(text))
	if err != nil || len(key.Str()) >= maxKey {
		return // it is longer than what is kept, or no JSON
	}
	e.keyLen = copy(e.key[:], key.Str()+`"`)
}

// keyIs compares the current key, which is kept with its closing quote.
func (e *Envelope) keyIs(name string) bool {
	return e.keyLen == len(name)+1 && string(e.key[:len(name)]) == name
}

// step takes one byte that is neither white space nor inside a string.
func (e *Envelope) step(c byte, at int) {
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
				e.idText = e.idText[:0]
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

func (e *Envelope) value(c byte, at int) {
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
func (e *Envelope) member() {
	at := Span{e.start, e.last}
	if at.end <= at.start {
		return
	}
	for _, m := range [...]struct {
		name string
		span *Span
	}{{"id", &e.ID}, {"method", &e.Method}, {"params", &e.Params}, {"result", &e.Result}, {"error", &e.Error}, {"jsonrpc", &e.version}} {
		if !e.keyIs(m.name) {
			continue
		}
		if m.span.Found() {
			if e.Repeated != "id" {
				e.Repeated = m.name
			}
			return
		}
		*m.span = at
		e.Versioned = e.Versioned || m.name == "jsonrpc"
		return
	}
}
