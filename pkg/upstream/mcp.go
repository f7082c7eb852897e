package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// mcpServer is the provider of an MCP server: one session for each identity that calls it.
type mcpServer struct {
	*connector
	observe    func(SessionInfo) func(error) // Options.Session; may be nil
	observed   sync.WaitGroup                // until observers have returned
	repeatable func(tool string) bool        // Options.Repeatable; may be nil
	inputOf    func(value.Value) Input       // Options.Input; may be nil

	all, own    Layer                                                     // all layers, and those without policies: credential and recovery
	ask         func(context.Context, *Call, Caller) (value.Value, error) // tells Options.Request of a request
	dropResults func()                                                    // drops what the cache has

	subscriptions subscriptions
	listWatchers  listWatchers

	lock     atomic.Pointer[toolLock] // that of the newest pool; nil: nothing is locked
	maxSlots int                      // maxSlots; tests have fewer
	issued   atomic.Uint64            // numbers given to requests
	opened   atomic.Int64             // sessions opened

	mu       sync.Mutex
	closed   bool
	slots    map[credential.Identity]*sessionSlot
	sweptAt  time.Time // when the idle ones were last looked for
	openings []Opening // the latest ones
}

var _ Provider = (*mcpServer)(nil)

// How many identities keep a session with one server, beyond which the one
// that was idle for the longest loses it, and how long an identity other than
// the empty one keeps it without a call.
const (
	maxSlots   = 1000
	idleTime   = 10 * time.Minute
	sweepEvery = time.Minute
)

func newMCP(f *faults, o Options) *mcpServer {
	s := &mcpServer{
		connector: newConnector(f, o), observe: o.Session, inputOf: o.Input,
		maxSlots: maxSlots, slots: map[credential.Identity]*sessionSlot{},
	}
	if o.Repeatable != nil {
		s.repeatable = func(tool string) bool { return o.Repeatable(f.entry.Name, tool) }
	}
	return s
}

// Close ends the sessions. The end of ctx cuts waiting short.
func (s *mcpServer) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	slots := slices.Collect(maps.Values(s.slots))
	s.mu.Unlock()
	var wait sync.WaitGroup
	for _, slot := range slots {
		wait.Go(func() { slot.close(ctx) })
	}
	wait.Wait()
	s.subscriptions.wait()
	s.observed.Wait()
	s.closeIdle()
	return nil
}

// checkArguments compares arguments with the schema of their tool. The redactors learn the
// secrets among them.
func (s *mcpServer) checkArguments(ctx context.Context, in Input, tool string, args value.Value, redactors ...callinfo.Secrets) error {
	if args.Kind() != value.Object {
		args = value.FromEntries(nil) // as they are sent
	}
	if secrets := in.Secrets(args); len(secrets) > 0 {
		for _, r := range append(redactors, infoOf(ctx).Secrets) {
			if r != nil {
				r.LearnArguments(secrets...)
			}
		}
	}
	wrong, at, err := in.Check(ctx, args)
	if err != nil {
		return wire.NotWritten(err)
	}
	if wrong == "" {
		return nil
	}
	e := &argumentsError{at}
	return s.newError("call", tool, e.Error()+": "+wrong, "", e)
}

// answer answers a request of the server's. What of the params is decoded counts on the
// account of ctx. Nobody changes them afterwards.
func (s *mcpServer) answer(ctx context.Context, method string, params json.RawMessage) (value.Value, error) {
	if s.answers[method] == nil {
		return value.Undef, fmt.Errorf("%w %s", errUnanswered, method)
	}
	if len(params) == 0 {
		return s.asked(ctx, method, value.Undef)
	}
	v, err := value.ParseLazyBytes(params)
	if err != nil {
		return value.Undef, err
	}
	return s.asked(ctx, method, v)
}

// asked answers what a server asks for to go on with a call.
func (s *mcpServer) asked(ctx context.Context, method string, params value.Value) (value.Value, error) {
	f := s.answers[method]
	if f == nil {
		return value.Undef, fmt.Errorf("%w %s", errUnanswered, method)
	}
	if held := memory.AccountOf(ctx); held != nil {
		params = params.Metered(held)
	}
	return f(ctx, s.entry.Name, params)
}

// sessionOpened notes that a session was opened.
func (s *mcpServer) sessionOpened(from time.Time) {
	s.opened.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.openings) == maxOpenings {
		s.openings = slices.Delete(s.openings, 0, 1)
	}
	s.openings = append(s.openings, Opening{s.entry.Name, from, time.Now()})
}

// listsChanged tells that lists of the server may be others now. What it refused to tell
// of may be there now.
func (s *mcpServer) listsChanged(c ListChange) {
	if c.Resources {
		s.subscriptions.reconsider()
	}
	l := &s.listWatchers
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) == 0 || !c.Prompts && !c.Resources {
		return
	}
	l.next = ListChange{s.entry.Name, l.next.Prompts || c.Prompts, l.next.Resources || c.Resources}
	l.run(func() {
		l.mu.Lock()
		change, all := l.next, slices.Collect(maps.Keys(l.all))
		l.next = ListChange{}
		l.mu.Unlock()
		for _, w := range all {
			w.changed(change)
		}
	})
}

// start opens the session before a call needs it.
func (s *mcpServer) start(ctx context.Context) error {
	return s.onSession(ctx, nil, mcp.MethodInitialize, func(context.Context, *session) error { return nil })
}

// Tools lists the tools.
func (s *mcpServer) Tools(ctx context.Context, info *callinfo.Info) ([]value.Value, error) {
	var tools []value.Value
	err := s.onSession(ctx, info, mcp.MethodToolsList, func(ctx context.Context, session *session) (err error) {
		tools, err = session.tools(ctx)
		return err
	})
	return tools, err
}

// onSession runs f on the session of the caller's identity, with no layers but credential
// and recovery.
func (s *mcpServer) onSession(ctx context.Context, info *callinfo.Info, method mcp.MCPMethod, f func(context.Context, *session) error) error {
	c := &Call{Info: infoFor(ctx, info), Server: s.entry.Name, Method: string(method)}
	_, err := s.own(func(ctx context.Context, c *Call) (Reply, error) {
		return s.attempt(ctx, c, func(ctx context.Context, t *try) error { return f(ctx, t.session) })
	})(withInfo(ctx, c.Info), c)
	return err
}

// acquireSlot returns the slot of the call's identity, until releaseSlot.
func (s *mcpServer) acquireSlot(c *Call) (*sessionSlot, error) {
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

func (s *mcpServer) releaseSlot(slot *sessionSlot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slot.inUse--; slot.inUse == 0 {
		slot.usedAt = time.Now()
	}
}

// closeIdleSlots ends the sessions that nobody has used for long.
func (s *mcpServer) closeIdleSlots(now time.Time) {
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
func (s *mcpServer) evictSlot() {
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
