package upstream

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/policy"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// server is one entry of mcpServers: its settings, what stands between a
// caller and the wire, and one session for each identity that calls it.
// Nothing is started before the first call.
type server struct {
	entry       *config.Upstream
	dial        func(context.Context, *config.Upstream) (io.ReadWriteCloser, error)
	log         *slog.Logger
	redact      *redact.Redactor
	credentials *credential.Resolver // what a call may carry
	layers      *policy.Layers       // cache, rate limit, circuit breaker, retry, calls in flight; nil: none
	counters    counters
	answers     map[string]Answer
	budget      *memory.Budget                  // nil: no bounds
	store       SessionStore                    // nil: sessions end with the pool
	observe     func(SessionInfo) func(error)   // Options.Session; may be nil
	request     requestObserver                 // Options.Request; may be nil
	intercept   Intercept                       // nil: calls go to the server
	repeatable  func(tool string) bool          // Options.Repeatable; may be nil
	inputOf     func(value.Value) Input         // Options.Input; may be nil
	lockedInput func(server, tool string) Input // Options.LockedInput; may be nil
	observed    sync.WaitGroup                  // until observers have returned

	subscriptions subscriptions
	listWatchers  listWatchers

	// What servers learn of us, as JSON: our name, our capabilities, and both
	// of them as members of _meta, without and with the tasks extension.
	clientInfo, capabilities, modernMeta, modernTaskMeta string

	lock    atomic.Pointer[toolLock] // that of the newest pool; nil: nothing is locked
	era     atomic.Int32             // how the server wants to be spoken to
	probing chan struct{}            // full while one caller finds out the era

	discoverTimeout time.Duration       // see fallbackDelay
	maxSlots        int                 // maxSlots; tests have fewer
	issued          atomic.Uint64       // numbers given to requests
	opened          atomic.Int64        // sessions opened
	clients         atomic.Int32        // HTTP clients made
	http            func() *http.Client // the client of all sessions, made when it is first needed

	life   context.Context // ends with the pool
	cancel context.CancelFunc

	original *config.Upstream // the entry as the pool got it

	mu       sync.Mutex
	pools    []*Pool // those that have it and are not closed, or the last one that was
	closed   bool
	slots    map[credential.Identity]*sessionSlot
	sweptAt  time.Time // when the idle ones were last looked for
	openings []Opening // the latest ones
}

// How many identities keep a session with one server, beyond which the one
// that was idle for the longest loses it, and how long an identity other than
// the empty one keeps it without a call.
const (
	maxSlots   = 1000
	idleTime   = 10 * time.Minute
	sweepEvery = time.Minute
)

func newServer(entry *config.Upstream, o Options) *server {
	settings := *entry
	if settings.ConnectTimeout <= 0 {
		settings.ConnectTimeout = config.DefaultConnectTimeout
	}
	if settings.Timeout <= 0 {
		settings.Timeout = config.DefaultTimeout
	}
	if settings.MaxMessageBytes <= 0 {
		settings.MaxMessageBytes = config.DefaultMaxMessageBytes
	}
	s := &server{
		entry:    &settings,
		original: entry,
		dial:     o.Dial,
		log:      o.Log.With("server", settings.Name),
		redact:   redact.New(slices.Concat(settings.Secrets, redact.URLSecrets(settings.URL))),
		answers:  o.Answers,
		budget:   o.Memory,
		store:    o.SessionStore,
		observe:  o.Session,
		request:  o.Request,

		intercept: o.Intercept, inputOf: o.Input, lockedInput: o.LockedInput,

		slots:   map[credential.Identity]*sessionSlot{},
		probing: make(chan struct{}, 1),

		discoverTimeout: discoverTimeout, maxSlots: maxSlots,
	}
	if s.store == nil && settings.Session != nil && settings.Session.Store == "file" {
		s.store = fileStore{settings.Session.Path}
	}
	if o.Repeatable != nil {
		s.repeatable = func(tool string) bool { return o.Repeatable(settings.Name, tool) }
	}
	s.describeClient(o.ClientName, o.ClientVersion)
	s.http = sync.OnceValue(s.newHTTPClient)
	s.life, s.cancel = context.WithCancel(context.Background())
	s.credentials = credential.New(s.credentialOptions(o))
	s.layers = policy.New(s.policyOptions())
	return s
}

// credentialOptions returns what the server's credentials are resolved with.
func (s *server) credentialOptions(o Options) credential.Options {
	out := credential.Options{
		Entry: s.entry, Redact: s.redact, Log: s.log, Life: s.life, TokenFile: o.TokenFile, OpenBrowser: o.OpenBrowser,
		LockedIssuer: s.lockedIssuer,
	}
	if source := o.Credentials[s.entry.Name]; source != nil {
		out.Source = func(ctx context.Context, info *callinfo.Info, refresh bool) (credential.Token, error) {
			t, err := source.Token(ctx, info, s.entry.Name, refresh)
			return credential.Token(t), err
		}
	}
	return out
}

// start opens the session before a call needs it.
func (s *server) start(ctx context.Context) error {
	return s.onSession(ctx, nil, mcp.MethodInitialize, func(context.Context, *session) error { return nil })
}

// tools lists the tools.
func (s *server) tools(ctx context.Context, info *callinfo.Info) ([]value.Value, error) {
	var tools []value.Value
	err := s.onSession(ctx, info, mcp.MethodToolsList, func(ctx context.Context, session *session) (err error) {
		tools, err = session.tools(ctx)
		return err
	})
	return tools, err
}

// onSession runs f on the session of the caller's identity, with no layers but credential
// and recovery.
func (s *server) onSession(ctx context.Context, info *callinfo.Info, method mcp.MCPMethod, f func(context.Context, *session) error) error {
	c := &Call{Info: infoFor(ctx, info), Server: s.entry.Name, Method: string(method)}
	_, err := s.identified(s.resolved, s.recovered(func(ctx context.Context, c *Call) (Reply, error) {
		return s.attempt(ctx, c, func(ctx context.Context, t *try) error { return f(ctx, t.session) })
	}))(withInfo(ctx, c.Info), c)
	return err
}

// acquireSlot returns the slot of the call's identity, until releaseSlot.
func (s *server) acquireSlot(c *Call) (*sessionSlot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, s.closedError(opOf(c), c.Tool())
	}
	if now := time.Now(); now.Sub(s.sweptAt) > sweepEvery {
		s.closeIdleSlots(now)
	}
	slot := s.slots[c.As.Identity]
	if slot == nil {
		s.evictSlot()
		slot = &sessionSlot{server: s, id: c.As.Identity}
		s.slots[c.As.Identity] = slot
	}
	slot.credentials.Store(c.As)
	slot.inUse++
	return slot, nil
}

func (s *server) releaseSlot(slot *sessionSlot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slot.inUse--; slot.inUse == 0 {
		slot.usedAt = time.Now()
	}
}

// isIdle reports whether nobody uses the slot now. The server is locked.
func (slot *sessionSlot) isIdle() bool { return slot.inUse == 0 && slot.watched.Load() == 0 }

// closeIdleSlots ends the sessions that nobody has used for long.
func (s *server) closeIdleSlots(now time.Time) {
	s.sweptAt = now
	for id, slot := range s.slots {
		if id != "" && slot.isIdle() && now.Sub(slot.usedAt) > idleTime {
			delete(s.slots, id)
			go slot.close(context.Background())
		}
	}
}

// evictSlot ends the session that was idle for the longest where there are too
// many.
func (s *server) evictSlot() {
	if len(s.slots) < s.maxSlots {
		return
	}
	var oldest *sessionSlot
	for _, slot := range s.slots {
		if slot.isIdle() && (oldest == nil || slot.usedAt.Before(oldest.usedAt)) {
			oldest = slot
		}
	}
	if oldest != nil {
		delete(s.slots, oldest.id)
		go oldest.close(context.Background())
	}
}

// close ends the sessions for good. The end of ctx cuts waiting short.
func (s *server) close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	holders := slices.Collect(maps.Values(s.slots))
	s.mu.Unlock()
	s.cancel()
	var wait sync.WaitGroup
	for _, slot := range holders {
		wait.Go(func() { slot.close(ctx) })
	}
	wait.Wait()
	s.subscriptions.wait()
	s.observed.Wait()
	s.layers.Close()
	s.closeIdle()
}
