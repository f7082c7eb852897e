package value

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how deeply arrays and objects of a JSON text may be nested.
const MaxDepth = 10000

// SyntaxError says where a text is not JSON (RFC 8259).
type SyntaxError struct {
	Offset  int // byte offset in the text
	Message string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not JSON at byte %d: %s", e.Offset, e.Message)
}

// Parse decodes one JSON text (RFC 8259). Strings without escapes share the
// text's bytes. Of repeated keys the last value wins, in the place of the
// first, as in JavaScript. Bytes that are not UTF-8 become U+FFFD. Errors are
// *[SyntaxError].
func Parse(text string) (Value, error) {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return parse(text)
}

func parse(text string) (Value, error) {
	p := parser{scanner: scanner{text: text}}
	p.space()
	v, err := p.value(0)
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.pos < len(text) {
		return Value{}, p.fail("unexpected text after the value")
	}
	return v, nil
}

// parser builds values. Elements gather on two stacks and move to slabs that
// are shared by the whole document, so that small objects cost no allocation
// of their own.
type parser struct {
	scanner
	elems   []Value
	entries []Entry

	elemSlab  []Value
	entrySlab []Entry
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

func (p *parser) number() (Value, error) {
	start := p.pos
	if err := p.skipNumber(); err != nil {
		return Value{}, err
	}
	text := p.text[start:p.pos]
	if len(text) <= 15 && isInteger(text) {
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
			return Value{}, err
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
	p.pos++
	base := len(p.entries)
	for {
		p.space()
		if p.peek() == '}' && len(p.entries) == base {
			break
		}
		if p.peek() != '"' {
			return Value{}, p.fail("expected a key in double quotes")
		}
		key, err := p.string()
		if err != nil {
			return Value{}, err
		}
		p.space()
		if p.peek() != ':' {
			return Value{}, p.fail("expected ':'")
		}
		p.pos++
		p.space()
		v, err := p.value(depth)
		if err != nil {
			return Value{}, err
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
	members := unique(p.entries[base:])
	out := carve(&p.entrySlab, len(members))
	copy(out, members)
	clear(p.entries[base:])
	p.entries = p.entries[:base]
	return FromEntries(out), nil
}

// unique drops repeated keys in place: the last value in the first place.
func unique(entries []Entry) []Entry {
	if len(entries) >= indexFrom {
		seen := make(map[string]int, len(entries))
		kept := entries[:0]
		for _, e := range entries {
			if i, ok := seen[e.Key]; ok {
				kept[i].Value = e.Value
				continue
			}
			seen[e.Key] = len(kept)
			kept = append(kept, e)
		}
		return kept
	}
	n := 0
next:
	for i := range entries {
		for j := 0; j < n; j++ {
			if entries[j].Key == entries[i].Key {
				entries[j].Value = entries[i].Value
				continue next
			}
		}
		entries[n] = entries[i]
		n++
	}
	return entries[:n]
}

// carve takes n items from a slab, which grows with use.
func carve[T any](slab *[]T, n int) []T {
	if n == 0 {
		return nil
	}
	s := *slab
	if cap(s)-len(s) < n {
		size := min(max(2*cap(s), 4), 512)
		if n > size {
			return make([]T, n)
		}
		s = make([]T, 0, size)
	}
	out := s[len(s) : len(s)+n : len(s)+n]
	*slab = s[:len(s)+n]
	return out
}
