package upstream

import (
	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// intake counts what is kept of a message while it arrives.
type intake struct {
	counted int64 // bytes
	refused error // why nothing is kept any more, where that is not the length
}

// keeps counts a part of a message that the envelope was fed and reports whether
// it is worth keeping: the message is not over the limit, and there is memory for
// it.
func (k *intake) keeps(e *jsonrpc.Envelope, part []byte, limit int64, held *memory.Account) bool {
	if int64(e.Len()) > limit || k.refused != nil {
		return false
	}
	if err := held.Grow(int64(len(part))); err != nil {
		k.refused = err
		return false
	}
	k.counted += int64(len(part))
	return true
}

// short handles a message that there was no memory for.
func (r *receiver) short(e *jsonrpc.Envelope, why error) {
	if e.Versioned && !e.Method.Found() {
		r.deliver(e.IDText(), answer{err: why})
		return
	}
	r.odd("a message that there is no memory for")
}

// event handles the message of an event.
func (r *receiver) event(e *event) {
	if e.intake.refused != nil {
		r.short(&e.envelope, e.intake.refused)
		return
	}
	r.take(e.data, &e.envelope, false)
}
