package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
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
	c := newConn(ctx, s, newOutbox(out, s.patience.unread, func(err error) {
		cancel(fmt.Errorf("writing to the client: %w", err))
	}))
	defer s.audience.join(c.wants, c.notify)()

	defer c.crew.disband()

	ended := make(chan error, 1)
	go func() { ended <- readLines(in, s.maxLine, c.receive, c.tooLong) }()
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
// space around it; it is valid until line returns. A line over limit bytes is
// skipped, and tooLong called instead.
func readLines(in io.Reader, limit int, line func([]byte), tooLong func()) error {
	r := bufio.NewReaderSize(in, 64<<10)
	var long []byte // the part of a line that does not fit r's buffer
	skipping := false
	for {
		part, err := r.ReadSlice('\n')
		partial := errors.Is(err, bufio.ErrBufferFull)
		switch {
		case skipping:
		case len(long)+len(part) > limit:
			skipping = true
			long = nil
			tooLong()
		case partial:
			long = append(long, part...)
		default:
			if len(long) > 0 {
				part = append(long, part...)
			}
			if part = bytes.TrimSpace(part); len(part) > 0 {
				line(part)
			}
			long = nil
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
