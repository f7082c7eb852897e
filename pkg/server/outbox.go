package server

import (
	"fmt"
	"io"
	"sync"
)

// maxUnreadEvents is how many bytes of one stream of events may wait for the
// client to read them.
const maxUnreadEvents = 16 << 20

// outbox writes messages to the client in the order they were added, whole.
// Adding never waits for the client: a client that sends many requests before
// it reads an answer must not bring the reading of its requests to a stop.
type outbox struct {
	w    io.Writer
	most int         // bytes that may wait
	fail func(error) // called once, when the client cannot be written to; must not wait
	done chan struct{}

	mu      sync.Mutex
	wake    sync.Cond
	pending [][]byte
	waiting int // bytes that were added and not written
	closed  bool
	failure error
}

// coalesce is the size in bytes up to which waiting messages share one write.
const coalesce = 64 << 10

// newOutbox returns an outbox for which most bytes may wait; more is a client that
// has stopped reading, and is given up. A message that is longer waits alone.
func newOutbox(w io.Writer, most int, fail func(error)) *outbox {
	o := &outbox{w: w, most: most, fail: fail, done: make(chan struct{})}
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

// offer is add that reports whether the message was taken.
func (o *outbox) offer(message []byte) bool {
	message = append(message, '\n')
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.failure != nil || o.closed:
		return false
	case o.waiting > o.most:
		o.giveUp(fmt.Errorf("the client does not read: %d bytes wait for it", o.waiting))
		return false
	}
	o.pending = append(o.pending, message)
	o.waiting += len(message)
	o.wake.Signal()
	return true
}

// giveUp drops what waits and takes nothing more, once; o.mu is held.
func (o *outbox) giveUp(why error) {
	if o.failure == nil {
		o.failure, o.pending = why, nil
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
	var batch [][]byte
	var joined []byte
	taken := 0
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
		for i, m := range batch {
			batch[i] = nil
			if len(joined)+len(m) > coalesce && !o.write(&joined) {
				return
			}
			if len(m) > coalesce {
				if !o.write(&m) {
					return
				}
				continue
			}
			joined = append(joined, m...)
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
