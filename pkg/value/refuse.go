package value

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// within adds the key or index of the array or object in which err came up to
// its path.
func within(err error, step string) error {
	var syntax *SyntaxError
	if errors.As(err, &syntax) {
		syntax.Path = "/" + pointerEscapes.Replace(step) + syntax.Path
	}
	return err
}

// pointerEscapes are those of RFC 6901, 3.
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// notUTF8 returns the error for a text that has bytes which are not UTF-8.
func notUTF8(text string) error {
	at := 0
	for at < len(text) {
		r, width := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && width == 1 {
			break
		}
		at += width
	}
	e := &SyntaxError{Offset: at, Message: "a byte that is not UTF-8 (0x" + strconv.FormatUint(uint64(text[at]), 16) + ")"}
	// The text before it ends within the value that has the byte.
	var cut *SyntaxError
	p := parser{scanner: scanner{text: text[:at]}}
	p.space()
	if _, err := p.value(0); errors.As(err, &cut) && cut.Offset == at {
		e.Path = cut.Path
	}
	return e
}

// twice returns the error for an object that begins at start and has the key
// twice.
func (s *scanner) twice(start int, key string) error {
	again := scanner{text: s.text, pos: start + 1}
	for found := 0; ; again.pos++ { // the object was read before: it is well-formed
		again.space()
		at := again.pos
		_, _ = again.skipString()
		if raw := again.text[at+1 : again.pos-1]; raw == key || unescape(raw) == key {
			found++
		}
		if found == 2 {
			return &SyntaxError{Offset: at, Message: "the key " + shown(key) + " is there twice", Ambiguous: true}
		}
		again.space()
		again.pos++ // the colon
		again.space()
		_ = again.skipValue(0)
		again.space()
	}
}

// shownBytes is how much of a key or number a message has.
const shownBytes = 60

// shown returns a key as messages have it.
func shown(key string) string {
	if len(key) > shownBytes {
		key = strings.ToValidUTF8(key[:shownBytes], "") + "…"
	}
	return string(AppendString(nil, key))
}

// maxDigits is how long a number may be in bytes. What checks exact numbers takes
// time that grows faster than their length.
const maxDigits = 1000

// checkRange returns an error for a number that no float64 comes near to. All
// but integers would be written as null or 0.
func (s *scanner) checkRange(start int) error {
	text := s.text[start:s.pos]
	what := ""
	if len(text) > maxDigits {
		what = "has " + strconv.Itoa(len(text)) + " digits, more than " + strconv.Itoa(maxDigits)
	} else if f, _ := strconv.ParseFloat(text, 64); math.IsInf(f, 0) && !isInteger(text) {
		what = "is out of range (at most 1.7976931348623157e308)"
	} else if f == 0 && strings.Trim(mantissa(text), "-0.") != "" {
		what = "is out of range (nearer to 0 than 5e-324)"
	}
	if what == "" {
		return nil
	}
	if len(text) > shownBytes {
		text = text[:shownBytes] + "…"
	}
	return &SyntaxError{Offset: start, Message: "the number " + text + " " + what, Ambiguous: true}
}

// mantissa returns a number without its exponent.
func mantissa(text string) string {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		return text[:i]
	}
	return text
}
