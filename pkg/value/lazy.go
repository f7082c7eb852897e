package value

import (
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"
)

const (
	// lazyFrom is the length from which a text is worth keeping undecoded.
	lazyFrom = 512
	// lazyLevels is how many levels of a text are decoded one at a time. Each
	// costs a walk over what is beneath it.
	lazyLevels = 8
)

// Meter counts the bytes that decoding is about to allocate. An error means
// that there is no room for them: the value then reads as if nothing was in it,
// and its caller must not use what was made of it. It must be safe
// for concurrent use.
type Meter interface{ Grow(n int64) error }

// lazyText is an array or object that is still text. The text is valid JSON.
type lazyText struct {
	text   string
	spaced bool
	level  uint8     // of nesting, from where decoding began
	meter  Meter     // nil counts nothing
	up     *lazyText // that this is a member of, or nil
	marks  []mark    // of the text that decoding began with, from here on
	base   int       // where text begins in that

	mu     sync.Mutex
	parsed atomic.Pointer[Value]
	// folded means that the value has been read and the text has a key twice: what
	// was read is then what is encoded, since another reader of the text might
	// take the other one.
	folded atomic.Bool
}

func (l *lazyText) value() Value {
	if v := l.parsed.Load(); v != nil {
		return *v
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if v := l.parsed.Load(); v != nil {
		return *v
	}
	w := weigh(l)
	if l.meter != nil && l.meter.Grow(w.bytes) != nil {
		return Value{}
	}
	v, repeated := w.decode(l)
	l.parsed.Store(&v)
	if repeated {
		for at := l; at != nil; at = at.up {
			at.folded.Store(true)
		}
	}
	return v
}

// ParseLazy checks one JSON text as [Parse] does and decodes it only when it
// is read, level by level: long arrays and objects in it stay text until they are
// read themselves. Until then, and when it is encoded again, the text itself is
// used: numbers, escapes and, unless the value was read, repeated keys come out as
// they came in, white space between tokens does not.
func ParseLazy(text string) (Value, error) { return parseLazy(text, false) }

// ParseLazyStrict is [ParseLazy] for texts whose meaning must not depend on the
// reader; see [ParseStrict]. It takes ownership of the text, which must not be
// changed afterwards.
func ParseLazyStrict(text []byte) (Value, error) { return parseLazy(textOf(text), true) }

func parseLazy(text string, strict bool) (Value, error) {
	if len(text) < lazyFrom {
		return parse(text, strict)
	}
	if !utf8.ValidString(text) {
		return Value{}, notUTF8(text)
	}
	text = strings.Trim(text, " \t\r\n")
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return parse(text, strict)
	}
	s := scanner{text: text, unique: strict, marking: true}
	if err := s.skipValue(0); err != nil {
		return Value{}, err
	}
	if s.pos < len(text) {
		return Value{}, s.fail("unexpected text after the value")
	}
	return (&lazyText{text: text, spaced: s.spaced, marks: s.marks}).asValue(), nil
}

// ParseLazyBytes is ParseLazy without a copy of the text: it takes ownership, so
// the bytes must not be changed afterwards.
func ParseLazyBytes(text []byte) (Value, error) {
	return ParseLazy(textOf(text))
}

// textOf returns the bytes as a string; they must not be changed afterwards.
func textOf(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }

func (l *lazyText) asValue() Value {
	kind := Object
	if l.text[0] == '[' {
		kind = Array
	}
	return Value{meta: uint32(kind) | uint32(lazy), ptr: unsafe.Pointer(l)}
}

// Metered returns v so that what is decoded of it later is counted by m. Only
// what is still text costs anything then; what was decoded already is not
// counted. Copies of v that others have are not changed.
func (v Value) Metered(m Meter) Value {
	if v.repr() != lazy || v.Kind() != Array && v.Kind() != Object {
		return v
	}
	if (*lazyText)(v.ptr).meter == m {
		return v
	}
	return v.Undecoded(m)
}

// Undecoded returns v as the text that it was parsed from, where it was: what was
// decoded of it is not kept for the copy. What is decoded of that is counted by m,
// which may be nil.
func (v Value) Undecoded(m Meter) Value {
	if v.repr() != lazy || v.Kind() != Array && v.Kind() != Object {
		return v
	}
	l := (*lazyText)(v.ptr)
	fresh := (&lazyText{text: l.text, spaced: l.spaced, level: l.level, meter: m, marks: l.marks, base: l.base}).asValue()
	fresh.meta |= v.meta & (0xFF << flagsShift)
	return fresh
}

// Sizes in bytes of what decoding makes.
const (
	cellSize   = int64(unsafe.Sizeof(Value{}))
	entrySize  = int64(unsafe.Sizeof(Entry{}))
	objectSize = int64(unsafe.Sizeof(object{}))
	lazySize   = int64(unsafe.Sizeof(lazyText{}))
	indexSize  = 64 // for each key of an object that has an index
)

// weighed is what a lazyText is known to become: how many members it has, which
// of them stay text, and what decoding it allocates.
type weighed struct {
	members int
	texts   []textSpan
	bytes   int64
}

// textSpan is the place of a member that stays text.
type textSpan struct {
	start, end int
	spaced     bool
}

// scanner returns one that stands behind the bracket with which the text begins.
func (l *lazyText) scanner() scanner {
	return scanner{text: l.text, pos: 1, marks: l.marks, base: l.base}
}

// weigh walks through a text one level deep, if it has no mark that says what it
// becomes. It is valid: nothing fails.
func weigh(l *lazyText) (w weighed) {
	object := l.text[0] == '{'
	if len(l.marks) > 0 && l.marks[0].start == l.base && (l.marks[0].flat || l.level >= lazyLevels) {
		w.members, w.bytes = l.marks[0].members, l.marks[0].bytes
	} else {
		w.walk(l, object)
	}
	if l.level >= lazyLevels {
		w.bytes *= 4 // its arrays grow as they are read, and are copied then
	}
	w.bytes += containerSize(object, w.members)
	return w
}

func (w *weighed) walk(l *lazyText, object bool) {
	s := l.scanner()
	end := byte(']')
	if object {
		end = '}'
	}
	for {
		if s.space(); s.peek() == end {
			break
		}
		if object {
			_ = s.skipCounted()
			s.space()
			s.pos++ // the colon
			s.space()
		}
		before, start := s.bytes, s.pos
		s.spaced = false
		_ = s.skipValue(0)
		if c := l.text[start]; (c == '{' || c == '[') && s.pos-start >= lazyFrom && l.level < lazyLevels {
			w.texts = append(w.texts, textSpan{start, s.pos, s.spaced})
			s.bytes = before + lazySize
		}
		w.members++
		if s.space(); s.peek() == ',' {
			s.pos++
		}
	}
	w.bytes = s.bytes
}

// containerSize is what an array or object of n members takes beside them.
func containerSize(object bool, n int) int64 {
	switch {
	case !object:
		return int64(n) * cellSize
	case n >= indexFrom:
		return objectSize + int64(n)*(entrySize+indexSize)
	}
	return objectSize + int64(n)*entrySize
}

// decode makes a value of what was weighed. repeated means that an object has a
// key twice.
func (w *weighed) decode(l *lazyText) (_ Value, repeated bool) {
	p := parser{scanner: l.scanner()}
	texts := w.texts
	member := func() (v Value) {
		if len(texts) == 0 || texts[0].start != p.pos {
			v, _ = p.value(1)
			return v
		}
		at := texts[0]
		texts, p.pos = texts[1:], at.end
		return (&lazyText{
			text: l.text[at.start:at.end], spaced: at.spaced, level: l.level + 1, meter: l.meter, up: l,
			marks: marksFrom(l.marks, l.base+at.start), base: l.base + at.start,
		}).asValue()
	}
	if l.text[0] == '[' {
		elems := make([]Value, w.members)
		for i := range elems {
			p.space()
			elems[i] = member()
			p.space()
			p.pos++ // the comma
		}
		return FromArray(elems), p.repeated
	}
	entries := make([]Entry, w.members)
	for i := range entries {
		p.space()
		entries[i].Key, _ = p.string()
		p.space()
		p.pos++ // the colon
		p.space()
		entries[i].Value = member()
		p.space()
		p.pos++
	}
	entries, _, repeated = unique(entries)
	return FromEntries(entries), repeated || p.repeated
}
