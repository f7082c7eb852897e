package server

import (
	"fmt"
	"io"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// maxUnreadEvents is how many bytes of one stream of events may wait for the
// client to read them.
const maxUnreadEvents = 16 << 20

// outbox writes messages to the client in the order they were added, whole.
// Adding never waits for the client: a client that sends many requests before
// it reads an answer must not bring the reading of its requests to a stop.
type outbox struct {
	w    io.Writer
	most int             // bytes that may wait
	held *memory.Account // of what is added without an account of its own
	fail func(error)     // called once, when the client cannot be written to; must not wait
	done chan struct{}

	mu      sync.Mutex
	wake    sync.Cond
	pending []outgoing
	waiting int // bytes that were added and not written
	closed  bool
	failure error
}

// outgoing is one message that waits.
type outgoing struct {
	text []byte
	done func() // called once when it is written or dropped; nil: it counts on the outbox's account
}

// coalesce is the size in bytes up to which waiting messages share one write.
const coalesce = 64 << 10

// newOutbox returns an outbox for which most bytes may wait; more is a client that
// has stopped reading, and is given up. A message that is longer waits alone.
// What waits counts on held.
func newOutbox(w io.Writer, most int, held *memory.Account, fail func(error)) *outbox {
	o := &outbox{w: w, most: most, held: held, fail: fail, done: make(chan struct{})}
	o.wake.L = &o.mu
	go o.run()
	return o
}

// add queues one message, which it takes over and ends with a newline. A nil
// message is none.
func (o *outbox) add(message []byte) {
	if message != nil {
		o.offer(message)
	}
}

// offer is add that reports whether the message was taken. It is not where there
// is no memory for it.
func (o *outbox) offer(message []byte) bool {
	n := int64(len(message) + 1)
	if o.held.Grow(n) != nil {
		return false
	}
	taken := o.queue(outgoing{text: append(message, '\n')})
	if !taken {
		o.held.Shrink(n)
	}
	return taken
}

// addCounted is add for messages, taken together, that are counted elsewhere:
// done is called when they are written, or will not be.
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
	case o.waiting > o.most:
		o.giveUp(fmt.Errorf("the client does not read: %d bytes wait for it", o.waiting))
		return false
	}
	for _, m := range messages {
		o.pending = append(o.pending, m)
		o.waiting += len(m.text)
	}
	o.wake.Signal()
	return true
}

// over says that messages are written or dropped.
func (o *outbox) over(messages []outgoing) {
	for _, m := range messages {
		if m.done != nil {
			m.done()
		} else {
			o.held.Shrink(int64(len(m.text)))
		}
	}
}

// giveUp drops what waits and takes nothing more, once; o.mu is held.
func (o *outbox) giveUp(why error) {
	if o.failure == nil {
		dropped := o.pending
		o.failure, o.pending = why, nil
		o.over(dropped)
		o.fail(why)
	}
}

// close lets what is queued be written; done is closed after that.
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
	defer func() { o.over(batch) }() // where it could not be written
	for {
		o.mu.Lock()
		o.waiting -= taken
		for len(o.pending) == 0 && !o.closed {
			o.wake.Wait()
		}
		batch, o.pending, taken = o.pending, batch[:0], o.waiting
		o.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for i := range batch {
			text := batch[i].text
			if len(joined)+len(text) > coalesce && !o.write(&joined) {
				return
			}
			if len(text) <= coalesce {
				joined = append(joined, text...)
			} else if !o.write(&text) {
				return
			}
			o.over(batch[i : i+1])
			batch[i] = outgoing{}
		}
		if !o.write(&joined) {
			return
		}
	}
}

// write sends b and empties it.
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
	o.giveUp(err)
	return false
}
