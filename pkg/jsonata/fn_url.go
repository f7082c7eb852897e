package jsonata

import (
	"strings"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// What ECMA-262 leaves unescaped in encodeURIComponent, and what encodeURI
// leaves beside that.
const (
	unescapedMarks = "-_.!~*'()"
	reservedMarks  = ";/?:@&=+$,#"
)

func fnEncodeURLComponent(ev *evaluator, args []value.Value) (value.Value, *Error) {
	return encodeURL(ev, args[0], unescapedMarks)
}

func fnEncodeURL(ev *evaluator, args []value.Value) (value.Value, *Error) {
	return encodeURL(ev, args[0], unescapedMarks+reservedMarks)
}

func encodeURL(ev *evaluator, v value.Value, plain string) (value.Value, *Error) {
	if v.IsUndefined() {
		return v, nil
	}
	s := v.Str()
	if !utf8.ValidString(s) {
		return value.Undef, newError("D3140", -1, details{value: v})
	}
	if err := ev.text(3 * len(s)); err != nil {
		return value.Undef, err
	}
	const digits = "0123456789ABCDEF"
	out := make([]byte, 0, len(s)+16)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte(plain, c) >= 0 {
			out = append(out, c)
		} else {
			out = append(out, '%', digits[c>>4], digits[c&15])
		}
	}
	return value.FromString(string(out)), nil
}

func fnDecodeURLComponent(ev *evaluator, args []value.Value) (value.Value, *Error) {
	return decodeURL(ev, args[0], "")
}

func fnDecodeURL(ev *evaluator, args []value.Value) (value.Value, *Error) {
	return decodeURL(ev, args[0], reservedMarks)
}

// decodeURL decodes escapes, but for those of the characters to keep.
func decodeURL(ev *evaluator, v value.Value, keep string) (value.Value, *Error) {
	if v.IsUndefined() {
		return v, nil
	}
	s := v.Str()
	if err := ev.text(len(s)); err != nil {
		return value.Undef, err
	}
	fail := func() (value.Value, *Error) { return value.Undef, newError("D3140", -1, details{value: v}) }
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '%' {
			out = append(out, s[i])
			i++
			continue
		}
		var seq [utf8.UTFMax]byte
		n := 0
		from := i
		for {
			b, ok := escapedByte(s, i)
			if !ok || n > 0 && b&0xC0 != 0x80 {
				return fail()
			}
			seq[n] = b
			n++
			i += 3
			if utf8.FullRune(seq[:n]) {
				break
			}
		}
		r, w := utf8.DecodeRune(seq[:n])
		if r == utf8.RuneError && w == 1 {
			return fail()
		}
		if r < utf8.RuneSelf && strings.IndexByte(keep, byte(r)) >= 0 {
			out = append(out, s[from:i]...)
		} else {
			out = append(out, seq[:n]...)
		}
	}
	return value.FromString(string(out)), nil
}

func escapedByte(s string, i int) (byte, bool) {
	if i+3 > len(s) || s[i] != '%' {
		return 0, false
	}
	hex := func(c byte) int {
		switch {
		case c >= '0' && c <= '9':
			return int(c - '0')
		case c >= 'a' && c <= 'f':
			return int(c-'a') + 10
		case c >= 'A' && c <= 'F':
			return int(c-'A') + 10
		}
		return -1
	}
	a, b := hex(s[i+1]), hex(s[i+2])
	return byte(a<<4 | b&15), a >= 0 && b >= 0
}
