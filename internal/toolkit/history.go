package toolkit

import (
	"context"
	"slices"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/diff"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// change is an edit that was saved.
type change struct {
	action, tool string
	time         time.Time
	before       []byte
	from, to     edit.Revision
	diff         string
	renamed      string // the name that the edit gave the tool; empty: it kept its own
}

func undo(ctx context.Context, c *call) (value.Value, error) {
	c.file.lock.Lock()
	defer c.file.lock.Unlock()
	s, err := c.file.read(ctx)
	if err != nil {
		return value.Undef, err
	}
	own := sessionOf(c)
	if len(own.history) == 0 {
		return refused("there is no edit of this session to take back"), nil
	}
	last := own.history[len(own.history)-1]
	if s.revision != last.to {
		return refused("the file has changed since the last edit of this session; change it with patchGraphTool instead",
			"revision", string(s.revision)), nil
	}
	if err := edit.Write(c.opts.Path, s.revision, last.before); err != nil {
		return value.Undef, err
	}
	own.history = own.history[:len(own.history)-1]
	own.note(last.tool, value.Undef)
	message := "took back: " + last.action + " " + last.tool
	if last.renamed != "" {
		message += renameInTests(c.Toolkit, last.renamed, last.tool)
	}
	return value.ObjectOf("success", true, "message", message, "revision", string(last.from),
		"diff", diff.Unified("before", "after", string(s.text), string(last.before), false)), nil
}

func history(_ context.Context, c *call) (value.Value, error) {
	limit := 10
	if n := c.args.Get("limit"); n.Kind() == value.Number {
		limit = whole(n)
	}
	c.file.lock.Lock()
	defer c.file.lock.Unlock()
	items := []value.Value{}
	for _, one := range slices.Backward(sessionOf(c).history) {
		if len(items) == limit {
			break
		}
		items = append(items, value.ObjectOf("action", one.action, "tool", one.tool, "time", one.time.UTC().Format(time.RFC3339),
			"revision", string(one.to), "diff", cutText(one.diff, defaultMaxBytes/limit)))
	}
	return value.ObjectOf("items", items), nil
}
