package upstream

import (
	"context"
	"sync/atomic"
)

// hints is which tools a server calls safe to repeat, read when it is first
// needed and again when the list of tools has changed.
type hints struct {
	repeatable atomic.Pointer[map[string]bool]
}

func (h *hints) drop() { h.repeatable.Store(nil) }

// repeatable reports whether the server marks the tool as one that may be
// called twice: it changes nothing (readOnlyHint), or nothing more the second
// time (idempotentHint). Where the list cannot be read it does not.
func (l *layers) repeatable(ctx context.Context, sh *share, tool string) bool {
	known := sh.hints.repeatable.Load()
	if known == nil {
		tools, err := l.server.tools(ctx)
		if err != nil {
			l.server.log.DebugContext(ctx, "the list of tools, which says whether a call may be repeated, cannot be read", "tool", tool, "error", err)
			return false
		}
		found := map[string]bool{}
		for _, t := range tools {
			a := t.Get("annotations")
			if a.Get("readOnlyHint").Bool() || a.Get("idempotentHint").Bool() {
				found[t.Get("name").Str()] = true
			}
		}
		known = &found
		sh.hints.repeatable.Store(known)
	}
	return (*known)[l.server.entry.NamePrefix+tool]
}
