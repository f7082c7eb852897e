package value

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// Bytes of a word, each with the same value.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// wordSize is how many bytes are looked at together.
const wordSize = 8

// bytesOf returns the bytes of s, which must not be changed.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// specials returns the word with the highest bit of each byte set that is a
// control character, a quote or a backslash, and if beyond permits it a byte
// beyond ASCII. Only the lowest of these bits is sure to be right: it is the first
// byte that borrows from the next one.
func specials(w, beyond uint64) uint64 {
	special := (w - ones*' ') | ((w ^ ones*'"') - ones) | ((w ^ ones*'\\') - ones)
	return special&^w&highs | w&beyond
}

// beyondASCII returns what specials is given: none of these bytes where wide
// permits them in a string.
func beyondASCII(wide bool) uint64 {
	if wide {
		return 0
	}
	return highs
}

func isPlain(c byte, wide bool) bool {
	return c >= ' ' && c != '"' && c != '\\' && (c < utf8.RuneSelf || wide)
}

// plainLen returns how many bytes at the beginning of s are plain: no control
// character, no quote, no backslash, and not beyond ASCII unless wide permits
// those. It looks at eight bytes at a time.
func plainLen(s string, wide bool) int {
	b, beyond := bytesOf(s), beyondASCII(wide)
	i := 0
	for ; i+wordSize <= len(b); i += wordSize {
		if special := specials(binary.LittleEndian.Uint64(b[i:]), beyond); special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for ; i < len(b); i++ {
		if !isPlain(b[i], wide) {
			return i
		}
	}
	return i
}

// PlainLen returns how many bytes at the beginning of text can stand in a JSON
// string as they are, and neither end it nor begin an escape.
func PlainLen(text []byte) int { return plainLen(textOf(text), true) }
