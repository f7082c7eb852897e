package wire

import (
	"context"
	"errors"
	"io"
	"time"
)

// requestContext is the context of an HTTP request that may outlive the call it is
// made for: a connection can be used again only if its response was read to the
// end, and one whose request is cancelled a moment too late fails the next
// request on it.
type requestContext struct {
	context.Context
	cancel context.CancelFunc
	stops  []func() bool
	kept   bool // drain cancels it
}

// detach returns a context with ctx's values that ends with ctx and with pool
// until release is called. Then it ends at once, or if drain was called
// when that is done.
func detach(ctx, pool context.Context) (h *requestContext, release func()) {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	h = &requestContext{Context: inner, cancel: cancel}
	h.stops = []func() bool{context.AfterFunc(ctx, cancel), context.AfterFunc(pool, cancel)}
	return h, func() {
		for _, stop := range h.stops {
			stop()
		}
		if !h.kept {
			cancel()
		}
	}
}

// causeOf returns ctx's error instead of the one that it has caused.
func (h *requestContext) causeOf(ctx context.Context, err error) error {
	switch {
	case err == nil || ctx.Err() == nil || !errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, ErrNotWritten):
		return both(ErrNotWritten, ctx.Err())
	}
	return ctx.Err()
}

// How long, and how far, a response is read whose answer has come.
const (
	finishTime  = time.Second
	finishBytes = 4 << 10
)

// drain reads what is left of a response in the background, where there is no
// more than a little, and closes it.
func (h *requestContext) drain(body io.ReadCloser) {
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
