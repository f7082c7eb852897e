package value

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// longString is the length from which a string is checked as a whole.
const longString = 64

const hexDigits = "0123456789abcdef"

// escape is how a byte is written in a string of JSON: the bytes of a word,
// lowest first, and how many; none for a byte that is written as it is.
type escape struct {
	word   uint64
	length int
}

var escapes = func() (table [utf8.RuneSelf]escape) {
	set := func(c byte, text string) {
		table[c] = escape{length: len(text)}
		for i := range len(text) {
			table[c].word |= uint64(text[i]) << (8 * i)
		}
	}
	for c := range byte(' ') {
		set(c, `\u00`+string(hexDigits[c>>4])+string(hexDigits[c&0xF]))
	}
	for i, c := range []byte("\b\f\n\r\t\"\\") {
		set(c, `\`+string(`bfnrt"\`[i]))
	}
	return table
}()

// AppendString appends s as a JSON string with as few escapes as JSON allows.
func AppendString(dst []byte, s string) []byte {
	wide := len(s) >= longString && utf8.ValidString(s) // then only ASCII is escaped
	dst = append(slices.Grow(dst, len(s)+len(s)/16+2*wordSize), '"')
	for {
		var n int
		if dst, n = appendEscaped(dst, s, wide); n == len(s) {
			return append(dst, '"')
		}
		s = s[n:]
		r, width := DecodeRune(s)
		switch {
		case r >= 0xD800 && r < 0xE000:
			dst = append(dst, '\\', 'u', 'd', hexDigits[r>>8&0xF], hexDigits[r>>4&0xF], hexDigits[r&0xF])
		case r == utf8.RuneError && width == 1:
			dst = append(dst, "\uFFFD"...)
		default:
			dst = append(dst, s[:width]...)
		}
		s = s[width:]
	}
}

// StringSize returns how many bytes [AppendString] appends for a string that is
// UTF-8.
func StringSize(s string) int {
	n := len(s) + len(`""`)
	for i := plainLen(s, true); i < len(s); i += 1 + plainLen(s[i+1:], true) {
		n += escapes[s[i]].length - 1
	}
	return n
}

// AppendText is [AppendString] for bytes, which it does not keep.
func AppendText(dst, text []byte) []byte { return AppendString(dst, textOf(text)) }

// appendEscaped appends s up to the first byte beyond ASCII, or all of it if wide,
// with its escapes. It returns how many bytes of s that were.
func appendEscaped(dst []byte, s string, wide bool) ([]byte, int) {
	b, beyond := bytesOf(s), beyondASCII(wide)
	n, out := len(dst), dst[:cap(dst)]
	i := 0
	for i+wordSize < len(b) {
		if len(out)-n < 2*wordSize {
			out = slices.Grow(out[:n], len(b)-i+(len(b)-i)/8+2*wordSize)
			out = out[:cap(out)]
		}
		w := binary.LittleEndian.Uint64(b[i:])
		binary.LittleEndian.PutUint64(out[n:], w) // what is special is written over
		special := specials(w, beyond)
		if special == 0 {
			i, n = i+wordSize, n+wordSize
			continue
		}
		plain := bits.TrailingZeros64(special) / 8
		i, n = i+plain, n+plain
		c := b[i]
		if c >= utf8.RuneSelf {
			return out[:n], i
		}
		e := &escapes[c]
		binary.LittleEndian.PutUint64(out[n:], e.word)
		i, n = i+1, n+e.length
		// In a JSON text escapes come in pairs.
		if c = b[i]; c < utf8.RuneSelf && escapes[c].length > 0 && len(out)-n >= wordSize {
			e = &escapes[c]
			binary.LittleEndian.PutUint64(out[n:], e.word)
			i, n = i+1, n+e.length
		}
	}
	dst = out[:n]
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case isPlain(c, wide):
			dst = append(dst, c)
		case c >= utf8.RuneSelf:
			return dst, i
		default:
			for w, left := escapes[c].word, escapes[c].length; left > 0; left-- {
				dst = append(dst, byte(w))
				w >>= 8
			}
		}
	}
	return dst, i
}

// backslashes is specials for backslashes alone.
func backslashes(w uint64) uint64 {
	w ^= ones * '\\'
	return (w - ones) &^ w & highs
}

// unescape decodes the escapes of a string that skipString accepted.
func unescape(raw string) string {
	b := bytesOf(raw)
	out := make([]byte, len(raw)+wordSize) // no escape is shorter than what it means
	i, n := 0, 0
	for i < len(b) {
		if i+wordSize <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			binary.LittleEndian.PutUint64(out[n:], w)
			found := backslashes(w)
			if found == 0 {
				i, n = i+wordSize, n+wordSize
				continue
			}
			plain := bits.TrailingZeros64(found) / 8
			i, n = i+plain, n+plain
		} else if b[i] != '\\' {
			out[n] = b[i]
			i, n = i+1, n+1
			continue
		}
		if e := b[i+1]; e != 'u' {
			out[n] = Unescape(e)
			i, n = i+2, n+1
			continue
		}
		r := hex4(raw[i+2:])
		i += 6
		if utf16.IsSurrogate(r) {
			if i+6 <= len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
				if both := utf16.DecodeRune(r, hex4(raw[i+2:])); both != utf8.RuneError {
					r = both
					i += 6
				}
			}
		}
		n = len(AppendRune(out[:n], r))
	}
	return textOf(out[:n]) // which nothing else has
}

// meanings are what Unescape returns for letters of control characters.
var meanings = [256]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// Unescape returns what c means behind a backslash in a string of JSON, other
// than u: a control character, or c itself.
func Unescape(c byte) byte {
	if control := meanings[c]; control != 0 {
		return control
	}
	return c
}
