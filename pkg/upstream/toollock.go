package upstream

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// toolLock is what is locked of the tools of a server, and what happens if the
// server lists others. It is nil where nothing is locked.
type toolLock struct {
	locked *lock.Server
	mode   lock.Mode
	log    *slog.Logger

	mu     sync.Mutex
	logged map[string]string // differences that the log has, by tool
}

// newToolLock returns the lock of a server. before is the lock that it had, which
// stays if it says the same: then no session has to list its tools again.
func newToolLock(name string, o Options, before *toolLock, log *slog.Logger) *toolLock {
	locked := o.Lock.Server(name)
	if locked == nil || o.LockMode == lock.Off {
		return nil
	}
	if before != nil && before.mode == o.LockMode && (before.locked == locked || len(before.locked.Diff(locked)) == 0) {
		return before
	}
	return &toolLock{locked: locked, mode: o.LockMode, log: log, logged: map[string]string{}}
}

// checkedTools is how the tools that a session listed compare with the lock.
type checkedTools struct {
	lock    *toolLock
	version int64 // of the list of tools
	at      time.Time
	drift   map[string]string // what differs, for the tools whose calls fail
}

// check compares a list of tools with the lock.
// Secrets are taken out where a tool differs: the file has none.
func (l *toolLock) check(prefix string, tools []value.Value, version int64, redactor *redact.Redactor) *checkedTools {
	c := &checkedTools{lock: l, version: version, at: time.Now(), drift: map[string]string{}}
	listed := map[string]value.Value{}
	twice := map[string]bool{}
	for _, t := range tools {
		if own, ok := strings.CutPrefix(t.Get("name").Str(), prefix); ok && l.locked.Tool(own) != nil {
			twice[own] = !listed[own].IsUndefined()
			listed[own] = t
		}
	}
	for _, t := range l.locked.Tools {
		var text string
		fails := true
		switch now := listed[t.Name]; {
		case now.IsUndefined():
			text = "the server no longer has it"
		case twice[t.Name]:
			text = "the server lists it twice"
		default:
			differences := t.Diff(lock.NewTool(t.Name, now))
			if len(differences) > 0 {
				differences = t.Diff(lock.NewTool(t.Name, redactListed(redactor, now)))
			}
			text = shownDifferences(differences)
			fails = slices.ContainsFunc(differences, func(d lock.Difference) bool { return !d.Documentation || l.mode == lock.Strict })
		}
		if text != "" && fails && l.mode != lock.Warn {
			c.drift[t.Name] = text
		} else {
			l.note(t.Name, text)
		}
	}
	return c
}

// note logs differences of a tool that is called all the same, once.
func (l *toolLock) note(tool, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text == l.logged[tool] {
		return
	}
	l.logged[tool] = text
	if text != "" {
		l.log.Warn("an upstream tool differs from the lock file", "tool", tool, "differences", text)
	}
}

// maxShownDifferences is how many differences a message shows.
const maxShownDifferences = 3

func shownDifferences(all []lock.Difference) string {
	var parts []string
	for i, d := range all {
		if i == maxShownDifferences {
			parts = append(parts, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		parts = append(parts, d.String())
	}
	return strings.Join(parts, "; ")
}

// checkLock returns why the lock does not allow a call of a tool on the session.
// The first call on a session lists the tools, and so does the first one after the
// server has said that they are others; further calls cost two look-ups. While
// calls fail, the tools are listed again after a while: they may be right again.
func (s *session) checkLock(ctx context.Context, call *credential.Call, tool string) error {
	l := s.server.lock.Load()
	if l == nil {
		return nil
	}
	const tries = 3 // for a server whose list changes while it is read
	for range tries {
		c := s.checked.Load()
		current := c != nil && c.lock == l && c.version == s.hints.version()
		if current {
			differs, bad := c.drift[tool]
			if !bad {
				return nil
			}
			if time.Since(c.at) < rereadAfter {
				return s.server.driftError(tool, differs)
			}
		}
		r := s.hints.read(s, call)
		select {
		case <-r.done:
		case <-ctx.Done():
			return wire.NotWritten(context.Cause(ctx))
		}
		if r.err != nil {
			return s.unlistedError(ctx, tool, r.err)
		}
	}
	return s.server.driftError(tool, "the list of tools changes again and again")
}

// unlistedError returns the error of a call whose tool cannot be compared because
// the list of tools cannot be read.
func (s *session) unlistedError(ctx context.Context, tool string, err error) error {
	err = wire.NotWritten(fmt.Errorf("its list of tools, which is compared with the lock file: %w", err))
	if isClosed(s.link.Done()) {
		return err // it is tried again on another session
	}
	failure := s.server.requestError(ctx, "call", tool, s, 0, err)
	failure.Message = "its tools cannot be listed and compared with the lock file: " + failure.Message
	return failure
}

// compareTools compares a list of tools with the lock.
func (s *session) compareTools(tools []value.Value, version int64) {
	if l := s.server.lock.Load(); l != nil && version == s.hints.version() {
		s.checked.Store(l.check(s.server.entry.NamePrefix, tools, version, s.redactor()))
	}
}
