package toolkit

import (
	"context"
	"slices"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/diff"
	"github.com/mcpgraph/mcpgraph/internal/graphedit"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of the history.
const (
	maxChanges      = 50
	maxHistoryBytes = 64 << 20
)

// change is an edit that was saved.
type change struct {
	action, tool string
	time         time.Time
	before       []byte
	from, to     edit.Revision
	diff         string
}

// remember keeps an edit for history and undo.
func (t *Toolkit) remember(p planned, before []byte, r *graphedit.Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.history = append(t.history, change{
		action: p.action, tool: p.tool, time: time.Now(), before: slices.Clone(before),
		from: edit.RevisionOf(before), to: r.Revision, diff: r.Diff,
	})
	size := 0
	for i, c := range slices.Backward(t.history) {
		if size += len(c.before) + len(c.diff); size > maxHistoryBytes || len(t.history)-i > maxChanges {
			t.history = slices.Delete(t.history, 0, i+1)
			break
		}
	}
}

// since returns what differs in a text from a revision of this session; empty if that
// is not known.
func (t *Toolkit) since(r edit.Revision, now []byte) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.history {
		if c.from == r {
			return diff.Unified(string(r), "now", string(c.before), string(now), false)
		}
	}
	return ""
}

func undo(_ context.Context, c *call) (value.Value, error) {
	c.file.lock.Lock()
	defer c.file.lock.Unlock()
	s, err := c.file.read()
	if err != nil {
		return value.Undef, err
	}
	c.mu.Lock()
	if len(c.history) == 0 {
		c.mu.Unlock()
		return refused("there is no edit of this session to take back"), nil
	}
	last := c.history[len(c.history)-1]
	c.mu.Unlock()
	if s.revision != last.to {
		return refused("the file has changed since the last edit of this session; change it with patchGraphTool instead",
			"revision", string(s.revision)), nil
	}
	if err := edit.Write(c.opts.Path, s.revision, last.before); err != nil {
		return value.Undef, err
	}
	c.mu.Lock()
	c.history = c.history[:len(c.history)-1]
	c.mu.Unlock()
	delete(c.file.seen, last.tool)
	return object("success", true, "message", "took back: "+last.action+" "+last.tool, "revision", string(last.from),
		"diff", diff.Unified("before", "after", string(s.text), string(last.before), false)), nil
}

func history(_ context.Context, c *call) (value.Value, error) {
	limit := 10
	if n := c.args.Get("limit"); n.Kind() == value.Number {
		limit = whole(n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	items := []value.Value{}
	for _, one := range slices.Backward(c.history) {
		if len(items) == limit {
			break
		}
		items = append(items, object("action", one.action, "tool", one.tool, "time", one.time.UTC().Format(time.RFC3339),
			"revision", string(one.to), "diff", cutText(one.diff, defaultMaxBytes/limit)))
	}
	return object("items", items), nil
}
