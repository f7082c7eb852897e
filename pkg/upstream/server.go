package upstream

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// server is one entry of mcpServers: its settings, what stands between a
// caller and the wire, and one session for each identity that calls it.
// Nothing is started before the first call.
type server struct {
	entry     *config.Upstream
	dial      func(context.Context, *config.Upstream) (io.ReadWriteCloser, error)
	log       *slog.Logger
	redact    *redactor
	authority *authority // what a call may carry
	layers    *layers    // cache, rate limit, circuit breaker, retry, calls in flight; nil: none
	counts    counters
	answers   map[string]Answer
	budget    *memory.Budget                // nil: no bounds
	store     SessionStore                  // nil: sessions end with the pool
	observe   func(SessionInfo) func(error) // nil: nobody is told of sessions
	observed  sync.WaitGroup                // until their ends were told

	// What servers learn of us, as JSON: our name, our capabilities, and both
	// of them as members of _meta.
	clientInfo, capabilities, modernMeta string

	era     atomic.Int32  // how the server wants to be spoken to
	probing chan struct{} // full while somebody finds that out

	discoverTime time.Duration       // see soon
	issued       atomic.Uint64       // numbers given to requests
	opened       atomic.Int64        // sessions opened
	clients      atomic.Int32        // HTTP clients made
	http         func() *http.Client // the client of all sessions, made when it is first needed

	life context.Context // ends with the pool
	kill context.CancelFunc

	given *config.Upstream // the entry as the pool got it

	mu      sync.Mutex
	owners  []*Pool // those that have it and are not closed, or the last one that was
	closed  bool
	holders map[identity]*holder
	swept   time.Time // when the idle ones were last looked for
}

// How many identities keep a session with one server, beyond which the one
// that was idle for the longest loses it, and how long an identity other than
// nobody in particular keeps it without a call.
const (
	maxHolders = 1000
	idleTime   = 10 * time.Minute
	sweepEvery = time.Minute
)

func newServer(entry *config.Upstream, o Options) *server {
	own := *entry
	if own.ConnectTimeout <= 0 {
		own.ConnectTimeout = config.DefaultConnectTimeout
	}
	if own.Timeout <= 0 {
		own.Timeout = config.DefaultTimeout
	}
	if own.MaxMessageBytes <= 0 {
		own.MaxMessageBytes = config.DefaultMaxMessageBytes
	}
	s := &server{
		entry:   &own,
		given:   entry,
		dial:    o.Dial,
		log:     o.Log.With("server", own.Name),
		redact:  newRedactor(slices.Concat(own.Secrets, urlSecrets(own.URL))),
		answers: o.Answers,
		budget:  o.Memory,
		store:   o.SessionStore,
		observe: o.Session,
		holders: map[identity]*holder{},
		probing: make(chan struct{}, 1),

		discoverTime: discoverTime,
	}
	if s.store == nil && own.Session != nil && own.Session.Store == "file" {
		s.store = fileStore{own.Session.Path}
	}
	s.introduce(o.ClientName, o.ClientVersion)
	s.http = sync.OnceValue(s.newHTTPClient)
	s.authority = newAuthority(s, o)
	s.layers = newLayers(s)
	s.life, s.kill = context.WithCancel(context.Background())
	return s
}

// call calls a tool, through the layers between a caller and the wire.
func (s *server) call(ctx context.Context, tool string, args value.Value) (_ Result, err error) {
	s.counts.calls.Add(1)
	defer func() {
		if err != nil {
			s.counts.errors.Add(1)
		}
	}()
	if s.entry.MaxCallTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.entry.MaxCallTime, errTooSlow)
		defer cancel()
	}
	g, err := s.authority.grant(ctx)
	if err != nil {
		return Result{}, s.failed(ctx, "call", tool, nil, 0, err)
	}
	g.note(ctx)
	return s.layers.call(ctx, g.id, tool, args, func(ctx context.Context) (reply value.Value, sent int, err error) {
		reply, g, sent, err = s.try(ctx, g, tool, args)
		return reply, sent, err
	})
}

// try asks the server once, or once more where it had forgotten the session or
// refused the credentials. It returns the grant that was used last, and how many
// requests went out. Errors are *[Error].
func (s *server) try(ctx context.Context, g *grant, tool string, args value.Value) (reply value.Value, _ *grant, sent int, err error) {
	pass := func(request func() (value.Value, error)) (value.Value, error) {
		return s.layers.pass(ctx, g.id, tool, func() (value.Value, error) {
			reply, err := request()
			if !errors.Is(err, errNotWritten) {
				sent++
			}
			return reply, err
		})
	}
	g, err = s.use(ctx, g, "call", tool, func(ctx context.Context, session *session, g *grant) (err error) {
		if reply, err = session.callTool(ctx, tool, args, pass); err == nil && g.token != "" {
			err = refusedReply(reply)
		}
		return err
	})
	var refused *refusedReplyError
	if errors.As(err, &refused) {
		err = nil // there is no other credential, or it must not be repeated: the result is what the tool says
	}
	if err != nil {
		return value.Value{}, g, sent, err
	}
	return g.cleanReply(reply, s.redact), g, sent, nil
}

// start opens the session before a call needs it.
func (s *server) start(ctx context.Context) error {
	return s.with(ctx, "start", func(context.Context, *session) error { return nil })
}

// tools lists the tools.
func (s *server) tools(ctx context.Context) ([]value.Value, error) {
	var tools []value.Value
	err := s.with(ctx, "list", func(ctx context.Context, session *session) (err error) {
		tools, err = session.tools(ctx)
		return err
	})
	return tools, err
}

// with runs f on the session of the caller's identity.
func (s *server) with(ctx context.Context, op string, f func(context.Context, *session) error) error {
	g, err := s.authority.grant(ctx)
	if err != nil {
		return s.failed(ctx, op, "", nil, 0, err)
	}
	_, err = s.use(ctx, g, op, "", func(ctx context.Context, session *session, _ *grant) error { return f(ctx, session) })
	return err
}

// use runs f on the session of g's identity, and once more for each of three
// reasons: the session was over before anything of f's request was written,
// the server had forgotten it, or it refused the credentials and there are
// others. For the latter two it does so only where the request itself was
// refused or may be repeated: an answer that only reads like that may be that of
// a tool which has done its work. The session is opened again, and the
// credential renewed, in any case. It returns the grant that was used last.
// Errors are *[Error], or a *refusedReplyError that nothing could be done about.
func (s *server) use(ctx context.Context, g *grant, op, tool string, f func(context.Context, *session, *grant) error) (*grant, error) {
	var renewed, reopened, rewritten bool
	again := func(unread bool) bool {
		ok := unread || s.mayRepeat(ctx, g, op, tool)
		if ok && op == "call" {
			s.counts.retries.Add(1)
		}
		return ok
	}
	for {
		h, err := s.hold(g, op, tool)
		if err != nil {
			return g, err
		}
		with := withGrant(ctx, g)
		session, err := h.session(with, tool)
		odd := 0
		if err == nil {
			seen := session.link.seen()
			seen.redact.learn(g.secrets...) // which may be others than those it was opened with
			odd, _ = seen.oddities()
			s.readHints(&h.hints, session, g)
			err = f(with, session, g)
		}
		s.release(h)
		switch {
		case err == nil:
			return g, nil
		case !rewritten && session != nil && errors.Is(err, errNotWritten) && isClosed(session.link.over()):
			rewritten = true
			continue
		case !reopened && session != nil && session.forgotten(err):
			reopened = true
			h.lost(session)
			if again(session.refusedUnread(err)) {
				continue
			}
		}
		hint := ""
		if !renewed {
			renewed = true
			next, why := s.authority.refused(ctx, g, rawCause(err))
			if why == nil {
				g = next
				g.note(ctx)
				if again(refusedUnread(rawCause(err))) {
					continue
				}
				hint = s.renewedHint()
			}
			if refused := new(credentialError); errors.As(why, &refused) {
				err = why
			}
		} else if why := s.authority.refusedAgain(g, rawCause(err)); why != nil {
			err = why
		}
		var failure *Error
		var reply *refusedReplyError
		if errors.As(err, &reply) {
			return g, err
		}
		if !errors.As(err, &failure) {
			failure = s.failed(ctx, op, tool, session, odd, err)
			failure.Hint = cmp.Or(hint, failure.Hint)
			err = failure
		}
		return g, g.clean(err)
	}
}

// rawCause returns the cause of an *[Error] as it was.
func rawCause(err error) error {
	var e *Error
	if errors.As(err, &e) && e.raw != nil {
		return e.raw
	}
	return err
}

// hold returns the holder of g's identity, which release gives back.
func (s *server) hold(g *grant, op, tool string) (*holder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, s.shut(op, tool)
	}
	if now := time.Now(); now.Sub(s.swept) > sweepEvery {
		s.sweep(now)
	}
	h := s.holders[g.id]
	if h == nil {
		s.makeRoom()
		h = &holder{server: s, id: g.id}
		s.holders[g.id] = h
	}
	h.grant.Store(g)
	h.inUse++
	return h, nil
}

func (s *server) release(h *holder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.inUse--; h.inUse == 0 {
		h.used = time.Now()
	}
}

// sweep ends the sessions that nobody has used for long.
func (s *server) sweep(now time.Time) {
	s.swept = now
	for id, h := range s.holders {
		if id != "" && h.inUse == 0 && now.Sub(h.used) > idleTime {
			delete(s.holders, id)
			go h.close(context.Background())
		}
	}
}

// makeRoom ends the session that was idle for the longest where there are too
// many.
func (s *server) makeRoom() {
	if len(s.holders) < maxHolders {
		return
	}
	var oldest *holder
	for _, h := range s.holders {
		if h.inUse == 0 && (oldest == nil || h.used.Before(oldest.used)) {
			oldest = h
		}
	}
	if oldest != nil {
		delete(s.holders, oldest.id)
		go oldest.close(context.Background())
	}
}

// close ends the sessions for good. The end of ctx cuts waiting short.
func (s *server) close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	holders := slices.Collect(maps.Values(s.holders))
	s.mu.Unlock()
	s.kill()
	var wait sync.WaitGroup
	for _, h := range holders {
		wait.Go(func() { h.close(ctx) })
	}
	wait.Wait()
	s.observed.Wait()
	s.layers.close()
	s.closeIdle()
}
