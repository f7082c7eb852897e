package jsonata

import (
	"encoding/base64"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var stringFunctions = []native{
	{"string", mustSignature("<x-b?:s>"), 1, fnString},
	{"substring", mustSignature("<s-nn?:s>"), 3, fnSubstring},
	{"substringBefore", mustSignature("<s-s:s>"), 2, fnSubstringBefore},
	{"substringAfter", mustSignature("<s-s:s>"), 2, fnSubstringAfter},
	{"lowercase", mustSignature("<s-:s>"), 1, fnLowercase},
	{"uppercase", mustSignature("<s-:s>"), 1, fnUppercase},
	{"length", mustSignature("<s-:n>"), 1, fnLength},
	{"trim", mustSignature("<s-:s>"), 1, fnTrim},
	{"pad", mustSignature("<s-ns?:s>"), 3, fnPad},
	{"join", mustSignature("<a<s>s?:s>"), 2, fnJoin},
	{"base64encode", mustSignature("<s-:s>"), 1, fnBase64Encode},
	{"base64decode", mustSignature("<s-:s>"), 1, fnBase64Decode},
	{"encodeUrlComponent", mustSignature("<s-:s>"), 1, fnEncodeURLComponent},
	{"encodeUrl", mustSignature("<s-:s>"), 1, fnEncodeURL},
	{"decodeUrlComponent", mustSignature("<s-:s>"), 1, fnDecodeURLComponent},
	{"decodeUrl", mustSignature("<s-:s>"), 1, fnDecodeURL},
}

func fnString(ev *evaluator, args []value.Value) (value.Value, *Error) {
	return stringOf(ev, args[0], args[1].Bool())
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// codePoints counts code points; a lone surrogate is one.
func codePoints(s string) int {
	n := 0
	for i := 0; i < len(s); n++ {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, w := value.DecodeRune(s[i:])
		i += w
	}
	return n
}

// byteOf returns the byte at which code point n begins.
func byteOf(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, w := value.DecodeRune(s[i:])
		i += w
	}
	return i
}

func fnLength(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	s := args[0].Str()
	if err := ev.spend(len(s) >> 6); err != nil {
		return value.Undef, err
	}
	return value.FromFloat(float64(codePoints(s))), nil
}

func fnSubstring(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	s := args[0].Str()
	if err := ev.spend(len(s) >> 6); err != nil {
		return value.Undef, err
	}
	start := optional(args[1], 0)
	ascii := isASCII(s)
	n := float64(len(s))
	if !ascii && (start < 0 || args[2].Kind() == value.Number) {
		n = float64(codePoints(s))
	}
	if n+start < 0 {
		start = 0
	}
	end := n
	if args[2].Kind() == value.Number {
		length := args[2].Float()
		if length <= 0 || args[1].IsUndefined() {
			return value.FromString(""), nil
		}
		end = start + length
		if start < 0 {
			end += n
		}
	}
	from, to := slice(start, end, n)
	if from >= to {
		return value.FromString(""), nil
	}
	if ascii {
		return value.FromString(s[from:to]), nil
	}
	a := byteOf(s, from)
	b := len(s)
	if args[2].Kind() == value.Number {
		b = a + byteOf(s[a:], to-from)
	}
	return value.FromString(s[a:b]), nil
}

// slice resolves the bounds of JavaScript's slice for a length.
func slice(start, end, n float64) (int, int) {
	at := func(x float64) int {
		x = math.Trunc(x)
		if x < 0 {
			x = max(x+n, 0)
		}
		return int(min(x, n))
	}
	return at(start), at(end)
}

func fnSubstringBefore(_ *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() || args[1].IsUndefined() {
		return args[0], nil
	}
	s := args[0].Str()
	if i := strings.Index(s, args[1].Str()); i >= 0 {
		s = s[:i]
	}
	return value.FromString(s), nil
}

func fnSubstringAfter(_ *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() || args[1].IsUndefined() {
		return args[0], nil
	}
	s, sep := args[0].Str(), args[1].Str()
	if i := strings.Index(s, sep); i >= 0 {
		s = s[i+len(sep):]
	}
	return value.FromString(s), nil
}

func fnLowercase(ev *evaluator, args []value.Value) (value.Value, *Error) {
	return changeCase(ev, args[0], strings.ToLower, cases.Lower(language.Und).String)
}

func fnUppercase(ev *evaluator, args []value.Value) (value.Value, *Error) {
	return changeCase(ev, args[0], strings.ToUpper, cases.Upper(language.Und).String)
}

// changeCase uses the full mappings of Unicode beyond ASCII, and leaves lone
// surrogates alone.
func changeCase(ev *evaluator, v value.Value, ascii, full func(string) string) (value.Value, *Error) {
	if v.IsUndefined() {
		return v, nil
	}
	s := v.Str()
	if err := ev.text(len(s)); err != nil {
		return value.Undef, err
	}
	if isASCII(s) {
		return value.FromString(ascii(s)), nil
	}
	if utf8.ValidString(s) {
		return value.FromString(full(s)), nil
	}
	var out strings.Builder
	from := 0
	for i := 0; i < len(s); {
		r, w := value.DecodeRune(s[i:])
		if r == utf8.RuneError && w == 1 || r >= 0xD800 && r < 0xE000 {
			out.WriteString(full(s[from:i]))
			out.WriteString(s[i : i+w])
			from = i + w
		}
		i += w
	}
	out.WriteString(full(s[from:]))
	return value.FromString(out.String()), nil
}

func fnTrim(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	s := args[0].Str()
	space := func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
	for len(s) > 0 && space(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && space(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	// Most strings need no more than this.
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = !space(s[i]) || s[i] == ' ' && s[i+1] != ' '
	}
	if clean {
		return value.FromString(s), nil
	}
	if err := ev.text(len(s)); err != nil {
		return value.Undef, err
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if !space(s[i]) {
			out = append(out, s[i])
		} else if !space(s[i+1]) {
			out = append(out, ' ')
		}
	}
	return value.FromString(string(out)), nil
}

func fnPad(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	s, width := args[0].Str(), math.Trunc(optional(args[1], 0))
	char := args[2].Str()
	if char == "" {
		char = " "
	}
	missing := math.Abs(width) - float64(codePoints(s))
	if !(missing > 0) {
		return args[0], nil
	}
	if missing > float64(ev.limits.StringBytes) {
		return value.Undef, newError("D2016", -1, details{index: ev.limits.StringBytes})
	}
	n, each := int(missing), codePoints(char)
	bytes := n/each*len(char) + byteOf(char, n%each)
	if err := ev.text(len(s) + bytes); err != nil {
		return value.Undef, err
	}
	padding := strings.Repeat(char, n/each) + char[:byteOf(char, n%each)]
	if width > 0 {
		return value.FromString(joined(s+padding, 2)), nil
	}
	return value.FromString(joined(padding+s, 2)), nil
}

func fnJoin(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	elems, sep := args[0].Elems(), args[1].Str()
	if len(elems) == 1 {
		return elems[0], nil
	}
	total := len(sep) * max(len(elems)-1, 0)
	for i := range elems {
		total += len(elems[i].Str())
	}
	if err := ev.spend(len(elems) >> 2); err != nil {
		return value.Undef, err
	}
	if err := ev.text(total); err != nil {
		return value.Undef, err
	}
	var b strings.Builder
	b.Grow(total)
	for i := range elems {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(elems[i].Str())
	}
	return value.FromString(joined(b.String(), len(elems))), nil
}

// fnBase64Encode encodes the low byte of each UTF-16 unit, as the reference
// does.
func fnBase64Encode(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	s := args[0].Str()
	if err := ev.text(2 * len(s)); err != nil {
		return value.Undef, err
	}
	raw := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		r, w := value.DecodeRune(s[i:])
		i += w
		if r > 0xFFFF {
			r -= 0x10000
			raw = append(raw, byte(0xD800+r>>10), byte(0xDC00+r&0x3FF))
			continue
		}
		raw = append(raw, byte(r))
	}
	return value.FromString(base64.StdEncoding.EncodeToString(raw)), nil
}

// fnBase64Decode makes a character of each byte. It reads what it can, the
// alphabet of URLs included.
func fnBase64Decode(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	s := args[0].Str()
	if err := ev.text(2 * len(s)); err != nil {
		return value.Undef, err
	}
	clean := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '-':
			clean = append(clean, '+')
		case c == '_':
			clean = append(clean, '/')
		case c == '=':
			i = len(s)
		case c == '+' || c == '/' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
			clean = append(clean, c)
		}
	}
	if len(clean)%4 == 1 {
		clean = clean[:len(clean)-1]
	}
	raw, _ := base64.RawStdEncoding.DecodeString(string(clean))
	out := make([]byte, 0, len(raw)*2)
	for _, b := range raw {
		out = utf8.AppendRune(out, rune(b))
	}
	return value.FromString(string(out)), nil
}
