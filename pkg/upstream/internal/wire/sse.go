package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"sync/atomic"
	"time"
)

// SSE carries one session over HTTP with server-sent events, as the
// revision of 2024-11-05 has it: the server speaks on one stream, whose first
// event has the address to post our messages to.
type SSE struct {
	*HTTP    // posts
	pending  *pendingRequests
	receiver *receiver
	err      atomic.Pointer[error] // why the stream is over; nil if we ended it
}

var _ Link = (*SSE)(nil)

// OpenSSE opens the stream at the URL and waits for its first event.
func OpenSSE(ctx context.Context, o HTTPOptions) (*SSE, error) {
	l := OpenHTTP(ctx, o)
	s, err := l.openStream(ctx)
	if err != nil {
		l.kill()
	}
	return s, err
}

func (l *HTTP) openStream(ctx context.Context) (_ *SSE, err error) {
	s := &SSE{HTTP: l, pending: newPendingRequests(l.Log.unexpected)}
	s.receiver = &receiver{
		limit: l.Limit, account: l.Log.Budget.Account(""), unexpected: l.Log.unexpected, reply: l.reply, deliver: s.pending.deliver, deliverOnly: s.pending.deliverOnly,
	}
	defer func() {
		if err != nil {
			s.receiver.account.Close()
		}
	}()
	// The stream outlives ctx, which is only that of its opening, but needs
	// its credentials.
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(l.life, kill)
	stop := context.AfterFunc(ctx, kill)
	response, err := l.get(life, "", "")
	if err != nil {
		kill()
		return nil, contextError(ctx, err)
	}
	events := &eventStream{lines: bufio.NewReaderSize(response.Body, 64<<10), limit: l.Limit, account: s.receiver.account, cursor: &cursor{}}
	var first *event
	for first == nil || first.name != "endpoint" {
		if first, err = events.next(); err != nil {
			response.Body.Close()
			kill()
			return nil, contextError(ctx, fmt.Errorf("its stream does not begin with the event %q: %w", "endpoint", err))
		}
		s.receiver.account.Shrink(first.buffer.counted)
	}
	if !stop() {
		response.Body.Close()
		return nil, ctx.Err()
	}
	if l.URL, err = s.endpoint(l.URL, string(first.data)); err != nil {
		response.Body.Close()
		kill()
		return nil, err
	}
	l.runs.Go(func() {
		defer kill()
		defer response.Body.Close()
		s.read(events)
	})
	return s, nil
}

// contextError returns ctx's error instead of one that it has caused.
func contextError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// endpoint resolves where to post. Another host than the stream's would get to
// see the credentials.
func (s *SSE) endpoint(base, text string) (string, error) {
	from, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	to, err := from.Parse(text)
	if err != nil {
		return "", fmt.Errorf("the address that it wants messages at: %w", err)
	}
	if to.Host != from.Host || to.Scheme != from.Scheme {
		return "", fmt.Errorf("it wants messages at another host, %s", to.Host)
	}
	return to.String(), nil
}

// read takes messages until the stream ends.
func (s *SSE) read(events *eventStream) {
	var err error
	for err == nil {
		var e *event
		if e, err = events.next(); err == nil && (e.name == "" || e.name == "message") {
			s.receiver.event(e)
		}
		if e != nil {
			s.receiver.account.Shrink(e.buffer.counted)
		}
	}
	s.receiver.account.Close()
	s.once.Do(func() {
		why := error(EndedError("closed its stream of events"))
		s.err.Store(&why)
		s.kill()
		close(s.done)
	})
}

func (s *SSE) Attach(in *Handler) {
	s.HTTP.Attach(in)
	s.receiver.in.Store(in)
}

// Request posts a request and waits for the result on the stream.
func (s *SSE) Request(ctx context.Context, m *Message) (json.RawMessage, error) {
	key := m.ID
	reply := s.pending.expect(key)
	posted := make(chan error, 1)
	h, release := detach(ctx, s.Life)
	defer release()
	h.kept = true // the answer may come before the end of the request that asks
	go func() {
		defer h.cancel()
		response, err := s.post(h, m)
		if err == nil {
			discard(response)
		}
		posted <- h.causeOf(ctx, err)
	}()
	var err error
	for err == nil {
		select {
		case a := <-reply:
			if posted != nil {
				time.AfterFunc(finishTime, h.cancel)
			}
			return a.result, a.err
		case err = <-posted:
			if err == nil {
				posted = nil // now only the stream can say more
			}
		case <-ctx.Done():
			err = ctx.Err()
		case <-s.done:
			err = both(ErrLost, s.why())
		}
	}
	s.pending.abandon(key)
	select {
	case a := <-reply: // it came at the same moment
		return a.result, a.err
	default:
	}
	return nil, err
}

func (s *SSE) why() error {
	if err := s.err.Load(); err != nil {
		return *err
	}
	return errClosed
}
