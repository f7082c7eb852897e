package wire

import (
	"sync"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// messageBuffer keeps a message while it arrives. What is longer than one part of it
// gathers in chunks, so that a message of a length that nobody knows is copied
// once and not each time that a buffer grows.
type messageBuffer struct {
	counted int64 // bytes
	refused error // why nothing is kept any more, where that is not the length

	first  []byte
	chunks []*chunk
	length int // bytes in chunks
}

type chunk [64 << 10]byte

var chunks = sync.Pool{New: func() any { return new(chunk) }}

// keep keeps a part of a message that the envelope was fed, unless the message is
// over the limit or there is no memory for it: then all that was kept is dropped.
func (b *messageBuffer) keep(e *jsonrpc.Envelope, part []byte, limit int64, held *memory.Account) {
	if b.refused != nil {
		return
	}
	if int64(e.Len()) > limit {
		b.drop()
		return
	}
	if b.refused = held.Grow(int64(len(part))); b.refused != nil {
		b.drop()
		return
	}
	b.counted += int64(len(part))
	if b.first == nil {
		b.first = append(b.first, part...)
		return
	}
	for len(part) > 0 {
		at := b.length % len(chunk{})
		if at == 0 {
			b.chunks = append(b.chunks, chunks.Get().(*chunk))
		}
		n := copy(b.chunks[len(b.chunks)-1][at:], part)
		b.length += n
		part = part[n:]
	}
}

// text returns what was kept and keeps it no longer.
func (b *messageBuffer) text() []byte {
	text := b.first
	if left := b.length; left > 0 {
		text = append(make([]byte, 0, len(b.first)+left), b.first...)
		for _, c := range b.chunks {
			n := min(left, len(c))
			text = append(text, c[:n]...)
			left -= n
		}
	}
	b.drop()
	return text
}

func (b *messageBuffer) drop() {
	for _, c := range b.chunks {
		chunks.Put(c)
	}
	b.first, b.chunks, b.length = nil, nil, 0
}

// outOfMemory handles a message that there was no memory for.
func (r *receiver) outOfMemory(e *jsonrpc.Envelope, why error) {
	if e.Versioned && !e.Method.Found() {
		r.deliver(e.IDText(), answer{err: why})
		return
	}
	r.unexpected("a message that there is no memory for")
}

// event handles the message of an event.
func (r *receiver) event(e *event) {
	if e.buffer.refused != nil {
		r.outOfMemory(&e.envelope, e.buffer.refused)
		return
	}
	r.receive(e.data, &e.envelope, false)
}
