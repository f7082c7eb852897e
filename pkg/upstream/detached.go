package upstream

import (
	"context"
	"errors"
	"io"
	"time"
)

// detached is the context of an HTTP request that may outlive the call it is
// made for: a connection can be used again only if its response was read to the
// end, and one whose request is cancelled a moment too late fails the next
// request on it.
type detached struct {
	context.Context
	cancel  context.CancelFunc
	release []func() bool
	kept    bool // finish cancels it
}

// detach returns a context with ctx's values that ends with ctx and with pool
// until release is called. Then it ends at once, or where finish was called
// when that is done.
func detach(ctx, pool context.Context) (h *detached, release func()) {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	h = &detached{Context: inner, cancel: cancel}
	h.release = []func() bool{context.AfterFunc(ctx, cancel), context.AfterFunc(pool, cancel)}
	return h, func() {
		for _, stop := range h.release {
			stop()
		}
		if !h.kept {
			cancel()
		}
	}
}

// because returns ctx's error in the place of the one that it has caused.
func (h *detached) because(ctx context.Context, err error) error {
	switch {
	case err == nil || ctx.Err() == nil || !errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, errNotWritten):
		return both(errNotWritten, ctx.Err())
	}
	return ctx.Err()
}

// How long, and how far, a response is read whose answer has come.
const (
	finishTime  = time.Second
	finishBytes = 4 << 10
)

// finish reads what is left of a response in the background, where there is no
// more than a little, and closes it.
func (h *detached) finish(body io.ReadCloser) {
	if h.Err() != nil {
		body.Close()
		return
	}
	h.kept = true
	go func() {
		timer := time.AfterFunc(finishTime, h.cancel)
		defer h.cancel()
		defer body.Close()
		defer timer.Stop()
		_, _ = io.CopyN(io.Discard, body, finishBytes)
	}()
}
