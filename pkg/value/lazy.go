package value

import (
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"
)

// lazyFrom is the length from which a text is worth keeping undecoded.
const lazyFrom = 512

// lazyText is an array or object that is still text. The text is valid JSON.
type lazyText struct {
	text   string
	spaced bool
	once   sync.Once
	parsed Value
	// folded says that the value has been read and the text has a key twice: what
	// was read is then what is encoded, since another reader of the text might take
	// the other one.
	folded atomic.Bool
}

func (l *lazyText) value() Value {
	l.once.Do(func() {
		p := parser{scanner: scanner{text: l.text}}
		l.parsed, _ = p.whole()
		l.folded.Store(p.repeated)
	})
	return l.parsed
}

// ParseLazy checks one JSON text as [Parse] does and decodes it only when it
// is read. Until then, and when it is encoded again, the text itself is used:
// numbers, escapes and, unless the value was read, repeated keys come out as they
// came in, white space between tokens does not.
func ParseLazy(text string) (Value, error) {
	if len(text) < lazyFrom {
		return Parse(text)
	}
	if !utf8.ValidString(text) {
		return Value{}, notUTF8(text)
	}
	text = strings.Trim(text, " \t\r\n")
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return Parse(text)
	}
	s := scanner{text: text}
	if err := s.skipValue(0); err != nil {
		return Value{}, err
	}
	if s.pos < len(text) {
		return Value{}, s.fail("unexpected text after the value")
	}
	kind := Object
	if text[0] == '[' {
		kind = Array
	}
	return Value{meta: uint32(kind) | uint32(lazy), ptr: unsafe.Pointer(&lazyText{text: text, spaced: s.spaced})}, nil
}
