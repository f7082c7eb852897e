package value

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Bytes of a word, each with the same value.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plainLen returns how many bytes at the beginning of s are plain: no control
// character, no quote, no backslash, and not beyond ASCII unless wide permits
// those. It looks at eight bytes at a time.
func plainLen(s string, wide bool) int {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		// No sum carries into the next byte, as none has its high bit: it is set
		// then where a byte is not less than a space, not a quote, not a backslash.
		low := w &^ highs
		special := ^(low + ones*(0x80-' ')) | ^((low ^ ones*'"') + ones*0x7F) | ^((low ^ ones*'\\') + ones*0x7F)
		special &= highs &^ w
		if !wide {
			special |= w & highs
		}
		if special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 && !wide {
			return i
		}
	}
	return i
}
