package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
)

// openSession opens a link and performs the handshake on it, or goes on with the
// session that was saved, which it reports. Errors are *[Error].
func (slot *sessionSlot) openSession(ctx context.Context, call *credential.Call, key SessionKey) (_ *session, resumed bool, _ *Error) {
	s := slot.server
	defer s.claimProbe(ctx)()
	known := era(s.era.Load())
	l, saved, err := slot.link(ctx, key, known)
	if known == eraSSE && refusesTransport(err) {
		known = eraUnknown // another server may have taken its place
		l, saved, err = slot.link(ctx, key, known)
	}
	if err != nil {
		return nil, false, s.startError(err)
	}
	out := newSession(slot, l, call)
	if saved != nil {
		out.resume(*saved)
		s.era.CompareAndSwap(int32(eraUnknown), int32(eraLegacy))
		return out, true, nil
	}
	out, found, err := slot.handshake(ctx, out, call, known)
	if s.entry.MayBeSSE && refusesTransport(err) {
		over, why := s.openOlderHTTP(ctx, l.PeerLog())
		if why == nil {
			out.close(canceledContext)
			l, out = over, newSession(slot, over, call)
			found, err = out.handshake(ctx, eraSSE)
		} else if ctx.Err() == nil {
			err = fmt.Errorf("%w; as HTTP+SSE it failed too: %w", err, why)
		}
	}
	if err != nil {
		if unanswered(err) && s.life.Err() == nil {
			s.era.CompareAndSwap(int32(known), int32(eraUnknown)) // the other era was not tried
		}
		failure := s.handshakeError(ctx, l, err)
		out.close(canceledContext)
		return nil, false, failure
	}
	if found != eraSSE || s.entry.MayBeSSE {
		s.era.Store(int32(found))
	}
	return out, false, nil
}

// handshake performs the handshake on first, or on another session over streamable
// HTTP if the server may be of either era. It returns the session on which it
// succeeded or failed last, and has ended the other.
//
// Over streamable HTTP the server is asked server/discover first, as the revision
// of 2026-07-28 says. If it does not answer soon it is sent initialize as well,
// and the first good answer counts: the server may ignore what it does not know,
// or it may be slow. A slow one answers both at about the same time; then
// server/discover counts.
func (slot *sessionSlot) handshake(ctx context.Context, first *session, call *credential.Call, known era) (*session, era, error) {
	s := slot.server
	if _, ok := first.link.(*wire.HTTP); !ok || known == eraLegacy {
		found, err := first.handshake(ctx, known)
		return first, found, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	discovered := inBackground(ctx, first.discover)
	soon := time.NewTimer(s.fallbackDelay())
	defer soon.Stop()
	var (
		older       *session
		initialized <-chan error
		sent        time.Time // initialize
		refused     error     // of initialize
	)
	initialize := func() {
		older = newSession(slot, wire.OpenHTTP(ctx, s.httpOptions(first.link.PeerLog())), call)
		sent = time.Now()
		initialized = inBackground(ctx, older.initialize)
	}
	for {
		select {
		case err := <-discovered:
			discovered = nil
			switch {
			case err == nil:
				if older != nil {
					older.close(canceledContext)
				}
				return first, eraModern, nil
			case older == nil && !mayBeLegacy(ctx, err):
				return first, eraUnknown, err
			case older == nil:
				initialize()
				continue
			case initialized != nil:
				continue
			}
		case err := <-initialized:
			initialized = nil
			if err == nil && (discovered == nil || !succeedsWithin(discovered, time.Since(sent)+discoverGrace)) {
				first.close(canceledContext)
				return older, eraLegacy, nil
			} else if err == nil {
				older.close(canceledContext)
				return first, eraModern, nil
			}
			refused = err
			if discovered != nil {
				soon.Reset(s.fallbackDelay())
				continue
			}
			if speaksModern(err) && first.discover(ctx) == nil {
				older.close(canceledContext)
				return first, eraModern, nil
			}
		case <-soon.C:
			if older == nil {
				initialize()
				continue
			}
			if refused == nil || speaksModern(refused) {
				continue
			}
		}
		first.close(canceledContext)
		return older, eraLegacy, refused
	}
}

// discoverGrace is how much later than that of initialize an answer to server/discover
// may come to count, beside the time that initialize took.
const discoverGrace = 50 * time.Millisecond

// succeedsWithin reports whether a success comes within the time.
func succeedsWithin(result <-chan error, limit time.Duration) bool {
	select {
	case err := <-result:
		return err == nil
	case <-time.After(limit):
		return false
	}
}

// inBackground calls f in the background and returns its result.
func inBackground(ctx context.Context, f func(context.Context) error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- f(ctx) }()
	return result
}

// claimProbe lets one caller at a time find out how the server wants to be spoken to,
// and the others wait for what it found, but not for long: a caller whose
// credential is no good finds out nothing. The caller must call what it returns
// when it is done.
func (s *connector) claimProbe(ctx context.Context) (done func()) {
	unknown := func() bool { return era(s.era.Load()) == eraUnknown }
	if s.entry.Transport != config.HTTP || !unknown() {
		return func() {}
	}
	done = sync.OnceFunc(func() { <-s.probing })
	timer := time.NewTimer(2 * discoverTimeout)
	defer timer.Stop()
	select {
	case s.probing <- struct{}{}:
		if !unknown() {
			done()
		}
		return done
	case <-timer.C:
	case <-ctx.Done():
	}
	return func() {}
}

// unanswered reports whether a request went out and no proper answer came.
func unanswered(err error) bool {
	var long *wire.TooLongError
	return !errors.Is(err, wire.ErrNotWritten) &&
		(errors.Is(err, context.DeadlineExceeded) || errors.Is(err, wire.ErrLost) || errors.As(err, &long))
}

// refusesTransport reports whether err says that the server has nothing at this
// address for the kind of HTTP that was tried: a POST of initialize, or a GET of
// a stream of events (MCP of 2025-03-26 and later, backwards compatibility).
func refusesTransport(err error) bool {
	var kind *wire.ContentTypeError
	var status *wire.StatusError
	if !errors.As(err, &status) {
		return errors.As(err, &kind)
	}
	switch status.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired,
		http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return status.Status >= 400 && status.Status < 500
}

// openOlderHTTP opens a link over HTTP+SSE to a server that may not speak it.
func (s *connector) openOlderHTTP(ctx context.Context, peerLog *wire.PeerLog) (*wire.SSE, error) {
	opening, cancel := context.WithTimeoutCause(ctx, s.fallbackDelay(), errNoEndpoint)
	defer cancel()
	l, err := wire.OpenSSE(opening, s.httpOptions(peerLog))
	if err != nil && opening.Err() != nil && ctx.Err() == nil {
		return nil, errNoEndpoint
	}
	return l, err
}

// errNoEndpoint is the error of a server that was asked for a stream of events
// and did not say where messages are to be posted.
var errNoEndpoint = errors.New(`no event "endpoint" came in time`)

// transport returns the entry's transport, or HTTP+SSE if the server speaks only that.
func (s *connector) transport() string {
	if era(s.era.Load()) == eraSSE {
		return config.SSE
	}
	return s.entry.Transport
}
