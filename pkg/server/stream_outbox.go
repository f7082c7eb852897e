package server

import (
	"fmt"
	"io"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// maxUnreadEvents is how many bytes of one event stream may wait for the client
// to read them.
const maxUnreadEvents = 16 << 20

// outbox writes messages to a client, in order and without interleaving. Adding
// a message never waits for the client: reading requests must go on even if the
// client does not read answers yet. It is safe for concurrent use.
type outbox struct {
	w         io.Writer
	limit     int             // bytes that may wait
	account   *memory.Account // of messages without their own account
	onFailure func(error)     // called once if writing fails; must not block
	done      chan struct{}

	mu           sync.Mutex
	wake         sync.Cond
	pending      []outgoing
	pendingBytes int // bytes added but not yet written
	closed       bool
	failure      error
}

// outgoing is one message in the queue.
type outgoing struct {
	text []byte
	done func() // called once when it is written or dropped; nil: counts on the outbox's account
}

// maxWrite is the size in bytes up to which queued messages share one write.
const maxWrite = 64 << 10

// newOutbox returns an outbox in which limit bytes may wait. If more wait, the
// client has stopped reading, and the outbox fails. A single longer message is
// allowed. Queued messages count on account.
func newOutbox(w io.Writer, limit int, account *memory.Account, onFailure func(error)) *outbox {
	o := &outbox{w: w, limit: limit, account: account, onFailure: onFailure, done: make(chan struct{})}
	o.wake.L = &o.mu
	go o.run()
	return o
}

// add queues one message, takes ownership of it, and appends a newline. It
// ignores a nil message.
func (o *outbox) add(message []byte) {
	if message != nil {
		o.tryAdd(message)
	}
}

// tryAdd is add, and reports whether the message was queued. It reports false
// if there is no memory for it.
func (o *outbox) tryAdd(message []byte) bool {
	n := int64(len(message) + 1)
	if o.account.Grow(n) != nil {
		return false
	}
	taken := o.queue(outgoing{text: append(message, '\n')})
	if !taken {
		o.account.Shrink(n)
	}
	return taken
}

// addCounted queues messages without interleaving others. Their memory is
// accounted for elsewhere: done is called once they are written or dropped.
func (o *outbox) addCounted(done func(), messages ...[]byte) {
	all := make([]outgoing, 0, len(messages))
	for _, m := range messages {
		if m != nil {
			all = append(all, outgoing{text: m, done: func() {}})
		}
	}
	if len(all) == 0 {
		done()
		return
	}
	last := &all[len(all)-1]
	last.text, last.done = append(last.text, '\n'), done
	if !o.queue(all...) {
		done()
	}
}

func (o *outbox) queue(messages ...outgoing) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.failure != nil || o.closed:
		return false
	case o.pendingBytes > o.limit:
		o.abort(fmt.Errorf("the client stopped reading: %d bytes are waiting", o.pendingBytes))
		return false
	}
	for _, m := range messages {
		o.pending = append(o.pending, m)
		o.pendingBytes += len(m.text)
	}
	o.wake.Signal()
	return true
}

// finish releases messages that were written or dropped.
func (o *outbox) finish(messages []outgoing) {
	for _, m := range messages {
		if m.done != nil {
			m.done()
		} else {
			o.account.Shrink(int64(len(m.text)))
		}
	}
}

// abort drops queued messages and refuses further ones; the caller holds o.mu.
func (o *outbox) abort(why error) {
	if o.failure == nil {
		dropped := o.pending
		o.failure, o.pending = why, nil
		o.finish(dropped)
		o.onFailure(why)
	}
}

// close refuses further messages. After the queued ones are written, done is
// closed.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.wake.Signal()
}

func (o *outbox) run() {
	defer close(o.done)
	var batch []outgoing
	var joined []byte
	taken := 0
	defer func() { o.finish(batch) }() // if writing failed
	for {
		o.mu.Lock()
		o.pendingBytes -= taken
		for len(o.pending) == 0 && !o.closed {
			o.wake.Wait()
		}
		batch, o.pending, taken = o.pending, batch[:0], o.pendingBytes
		o.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for i := range batch {
			text := batch[i].text
			if len(joined)+len(text) > maxWrite && !o.write(&joined) {
				return
			}
			if len(text) <= maxWrite {
				joined = append(joined, text...)
			} else if !o.write(&text) {
				return
			}
			o.finish(batch[i : i+1])
			batch[i] = outgoing{}
		}
		if !o.write(&joined) {
			return
		}
	}
}

// write writes b and empties it.
func (o *outbox) write(b *[]byte) bool {
	if len(*b) == 0 {
		return true
	}
	_, err := o.w.Write(*b)
	*b = (*b)[:0]
	if err == nil {
		return true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.abort(err)
	return false
}
