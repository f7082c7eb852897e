package upstream

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// How long to wait before a server that keeps dying is started again: not at
// all the first time, then firstDelay, and twice as long each time.
const (
	firstDelay = 250 * time.Millisecond
	maxDelay   = 10 * time.Second
	// wellAfter is how long a session must have lasted to count as a good one.
	wellAfter = 30 * time.Second
)

// server is one entry of mcpServers: its settings and the one session that all
// calls share. Nothing is started before the first call.
type server struct {
	entry  *config.Upstream
	client mcp.Implementation
	dial   func(context.Context, *config.Upstream) (io.ReadWriteCloser, error)
	log    *slog.Logger
	redact *redactor
	slots  chan struct{} // a call in flight holds one; nil without a limit

	life context.Context // ends with the pool
	kill context.CancelFunc

	mu      sync.Mutex
	closed  bool
	current *session
	opening *opening
	born    time.Time // of the current session
	deaths  int       // in a row, of sessions that did not last
}

// opening is one attempt to open a session, which any number of calls await.
type opening struct {
	done    chan struct{}
	session *session
	err     *Error
}

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
		entry:  &own,
		client: mcp.Implementation{Name: o.ClientName, Version: o.ClientVersion},
		dial:   o.Dial,
		log:    o.Log.With("server", own.Name),
		redact: newRedactor(own.Secrets),
	}
	if own.MaxConcurrency > 0 {
		s.slots = make(chan struct{}, own.MaxConcurrency)
	}
	s.life, s.kill = context.WithCancel(context.Background())
	return s
}

// call calls a tool, through the layers between a caller and the wire.
func (s *server) call(ctx context.Context, tool string, args value.Value) (value.Value, error) {
	if s.entry.MaxCallTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.entry.MaxCallTime, errTooSlow)
		defer cancel()
	}
	if s.slots != nil {
		// Senders are served in the order in which they came.
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
			return value.Value{}, s.stopped(ctx, "call", tool, "while it waited for a free slot (maxConcurrency)")
		}
	}
	var reply value.Value
	err := s.use(ctx, "call", tool, func(session *session) (err error) {
		reply, err = session.callTool(ctx, s.entry.NamePrefix+tool, args, s.entry.Timeout)
		return err
	})
	return reply, err
}

// tools lists the tools.
func (s *server) tools(ctx context.Context) ([]value.Value, error) {
	var tools []value.Value
	err := s.use(ctx, "list", "", func(session *session) (err error) {
		tools, err = session.tools(ctx, s.entry.Timeout)
		return err
	})
	return tools, err
}

// use runs f on the shared session. Where the session turns out to be over
// before anything of f's request was written, f runs once more on a new one.
func (s *server) use(ctx context.Context, op, tool string, f func(*session) error) error {
	for again := true; ; again = false {
		session, err := s.session(ctx, tool)
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

// session returns the shared session and opens it where there is none.
func (s *server) session(ctx context.Context, tool string) (*session, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, s.shut("start", tool)
	}
	if s.current != nil && !isClosed(s.current.link.over()) {
		defer s.mu.Unlock()
		return s.current, nil
	}
	if s.opening == nil {
		if s.current != nil {
			s.buried(time.Since(s.born))
		}
		s.opening = &opening{done: make(chan struct{})}
		go s.open(s.opening, s.delay())
	}
	o := s.opening
	s.mu.Unlock()
	select {
	case <-o.done:
	case <-ctx.Done():
		return nil, s.stopped(ctx, "start", tool, "while the server was being started")
	}
	if o.err != nil {
		err := *o.err // each call names its own tool
		err.Tool = tool
		return nil, &err
	}
	return o.session, nil
}

// buried forgets the session, which lived for that long.
func (s *server) buried(age time.Duration) {
	s.current = nil
	s.deaths++
	if age >= wellAfter {
		s.deaths = 1
	}
}

// delay is how long the next start has to wait.
func (s *server) delay() time.Duration {
	if s.deaths < 2 {
		return 0
	}
	return min(firstDelay<<min(s.deaths-2, 16), maxDelay)
}

// open opens a session for all calls that wait for it, whatever becomes of
// them.
func (s *server) open(o *opening, delay time.Duration) {
	o.session, o.err = s.connect(delay)
	s.mu.Lock()
	s.opening = nil
	switch {
	case o.err == nil:
		s.current, s.born = o.session, time.Now()
	case o.err.Op == "handshake": // it did start
		s.deaths++
	}
	closed := s.closed
	s.mu.Unlock()
	if closed && o.session != nil {
		o.session.link.end(s.life)
		o.session, o.err = nil, s.shut("start", "")
	}
	close(o.done)
}

func (s *server) connect(delay time.Duration) (*session, *Error) {
	if delay > 0 {
		s.log.Warn("the server keeps ending; waiting before it is started again", "delay", delay)
		select {
		case <-time.After(delay):
		case <-s.life.Done():
			return nil, s.shut("start", "")
		}
	}
	started := time.Now()
	ctx, cancel := context.WithTimeout(s.life, s.entry.ConnectTimeout)
	defer cancel()
	link, err := s.openLink(ctx)
	if err != nil {
		return nil, s.notStarted(err)
	}
	session, err := openSession(ctx, link, s.client)
	if err != nil {
		failure := s.notInitialized(ctx, link, err)
		link.end(canceled)
		return nil, failure
	}
	s.log.Debug("connected", "after", time.Since(started))
	return session, nil
}

// canceled is a context for closing something at once.
var canceled = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

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

// close ends the session for good. The end of ctx cuts waiting short.
func (s *server) close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	session, o := s.current, s.opening
	s.mu.Unlock()
	s.kill()
	if o != nil {
		<-o.done
	}
	if session != nil {
		session.link.end(ctx)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
