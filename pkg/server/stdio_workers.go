package server

import "sync/atomic"

// maxIdleWorkers is the largest number of goroutines that wait for work.
const maxIdleWorkers = 32

// workerPool runs functions concurrently and reuses their goroutines. A new
// goroutine has a small stack; growing it while decoding a message took a
// quarter of the time of a short call.
type workerPool struct {
	work   chan func()
	closed chan struct{} // closed by close
	idle   atomic.Int32
}

func newWorkerPool() *workerPool {
	return &workerPool{work: make(chan func()), closed: make(chan struct{})}
}

// do runs f in another goroutine. It does not block.
func (c *workerPool) do(f func()) {
	select {
	case c.work <- f:
	default:
		go c.run(f)
	}
}

// close ends idle goroutines, and busy ones when they finish.
func (c *workerPool) close() { close(c.closed) }

func (c *workerPool) run(f func()) {
	for {
		f()
		f = nil // do not keep its memory while idle
		if c.idle.Add(1) > maxIdleWorkers {
			c.idle.Add(-1)
			return
		}
		select {
		case f = <-c.work:
			c.idle.Add(-1)
		case <-c.closed:
			return
		}
	}
}
