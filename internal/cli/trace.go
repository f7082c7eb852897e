package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// traceFormats are the values of --trace; alone it means the first.
var traceFormats = []string{"text", "json"}

// newTracer returns hooks that show the walk of a call with info on stderr as it
// happens, without secrets.
func newTracer(a *app, format string, engine *mcpgraph.Engine, info *callinfo.Info, g *graph.Graph) (executor.Hooks, error) {
	var mu sync.Mutex // bodies run side by side
	clean := func(show func(executor.Record)) func(context.Context, *executor.Run, executor.Record) {
		return func(_ context.Context, run *executor.Run, r executor.Record) {
			r = run.MaskedRecord(r)
			r.Arguments = engine.RedactValue(info, r.Arguments)
			r.Output = engine.RedactValue(info, r.Output)
			if r.Err != nil {
				r.Err = errors.New(engine.Redact(info, cause(r.Err).Error()))
			}
			mu.Lock()
			defer mu.Unlock()
			show(r)
		}
	}
	switch format {
	case "json":
		return executor.Hooks{NodeDone: clean(func(r executor.Record) {
			r.Reply = engine.RedactValue(info, r.Reply)
			r.AttemptTimes = slices.Clone(r.AttemptTimes)
			for i := range r.AttemptTimes {
				if err := r.AttemptTimes[i].Err; err != nil {
					r.AttemptTimes[i].Err = errors.New(engine.Redact(info, err.Error()))
				}
			}
			fmt.Fprintln(a.stderr, runs.Execution(r).JSON())
		})}, nil
	case "text":
		t := &textTrace{app: a, width: a.width(a.stderr), idWidth: idWidth(g, 0, map[*graph.Graph]bool{})}
		t.colored, _ = a.color("auto", a.stderr)
		start := func(ctx context.Context, _ *executor.Run, task executor.Task) (context.Context, error) {
			mu.Lock()
			defer mu.Unlock()
			t.start(task)
			return ctx, nil
		}
		return executor.Hooks{NodeStart: start, NodeDone: clean(t.done)}, nil
	}
	return executor.Hooks{}, usagef("--trace is %q; expected %s", format, diag.List(traceFormats))
}

// cause leaves out what the lines show anyway: the nodes and their types.
func cause(err error) error {
	for node := (*executor.NodeError)(nil); errors.As(err, &node); {
		err = node.Err
	}
	return err
}

// textTrace prints one line for each execution, and meanwhile a spinner. A node
// with bodies has a line above them, too.
type textTrace struct {
	*app
	colored bool
	width   int
	idWidth int
	live    []liveNode // under way, the latest last
	running *activity  // the spinner of the last of them
}

// liveNode is an execution under way.
type liveNode struct{ id, text string }

func (t *textTrace) start(task executor.Task) {
	n := task.Node()
	head := t.head(fmt.Sprint(task.Execution()), indented(task.Path(), task.ID()), n.Kind.Name)
	t.running.end()
	if n.Bodies != nil || n.Callee != nil {
		fmt.Fprintln(t.stderr, t.cut(strings.TrimRight(t.head("", indented(task.Path(), task.ID()), n.Kind.Name), " ")))
	}
	t.live = append(t.live, liveNode{task.ID(), strings.TrimPrefix(head, "  ")})
	t.spin()
}

// spin shows the latest execution that is under way.
func (t *textTrace) spin() {
	t.running = nil
	if n := len(t.live); n > 0 {
		t.running = t.begin(t.live[n-1].text)
	}
}

func (t *textTrace) done(r executor.Record) {
	t.running.end()
	id := fmt.Sprintf("%s:%d", r.Frame, r.Execution)
	t.live = slices.DeleteFunc(t.live, func(n liveNode) bool { return n.id == id })
	line := t.head(fmt.Sprint(r.Index), indented(r.NodePath(), id), r.Kind) + fmt.Sprintf("%8s  ", duration(r.End.Sub(r.Start)))
	if r.Try > 1 {
		line += fmt.Sprintf("%d tries  ", r.Try)
	}
	line += t.sent(r, t.width-utf8.RuneCountInString(line))
	switch {
	case r.Err != nil && r.Next != "":
		line += fmt.Sprintf("failed, goes to %s: %s", r.Next, r.Err)
	case r.Err != nil:
		line += "failed: " + r.Err.Error()
	case r.Output.IsUndefined():
		line += "nothing"
	default:
		line += r.Output.Preview(4 * t.width)
	}
	if r.Err == nil && r.Unsent != nil {
		line += "; " + strings.Join(r.Unsent, "; ")
	}
	fmt.Fprintln(t.stderr, red(t.cut(line), t.colored && r.Err != nil))
	t.spin()
}

// indented shows a path by the last of its steps, moved to the right by the
// number of walks around it, which follows from the id of the execution, such as
// "  sizes[3].info".
func indented(path, id string) string {
	walk, _, _ := strings.Cut(id, ":")
	if walk == "" {
		return path
	}
	from := strings.LastIndexAny(path, ".>")
	from = strings.LastIndexAny(path[:max(from, 0)], ".>") + 1 // the body that it is in stands before it
	return strings.Repeat("  ", 1+strings.Count(walk, "/")) + path[from:]
}

// head begins a line: the execution's index, the node and its type.
func (t *textTrace) head(index, node, kind string) string {
	return fmt.Sprintf("%4s  %s  %-9s ", index, pad(textline.Clean(node), t.idWidth), kind)
}

// cut shortens a line to the terminal's width.
func (t *textTrace) cut(s string) string {
	return textline.Shorten(textline.Clean(s), max(t.width, 20))
}

// sent shows the call of a node in at most half of the columns that are left;
// it is empty where the node made none.
func (t *textTrace) sent(r executor.Record, left int) string {
	if r.Arguments.IsUndefined() {
		return ""
	}
	call := fmt.Sprintf("%s.%s %s", r.Server, r.Tool, r.Arguments.Preview(4*t.width))
	return textline.Shorten(textline.Clean(call), max(left/2, 20)) + " → "
}

const maxIDWidth = 32

// idWidth returns how wide the nodes of a graph, of its bodies and of the tools that
// it calls are shown.
func idWidth(g *graph.Graph, around int, seen map[*graph.Graph]bool) int {
	if seen[g] || around > maxIDWidth {
		return 0
	}
	seen[g] = true
	w := 0
	for _, n := range g.Nodes {
		own := utf8.RuneCountInString(n.ID)
		w = max(w, around+own)
		for _, body := range n.Bodies {
			w = max(w, idWidth(body, around+own+len("  [99]."), seen))
		}
		if n.Callee != nil {
			w = max(w, idWidth(n.Callee, around+own+len("  >"), seen))
		}
	}
	return min(w, maxIDWidth)
}

func pad(s string, width int) string {
	return textline.Shorten(s, width) + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

func duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.2fms", float64(d.Nanoseconds())/1e6)
	case d < time.Second:
		return fmt.Sprintf("%.1fms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("%.2fs", d.Seconds())
}
