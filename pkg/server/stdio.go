package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// ServeStdio reads requests from in and writes answers to out, one JSON message
// per line (MCP, Transports, stdio), until in ends. Then it answers the running
// calls and returns nil. Calls run concurrently and are answered as they
// finish. notifications/cancelled cancels a call, which then gets no answer, as
// the protocol requires.
//
// When ctx is done, ServeStdio cancels running calls with ctx's cause, answers
// them, and returns the cause. A reader blocked on in is abandoned. It returns
// a wrapped error if reading or writing fails, or if more than 256 MiB of
// answers wait to be read.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := newStdioConn(ctx, s, newOutbox(out, s.timeouts.unread, s.memory.Account(""), func(err error) {
		cancel(fmt.Errorf("writing to the client: %w", err))
	}))
	defer s.subscribers.add(c.wants, c.notify)()
	defer c.session.resources.end()

	defer c.workers.close()

	ended := make(chan error, 1)
	go func() { ended <- readLines(in, s.maxLine, s.memory, c.receive, c.refuseLine) }()
	var err error
	select {
	case err = <-ended:
		if err != nil {
			err = fmt.Errorf("reading from the client: %w", err)
		}
	case <-ctx.Done():
	}

	drained := make(chan struct{})
	go func() {
		defer close(drained)
		c.calls.stop()
		c.session.asked.end()
		c.stopNotifying()
		c.session.resources.end()
		c.calls.running.Wait()
		c.out.close()
		<-c.out.done
	}()
	select {
	case <-drained:
	case <-ctx.Done():
		select {
		case <-drained:
		case <-time.After(s.timeouts.shutdown):
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// readLines calls handle with each line of in that is not blank, trimmed. line
// takes ownership of the text and must close the account. If a line is longer
// than limit bytes, or there is no memory for it, readLines skips it and calls
// refuse.
func readLines(in io.Reader, limit int, budget *memory.Budget, handle func([]byte, *memory.Account), refuse func(why string)) error {
	r := bufio.NewReaderSize(in, 64<<10)
	var text []byte
	var account *memory.Account
	defer func() { account.Close() }()
	skipping := false
	skip := func(why string) {
		account.Close()
		skipping, text, account = true, nil, nil
		refuse(why)
	}
	for {
		part, err := r.ReadSlice('\n')
		partial := errors.Is(err, bufio.ErrBufferFull)
		if account == nil {
			account = budget.Account("")
			_ = account.Grow(requestBytes)
		}
		switch {
		case skipping:
		case len(text)+len(part) > limit:
			skip(fmt.Sprintf("message longer than %d bytes", limit))
		default:
			was := cap(text)
			if need := len(text) + len(part); need > was {
				next := need
				if partial {
					next = 4 * need
				}
				if err := account.Grow(int64(next - was)); err != nil {
					skip(err.Error())
					break
				}
				text = append(make([]byte, 0, next), text...)
			}
			text = append(text, part...)
			if partial {
				break
			}
			if text = bytes.TrimSpace(text); len(text) > 0 {
				handle(text, account)
				account = nil
			}
			text = nil
		}
		switch {
		case partial:
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		default:
			skipping = false
		}
	}
}
