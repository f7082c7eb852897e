package upstream

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// hints is which tools may be called twice, as their server says of each: it
// changes nothing (readOnlyHint), or nothing more the second time
// (idempotentHint). They belong to one identity and outlive its sessions: a
// server that has died cannot be asked any more.
type hints struct {
	mu      sync.Mutex
	known   map[string]bool // by the tool's name on the wire; nil: not known
	changes int             // how often the server said that its tools have changed
	reading *reading        // nil: the list is not being read
	failed  time.Time       // when it could not be read; zero where it could
}

// reading is one attempt to read the list of tools.
type reading struct {
	session *session
	done    chan struct{}
}

// rereadAfter is the least time between two attempts to read a list of tools
// that cannot be read.
const rereadAfter = 10 * time.Second

// of reports whether the tool may be called twice, and whether that is known.
func (h *hints) of(name string) (repeatable, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known[name], h.known != nil
}

// version is how often the tools have changed so far.
func (h *hints) version() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changes
}

// keep takes what a list of tools says, which was asked for at that version.
func (h *hints) keep(tools []value.Value, version int) {
	known := make(map[string]bool, len(tools))
	for _, t := range tools {
		a := t.Get("annotations")
		if a.Get("readOnlyHint").Bool() || a.Get("idempotentHint").Bool() {
			known[t.Get("name").Str()] = true
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if version == h.changes {
		h.known, h.failed = known, time.Time{}
	}
}

// drop forgets them: the server said that its tools are others now.
func (h *hints) drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known, h.failed = nil, time.Time{}
	h.changes++
}

// read reads the list of tools on the session with what g grants, or joins who
// does so already.
func (h *hints) read(s *session, g *grant) *reading {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reading != nil && h.reading.session == s {
		return h.reading
	}
	r := &reading{session: s, done: make(chan struct{})}
	h.reading = r
	go func() {
		_, err := s.tools(withGrant(s.life, g)) // which gives them to keep
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.reading == r {
			h.reading = nil
		}
		if err != nil && s.life.Err() == nil && !isClosed(s.link.over()) {
			h.failed = time.Now()
			s.server.log.Debug("the list of tools, which says what may be repeated, cannot be read", "error", s.server.redact.err(err))
		}
		close(r.done)
	}()
	return r
}

// await waits until the list that is being read was read, where one is.
func (h *hints) await(ctx context.Context) {
	h.mu.Lock()
	r := h.reading
	h.mu.Unlock()
	if r == nil {
		return
	}
	select {
	case <-r.done:
	case <-ctx.Done():
	}
}

// readsHints reports whether the tools are listed as soon as a session opens,
// because a call may fail in a way after which the server cannot be asked.
func (s *server) readsHints() bool {
	r := s.entry.Retry
	return r != nil && r.MaxAttempts > 1 && !s.entry.RetryUnsafe
}

// readHints reads the list of tools in the background where it is not known and
// may be needed.
func (s *server) readHints(h *hints, session *session, g *grant) {
	if !s.readsHints() {
		return
	}
	h.mu.Lock()
	wanted := h.known == nil && h.reading == nil && (h.failed.IsZero() || time.Since(h.failed) > rereadAfter)
	h.mu.Unlock()
	if wanted {
		h.read(session, g)
	}
}

// repeatable reports whether a call of the tool that failed like f may be made
// again although the server may have acted on it. It never asks the server,
// which may be dead or hang: what is not known may not be repeated.
func (s *server) repeatable(ctx context.Context, id identity, tool string, f failure) bool {
	s.mu.Lock()
	h := s.holders[id]
	s.mu.Unlock()
	if h == nil {
		return false
	}
	name := s.entry.NamePrefix + tool
	repeatable, known := h.hints.of(name)
	if !known && !slices.Contains(f.names, failedTimeout) { // after that the list has had its time too
		h.hints.await(ctx)
		repeatable, _ = h.hints.of(name)
	}
	return repeatable
}

// mayRepeat reports whether a call that the server may have acted on may be made
// again. What it says of the tool is asked for where it is not known: it has
// answered the call just now.
func (s *server) mayRepeat(ctx context.Context, g *grant, op, tool string) bool {
	if tool == "" || s.entry.RetryUnsafe {
		return true // lists and the like change nothing
	}
	h, err := s.hold(g, op, tool)
	if err != nil {
		return false
	}
	defer s.release(h)
	name := s.entry.NamePrefix + tool
	if repeatable, known := h.hints.of(name); known {
		return repeatable
	}
	session, err := h.session(withGrant(ctx, g), tool)
	if err != nil {
		return false
	}
	select {
	case <-h.hints.read(session, g).done:
	case <-ctx.Done():
	}
	repeatable, _ := h.hints.of(name)
	return repeatable
}

// toolsChanged drops what is known of the server's tools: it has said that they
// are others now.
func (s *server) toolsChanged() {
	s.mu.Lock()
	for _, h := range s.holders {
		h.hints.drop()
	}
	s.mu.Unlock()
	s.layers.changed()
}
