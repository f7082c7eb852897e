package wire

import (
	"io"
	"slices"
	"sync"
)

// queuedLine is one line on its way to the server.
type queuedLine struct {
	line  []byte
	reply bool // it is an answer of ours
	taken bool // some of it is written, or may be
}

// outbox writes frames in order. What does not go out without waiting is
// written by a goroutine of its own, so that no caller is held up by a server
// that does not read, and so that what many callers send at once goes out in
// few writes.
type outbox struct {
	out io.WriteCloser
	// try writes as much as goes without waiting and returns how much that was;
	// nil if the system has no way to do so. Waking the goroutine costs a
	// lone caller half the time of a call.
	try func([]byte) int

	mu     sync.Mutex
	filled sync.Cond
	queue  []*queuedLine
	busy   bool  // the goroutine is writing
	err    error // set once nothing can be written any more
}

// batchBytes is how much is written at once. A frame that was not taken yet
// can be withdrawn, hence a limit.
const batchBytes = 64 << 10

func newOutbox(out io.WriteCloser) *outbox {
	o := &outbox{out: out, try: withoutWaiting(out)}
	o.filled.L = &o.mu
	return o
}

// put queues f. It never blocks.
func (o *outbox) put(f *queuedLine) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	if o.try != nil && !o.busy && len(o.queue) == 0 {
		n := o.try(f.line)
		f.taken = n > 0
		if f.line = f.line[n:]; len(f.line) == 0 {
			return nil
		}
	}
	o.queue = append(o.queue, f)
	o.filled.Signal()
	return nil
}

// withdraw takes f back and reports whether none of it was written.
func (o *outbox) withdraw(f *queuedLine) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f.taken {
		return false
	}
	if i := slices.Index(o.queue, f); i >= 0 {
		o.queue = slices.Delete(o.queue, i, i+1)
	}
	return true
}

// hasMoreReplies reports whether more than so many answers of ours are not written yet.
func (o *outbox) hasMoreReplies(than int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) <= than {
		return false
	}
	n := 0
	for _, f := range o.queue {
		if f.reply {
			n++
		}
	}
	return n > than
}

// run writes until the outbox is closed, then it returns nil, or a write fails.
func (o *outbox) run() error {
	var batch []byte
	for {
		o.mu.Lock()
		o.busy = false
		for len(o.queue) == 0 && o.err == nil {
			o.filled.Wait()
		}
		if o.err != nil {
			o.mu.Unlock()
			return nil
		}
		n := 1
		for size := len(o.queue[0].line); n < len(o.queue); n++ {
			if size += len(o.queue[n].line); size > batchBytes {
				break
			}
		}
		line := o.queue[0].line
		for _, f := range o.queue[:n] {
			f.taken = true
		}
		if n > 1 {
			batch = batch[:0]
			for _, f := range o.queue[:n] {
				batch = append(batch, f.line...)
			}
			line = batch
		}
		o.queue = slices.Delete(o.queue, 0, n)
		o.busy = true
		o.mu.Unlock()
		if _, err := o.out.Write(line); err != nil {
			if o.close(err) != err {
				err = nil // it was closed in the meantime
			}
			return err
		}
	}
}

// close refuses more with err, unless it was closed before, drops what is
// queued, and closes the writer, which ends a write that is under way. It
// returns the error of the first close.
func (o *outbox) close(err error) error {
	o.mu.Lock()
	if o.err == nil {
		o.err = err
	}
	err = o.err
	o.queue = nil
	o.filled.Signal()
	o.mu.Unlock()
	_ = o.out.Close() // the reader's end says whether the server has gone
	return err
}
