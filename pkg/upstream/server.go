package upstream

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// server is one entry of mcpServers: its settings, what stands between a
// caller and the wire, and one session for each identity that calls it.
// Nothing is started before the first call.
type server struct {
	entry     *config.Upstream
	client    mcp.Implementation
	dial      func(context.Context, *config.Upstream) (io.ReadWriteCloser, error)
	log       *slog.Logger
	redact    *redactor
	authority *authority // what a call may carry
	layers    *layers    // cache, rate limit, circuit breaker, retry, calls in flight; nil: none
	counts    counters

	life context.Context // ends with the pool
	kill context.CancelFunc

	mu      sync.Mutex
	closed  bool
	holders map[identity]*holder
}

// maxHolders is how many identities keep a session with one server. Beyond it
// the one that was idle for the longest loses its session.
const maxHolders = 1000

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
		client:  mcp.Implementation{Name: o.ClientName, Version: o.ClientVersion},
		dial:    o.Dial,
		log:     o.Log.With("server", own.Name),
		redact:  newRedactor(own.Secrets),
		holders: map[identity]*holder{},
	}
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
	return s.layers.call(ctx, g.id, tool, args, func(ctx context.Context) (value.Value, error) {
		return s.callOnce(ctx, g, tool, args)
	})
}

// callOnce asks the server once, or twice where it had forgotten the session
// or refused the credentials. Errors are *[Error].
func (s *server) callOnce(ctx context.Context, g *grant, tool string, args value.Value) (value.Value, error) {
	var reply value.Value
	err := s.use(ctx, g, "call", tool, func(session *session) (err error) {
		reply, err = session.callTool(ctx, s.entry.NamePrefix+tool, args, s.entry.Timeout)
		return err
	})
	return reply, err
}

// start opens the session before a call needs it.
func (s *server) start(ctx context.Context) error {
	g, err := s.authority.grant(ctx)
	if err != nil {
		return s.failed(ctx, "start", "", nil, 0, err)
	}
	return s.use(ctx, g, "start", "", func(*session) error { return nil })
}

// tools lists the tools.
func (s *server) tools(ctx context.Context) ([]value.Value, error) {
	g, err := s.authority.grant(ctx)
	if err != nil {
		return nil, s.failed(ctx, "list", "", nil, 0, err)
	}
	var tools []value.Value
	err = s.use(ctx, g, "list", "", func(session *session) (err error) {
		tools, err = session.tools(ctx, s.entry.Timeout)
		return err
	})
	return tools, err
}

// hints returns what the server says of a tool (the annotations of tools/list),
// undefined where it says nothing. The list is read when it is first needed.
func (s *server) hints(ctx context.Context, tool string) value.Value {
	tools, err := s.tools(ctx)
	if err != nil {
		return value.Undef
	}
	for _, t := range tools {
		if t.Get("name").Str() == s.entry.NamePrefix+tool {
			return t.Get("annotations")
		}
	}
	return value.Undef
}

// use runs f on the session of g's identity. Where the session turns out to be
// over before anything of f's request was written, f runs once more on a new
// one.
func (s *server) use(ctx context.Context, g *grant, op, tool string, f func(*session) error) error {
	h, err := s.hold(g, op, tool)
	if err != nil {
		return err
	}
	defer s.release(h)
	for again := true; ; again = false {
		session, err := h.session(ctx, tool)
		if err != nil {
			return err
		}
		odd, _ := session.link.seen().oddities()
		err = f(session)
		if err == nil {
			return nil
		}
		if again && errors.Is(err, errNotWritten) && isClosed(session.link.over()) {
			continue
		}
		return s.failed(ctx, op, tool, session, odd, err)
	}
}

// hold returns the holder of g's identity, which release gives back.
func (s *server) hold(g *grant, op, tool string) (*holder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, s.shut(op, tool)
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

// openLink opens what the entry says: the first phase.
func (s *server) openLink(ctx context.Context) (link, error) {
	d := &diary{redact: s.redact, log: s.log}
	if s.dial != nil {
		conn, err := s.dial(ctx, s.entry)
		if err != nil {
			return nil, err
		}
		if conn != nil {
			return openConn(conn, s.entry, d), nil
		}
	}
	if s.entry.Transport != config.Stdio {
		return nil, errTransport
	}
	p, err := openProcess(s.entry, d)
	if err != nil {
		return nil, err // not p: it is a nil pointer
	}
	return p, nil
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
	s.layers.close()
}
