package upstream

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"sync/atomic"
	"time"
)

// sseLink carries one session over HTTP with server-sent events, as the
// revision of 2024-11-05 has it: the server speaks on one stream, whose first
// event says where our messages are to be posted.
type sseLink struct {
	*httpLink // posts
	desk      *desk
	receiver  *receiver
	err       atomic.Pointer[error] // why the stream is over; nil where we ended it
}

var _ link = (*sseLink)(nil)

// openSSE opens the stream at l's URL and waits for its first event.
func openSSE(ctx context.Context, l *httpLink) (*sseLink, error) {
	s := &sseLink{httpLink: l, desk: newDesk(l.diary.wrong)}
	s.receiver = &receiver{
		limit: l.limit, held: l.diary.budget.Account(""), odd: l.diary.wrong, reply: l.reply, deliver: s.desk.deliver, deliverOnly: s.desk.deliverOnly,
	}
	// The stream outlives ctx, which is only that of its opening, but needs
	// its credentials.
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(l.life, kill)
	stop := context.AfterFunc(ctx, kill)
	response, err := l.get(life, "", "")
	if err != nil {
		kill()
		return nil, during(ctx, err)
	}
	events := &eventStream{lines: bufio.NewReaderSize(response.Body, 64<<10), limit: l.limit, held: s.receiver.held, cursor: &cursor{}}
	var first *event
	for first == nil || first.name != "endpoint" {
		if first, err = events.next(); err != nil {
			response.Body.Close()
			kill()
			return nil, during(ctx, fmt.Errorf("its stream does not begin with the event %q: %w", "endpoint", err))
		}
	}
	if !stop() {
		response.Body.Close()
		return nil, ctx.Err()
	}
	if l.url, err = s.endpoint(l.url, string(first.data)); err != nil {
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

// during returns ctx's error in the place of one that it has caused.
func during(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// endpoint resolves where to post. Another host than the stream's would get to
// see the credentials.
func (s *sseLink) endpoint(base, text string) (string, error) {
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
func (s *sseLink) read(events *eventStream) {
	var err error
	for err == nil {
		var e *event
		if e, err = events.next(); err == nil && (e.name == "" || e.name == "message") {
			s.receiver.event(e)
		}
		if e != nil {
			s.receiver.held.Shrink(e.intake.counted)
		}
	}
	s.receiver.held.Close()
	s.once.Do(func() {
		why := error(overError("closed its stream of events"))
		s.err.Store(&why)
		s.kill()
		close(s.done)
	})
}

func (s *sseLink) attach(in *inbound) {
	s.httpLink.attach(in)
	s.receiver.in.Store(in)
}

// request posts a request and waits for the result on the stream.
func (s *sseLink) request(ctx context.Context, m *outgoing) (json.RawMessage, error) {
	key := m.id
	reply := s.desk.wait(key)
	posted := make(chan error, 1)
	h, release := detach(ctx, s.pool)
	defer release()
	h.kept = true // the answer may come before the end of the request that asks
	go func() {
		defer h.cancel()
		response, err := s.post(h, m)
		if err == nil {
			drop(response)
		}
		posted <- h.because(ctx, err)
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
			err = both(errLost, s.why())
		}
	}
	s.desk.forget(key)
	select {
	case a := <-reply: // it came at the same moment
		return a.result, a.err
	default:
	}
	return nil, err
}

func (s *sseLink) why() error {
	if err := s.err.Load(); err != nil {
		return *err
	}
	return errClosed
}
