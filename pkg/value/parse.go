package value

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// MaxDepth is how deeply arrays and objects of a JSON text may be nested.
const MaxDepth = 10000

// SyntaxError is returned for a text that is not JSON (RFC 8259), or is JSON
// that cannot be read without changing it.
type SyntaxError struct {
	Offset int // byte offset in the text
	// Path leads to the value, as a JSON pointer (RFC 6901). It is empty for the
	// outermost value.
	Path    string
	Message string
	// Ambiguous reports that RFC 8259 permits the text: it has a number that is
	// out of range, or a key twice.
	Ambiguous bool
}

// Error returns the message with the place.
func (e *SyntaxError) Error() string {
	what, path := "not JSON", ""
	if e.Ambiguous {
		what = "unusable JSON"
	}
	if e.Path != "" {
		path = " (" + e.Path + ")"
	}
	return fmt.Sprintf("%s at byte %d%s: %s", what, e.Offset, path, e.Message)
}

// Parse decodes one JSON text (RFC 8259). Strings without escapes share the
// text's bytes. Of repeated keys the last value wins, in the place of the
// first, as in JavaScript. Errors are *[SyntaxError]: besides broken syntax,
// bytes that are not UTF-8 and numbers that are out of range.
func Parse(text string) (Value, error) { return parse(text, false) }

// ParseStrict is [Parse] for texts whose meaning must not depend on the reader:
// it refuses an object that has a key twice.
func ParseStrict(text string) (Value, error) { return parse(text, true) }

func parse(text string, strict bool) (Value, error) {
	if !utf8.ValidString(text) {
		return Value{}, notUTF8(text)
	}
	p := parser{scanner: scanner{text: text}, strict: strict}
	return p.whole()
}

// whole decodes the text, which is one value.
func (p *parser) whole() (Value, error) {
	p.space()
	v, err := p.value(0)
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.pos < len(p.text) {
		return Value{}, p.fail("unexpected text after the value")
	}
	return v, nil
}

// parser builds values. Elements gather on two stacks and move to slabs that
// are shared by the whole document, so that small objects cost no allocation
// of their own.
type parser struct {
	scanner
	strict   bool // keys must be unique
	repeated bool // an object had a key twice

	elems   []Value
	entries []Entry

	elemSlab  []Value
	entrySlab []Entry

	// shapes are the members of the latest object of a depth, modulo their number.
	// Rows of a table have the same keys in the same order: those are compared with
	// the text, not read from it. Keys with escapes are in no shape.
	shapes [8][]Entry
}

func (p *parser) value(depth int) (Value, error) {
	if p.pos >= len(p.text) {
		return Value{}, p.fail("the text ends where a value was expected")
	}
	switch c := p.text[p.pos]; c {
	case '{':
		return p.object(depth + 1)
	case '[':
		return p.array(depth + 1)
	case '"':
		s, err := p.string()
		return FromString(s), err
	case 't':
		return True, p.word("true")
	case 'f':
		return False, p.word("false")
	case 'n':
		return NullValue, p.word("null")
	default:
		return p.number()
	}
}

// exactDigits is how long an integer can be that every float64 holds.
const exactDigits = 15

func (p *parser) number() (Value, error) {
	start := p.pos
	if err := p.skipNumber(); err != nil {
		return Value{}, err
	}
	text := p.text[start:p.pos]
	if len(text) <= exactDigits && isInteger(text) {
		digits := text
		if text[0] == '-' {
			digits = text[1:]
		}
		var n int64
		for i := 0; i < len(digits); i++ {
			n = n*10 + int64(digits[i]-'0')
		}
		f := float64(n)
		if len(digits) < len(text) {
			f = -f
		}
		return FromFloat(f), nil
	}
	return FromNumberText(text), nil
}

func (p *parser) string() (string, error) {
	start := p.pos
	escaped, err := p.skipString()
	if err != nil {
		return "", err
	}
	raw := p.text[start+1 : p.pos-1]
	if !escaped {
		return raw, nil
	}
	return unescape(raw), nil
}

func (p *parser) array(depth int) (Value, error) {
	if depth > MaxDepth {
		return Value{}, p.fail("nested too deeply")
	}
	p.pos++
	base := len(p.elems)
	for {
		p.space()
		if p.peek() == ']' && len(p.elems) == base {
			break
		}
		v, err := p.value(depth)
		if err != nil {
			return Value{}, within(err, strconv.Itoa(len(p.elems)-base))
		}
		if len(p.elems) == cap(p.elems) {
			p.elems = slices.Grow(p.elems, max(16, len(p.elems)))
		}
		p.elems = append(p.elems, v)
		p.space()
		if c := p.peek(); c == ']' {
			break
		} else if c != ',' {
			return Value{}, p.fail("expected ',' or ']'")
		}
		p.pos++
	}
	p.pos++
	out := carve(&p.elemSlab, len(p.elems)-base)
	copy(out, p.elems[base:])
	clear(p.elems[base:])
	p.elems = p.elems[:base]
	return FromArray(out), nil
}

func (p *parser) object(depth int) (Value, error) {
	if depth > MaxDepth {
		return Value{}, p.fail("nested too deeply")
	}
	start := p.pos
	p.pos++
	if p.entries == nil {
		p.entries = make([]Entry, 0, 8) // enough for most messages
	}
	base := len(p.entries)
	last := &p.shapes[depth%len(p.shapes)]
	shape, alike, plain := *last, true, true
	for {
		p.space()
		if p.peek() == '}' && len(p.entries) == base {
			break
		}
		if p.peek() != '"' {
			return Value{}, p.fail("expected a key in double quotes")
		}
		var key string
		if n := len(p.entries) - base; alike && n < len(shape) && p.isKey(shape[n].Key) {
			key = shape[n].Key
			p.pos += len(key) + 2
		} else {
			var err error
			at := p.pos
			if key, err = p.string(); err != nil {
				return Value{}, err
			}
			alike = false
			plain = plain && p.pos-at == len(key)+2 // an escape is longer than what it stands for
		}
		p.space()
		if p.peek() != ':' {
			return Value{}, p.fail("expected ':'")
		}
		p.pos++
		p.space()
		v, err := p.value(depth)
		if err != nil {
			return Value{}, within(err, key)
		}
		p.entries = append(p.entries, Entry{key, v})
		p.space()
		if c := p.peek(); c == '}' {
			break
		} else if c != ',' {
			return Value{}, p.fail("expected ',' or '}'")
		}
		p.pos++
	}
	p.pos++
	members := p.entries[base:]
	if !alike {
		var again string
		var repeated bool
		if members, again, repeated = unique(members); repeated {
			if p.repeated = true; p.strict {
				return Value{}, p.twice(start, again)
			}
		}
	}
	if depth == 0 {
		p.entrySlab = make([]Entry, 0, len(members)) // nothing comes after them
	}
	out := carve(&p.entrySlab, len(members))
	copy(out, members)
	if *last = nil; plain {
		*last = out
	}
	clear(p.entries[base:])
	p.entries = p.entries[:base]
	return FromEntries(out), nil
}

// isKey reports whether the string at the position is key, which has no escapes.
func (p *parser) isKey(key string) bool {
	rest := p.text[p.pos+1:]
	return len(rest) > len(key) && rest[len(key)] == '"' && rest[:len(key)] == key
}

// unique drops repeated keys in place: the last value in the first place.
// repeated reports whether there was one, and again is one of them.
func unique(entries []Entry) (kept []Entry, again string, repeated bool) {
	if len(entries) >= indexFrom {
		seen := make(map[string]int, len(entries))
		kept = entries[:0]
		for _, e := range entries {
			if i, ok := seen[e.Key]; ok {
				kept[i].Value = e.Value
				again, repeated = e.Key, true
				continue
			}
			seen[e.Key] = len(kept)
			kept = append(kept, e)
		}
		return kept, again, repeated
	}
	n := 0
next:
	for i := range entries {
		for j := 0; j < n; j++ {
			if entries[j].Key == entries[i].Key {
				entries[j].Value = entries[i].Value
				again, repeated = entries[i].Key, true
				continue next
			}
		}
		entries[n] = entries[i]
		n++
	}
	return entries[:n], again, repeated
}

// carve takes n items from a slab, which grows with use.
func carve[T any](slab *[]T, n int) []T {
	if n == 0 {
		return nil
	}
	s := *slab
	if cap(s)-len(s) < n {
		size := min(max(2*cap(s), n, 4), 512)
		if n > size {
			return make([]T, n)
		}
		s = make([]T, 0, size)
	}
	out := s[len(s) : len(s)+n : len(s)+n]
	*slab = s[:len(s)+n]
	return out
}
