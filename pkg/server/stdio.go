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

// shutdownGrace is how long a server that was told to stop waits for calls to
// notice and for a client to read their answers.
const shutdownGrace = 3 * time.Second

// ServeStdio reads requests from in and writes answers to out, one JSON message
// a line (MCP, "Transports: stdio"), until in ends; then every call under way
// is still answered, and nil returned. Calls run at once, however many there
// are, and are answered as they finish. notifications/cancelled ends its call at
// once; as the protocol asks, that call is not answered.
//
// When ctx is done, running calls are cancelled with its cause and answered,
// and the cause is returned; a reader that is blocked on in is left behind. An
// error of in or out is wrapped and returned; 256 MiB of answers that nobody
// reads are such an error.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := newConn(ctx, s, newOutbox(out, s.patience.unread, s.memory.Account(""), func(err error) {
		cancel(fmt.Errorf("writing to the client: %w", err))
	}))
	defer s.audience.join(c.wants, c.notify)()

	defer c.crew.disband()

	ended := make(chan error, 1)
	go func() { ended <- readLines(in, s.maxLine, s.memory, c.receive, c.skipped) }()
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
		c.hush()
		c.calls.running.Wait()
		c.out.close()
		<-c.out.done
	}()
	select {
	case <-drained:
	case <-ctx.Done():
		select {
		case <-drained:
		case <-time.After(shutdownGrace):
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// readLines gives line each line of in that is not blank, without the white
// space around it. line takes it over, and closes the account that it counts on.
// A line over limit bytes, or for which there is no memory, is skipped and refuse
// called instead.
func readLines(in io.Reader, limit int, budget *memory.Budget, line func([]byte, *memory.Account), refuse func(why string)) error {
	r := bufio.NewReaderSize(in, 64<<10)
	var text []byte
	var held *memory.Account
	defer func() { held.Close() }()
	skipping := false
	skip := func(why string) {
		held.Close()
		skipping, text, held = true, nil, nil
		refuse(why)
	}
	for {
		part, err := r.ReadSlice('\n')
		partial := errors.Is(err, bufio.ErrBufferFull)
		if held == nil {
			held = budget.Account("")
			_ = held.Grow(requestBytes)
		}
		switch {
		case skipping:
		case len(text)+len(part) > limit:
			skip(fmt.Sprintf("a message is longer than %d bytes", limit))
		default:
			was := cap(text)
			if need := len(text) + len(part); need > was {
				next := need
				if partial {
					next = 4 * need
				}
				if err := held.Grow(int64(next - was)); err != nil {
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
				line(text, held)
				held = nil
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
