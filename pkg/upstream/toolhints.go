package upstream

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/policy"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// toolHints is which tools may be called twice, as their server says of each: it
// changes nothing (readOnlyHint), or nothing more the second time
// (idempotentHint). They belong to one identity and outlive its sessions: a
// server that has died cannot be asked any more. They also have which tools can only be
// called as tasks, and which arguments tools take.
type toolHints struct {
	mu      sync.Mutex
	known   map[string]bool // by the tool's name on the wire; nil: not known
	tasks   map[string]bool // tools that can only be called as tasks, as known
	inputs  map[string]Input
	changes atomic.Int64 // how often the server said that its tools have changed
	reading *listRead    // nil: the list is not being read
	failed  time.Time    // when it could not be read; zero if it could
}

// listRead is one attempt to read the list of tools.
type listRead struct {
	session *session
	done    chan struct{}
	err     error // set before done is closed
}

// rereadAfter is the least time between two attempts to read a list of tools
// that cannot be read.
const rereadAfter = 10 * time.Second

// lookup reports whether the tool may be called twice, and whether that is known.
func (h *toolHints) lookup(name string) (repeatable, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known[name], h.known != nil
}

// isTaskOnly reports whether the tool can only be called as a task, and whether that is
// known.
func (h *toolHints) isTaskOnly(name string) (only, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tasks[name], h.known != nil
}

// worthReading reports whether the list may be read now: not soon after that failed.
func (h *toolHints) worthReading() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failed.IsZero() || time.Since(h.failed) > rereadAfter
}

// input returns the schema of the tool's arguments, or nil if it is not known.
func (h *toolHints) input(name string) Input {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.inputs[name]
}

// version is how often the tools have changed so far.
func (h *toolHints) version() int64 { return h.changes.Load() }

// isRepeatable reports whether a tool may be called twice, as its server describes it.
func isRepeatable(tool value.Value) bool {
	a := tool.Get("annotations")
	return a.Get("readOnlyHint").Bool() || a.Get("idempotentHint").Bool()
}

// store takes what a list of tools says, which was asked for at that version.
func (h *toolHints) store(tools []value.Value, version int64, inputOf func(schema value.Value) Input) {
	known, inputs := make(map[string]bool, len(tools)), map[string]Input{}
	var tasks map[string]bool
	for _, t := range tools {
		name := t.Get("name").Str()
		if lock.IsTaskOnly(t.Get("execution")) {
			if tasks == nil {
				tasks = map[string]bool{}
			}
			tasks[name] = true
		}
		if isRepeatable(t) {
			known[name] = true
		}
		if inputOf == nil {
			continue
		}
		if in := inputOf(t.Get("inputSchema")); in != nil {
			inputs[name] = in
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if version == h.changes.Load() {
		h.known, h.tasks, h.inputs, h.failed = known, tasks, inputs, time.Time{}
	}
}

// invalidate forgets them: the server said that its tools are others now.
func (h *toolHints) invalidate() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known, h.tasks, h.inputs, h.failed = nil, nil, nil, time.Time{}
	h.changes.Add(1)
}

// read reads the list of tools on the session with the credentials of call, or joins who
// does so already.
func (h *toolHints) read(s *session, call *credential.Call) *listRead {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reading != nil && h.reading.session == s {
		return h.reading
	}
	r := &listRead{session: s, done: make(chan struct{})}
	h.reading = r
	go func() {
		_, err := s.tools(withCall(s.life, call)) // which stores the hints
		r.err = err
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.reading == r {
			h.reading = nil
		}
		if err != nil && s.life.Err() == nil && !isClosed(s.link.Done()) {
			h.failed = time.Now()
			s.server.log.Debug("cannot list tools to find the calls that are safe to retry", "error", s.server.redact.Err(err))
		}
		close(r.done)
	}()
	return r
}

// await waits until the list that is being read was read, if one is.
func (h *toolHints) await(ctx context.Context) {
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

// needsHints reports whether the tools are listed as soon as a session opens:
// they are compared with the lock, or a call may fail in a way after which the
// server cannot be asked.
func (s *mcpServer) needsHints() bool {
	r := s.entry.Retry
	return s.lock.Load() != nil || r != nil && r.MaxAttempts > 1 && !s.entry.RetryUnsafe
}

// prefetchHints reads the list of tools in the background where it is not known and
// may be needed.
func (s *mcpServer) prefetchHints(h *toolHints, session *session, call *credential.Call) {
	if !s.needsHints() {
		return
	}
	h.mu.Lock()
	wanted := h.known == nil && h.reading == nil && (h.failed.IsZero() || time.Since(h.failed) > rereadAfter)
	h.mu.Unlock()
	if wanted {
		h.read(session, call)
	}
}

// isRepeatable reports whether a call of the tool that failed like f may be made
// again although the server may have acted on it. It never asks the server,
// which may be dead or hang: what is not known may not be repeated.
func (s *mcpServer) isRepeatable(ctx context.Context, c *Call, f policy.Failure) bool {
	s.mu.Lock()
	slot := s.slots[c.As.Identity]
	s.mu.Unlock()
	var repeatable, known bool
	if slot != nil {
		name := s.entry.NamePrefix + c.Name
		repeatable, known = slot.hints.lookup(name)
		if !known && !slices.Contains(f.Names, failedTimeout) { // after that the list has had its time too
			slot.hints.await(ctx)
			repeatable, known = slot.hints.lookup(name)
		}
	}
	if !known && s.repeatable != nil {
		return s.repeatable(c.Name)
	}
	return repeatable
}

// MayRepeat reports whether a call that the server may have acted on may be made
// again. What it says of the tool is asked for where it is not known: it has
// answered the call just now.
func (s *mcpServer) MayRepeat(ctx context.Context, c *Call) bool {
	slot, err := s.acquireSlot(c)
	if err != nil {
		return false
	}
	defer s.releaseSlot(slot)
	name := s.entry.NamePrefix + c.Name
	if repeatable, known := slot.hints.lookup(name); known {
		return repeatable
	}
	session, err := slot.session(withCall(ctx, c.As), c)
	if err != nil {
		return false
	}
	select {
	case <-slot.hints.read(session, c.As).done:
	case <-ctx.Done():
	}
	repeatable, _ := slot.hints.lookup(name)
	return repeatable
}

// toolsChanged drops what is known of the server's tools: it has said that they
// are others now.
func (s *mcpServer) toolsChanged() {
	s.mu.Lock()
	for _, slot := range s.slots {
		slot.hints.invalidate()
	}
	s.mu.Unlock()
	s.dropResults()
}
