package wire

import (
	"bytes"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
)

func TestMessagesOfEveryLengthAreKeptWhole(t *testing.T) {
	const size = len(chunk{})
	message := bytes.Repeat([]byte("0123456789abcde"), 5*size/15)
	for _, part := range []int{1000, size - 1, size, size + 1, 3 * size} {
		for _, length := range []int{0, 1, part, size, size + 1, 2*size - 1, 2 * size, 2*size + 1, 4 * size} {
			var (
				b messageBuffer
				e jsonrpc.Envelope
			)
			for rest := message[:length]; len(rest) > 0; {
				n := min(part, len(rest))
				e.Feed(rest[:n])
				b.keep(&e, rest[:n], int64(4*size), nil)
				rest = rest[n:]
			}
			if b.counted != int64(length) {
				t.Errorf("%d of %d bytes are counted", b.counted, length)
			}
			if got := b.text(); !bytes.Equal(got, message[:length]) {
				t.Errorf("%d bytes in parts of %d became %d", length, part, len(got))
			}
			e.Feed(make([]byte, 4*size))
			if b.keep(&e, []byte("x"), int64(4*size)-1, nil); b.text() != nil {
				t.Error("what is over the limit is kept")
			}
		}
	}
}
