package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// traceFormats are the values of --trace; alone it means the first.
var traceFormats = []string{"text", "json"}

// tracer returns hooks that show a walk on stderr as it happens, without secrets.
func (a *app) tracer(format string, engine *mcpgraph.Engine, g *graph.Graph) (executor.Hooks, error) {
	clean := func(show func(executor.Record)) func(context.Context, *executor.Run, executor.Record) {
		return func(ctx context.Context, _ *executor.Run, r executor.Record) {
			r.Arguments = engine.RedactValue(ctx, r.Arguments)
			r.Output = engine.RedactValue(ctx, r.Output)
			if r.Err != nil {
				r.Err = errors.New(engine.Redact(ctx, cause(r.Err).Error()))
			}
			show(r)
		}
	}
	switch format {
	case "json":
		return executor.Hooks{NodeDone: clean(func(r executor.Record) {
			fmt.Fprintln(a.stderr, runs.Execution(r).JSON())
		})}, nil
	case "text":
		t := &textTrace{app: a, width: a.width(a.stderr), idWidth: idWidth(g)}
		t.colored, _ = a.color("auto", a.stderr)
		return executor.Hooks{NodeStart: t.start, NodeDone: clean(t.done)}, nil
	}
	return executor.Hooks{}, usagef("--trace is %q; expected %s", format, diag.List(traceFormats))
}

// cause leaves out what the line says anyway: the node and its type.
func cause(err error) error {
	var node *executor.NodeError
	if errors.As(err, &node) {
		return node.Err
	}
	return err
}

// textTrace prints one line for each execution, and meanwhile a spinner.
type textTrace struct {
	*app
	colored bool
	width   int
	idWidth int
	running *activity
}

func (t *textTrace) start(ctx context.Context, _ *executor.Run, task executor.Task) (context.Context, error) {
	t.running = t.begin(strings.TrimPrefix(t.head(task.Execution(), task.Node().ID, task.Node().Kind.Name), "  "))
	return ctx, nil
}

func (t *textTrace) done(r executor.Record) {
	t.running.end()
	line := t.head(r.Index, r.Node, r.Kind) + fmt.Sprintf("%8s  ", duration(r.End.Sub(r.Start)))
	line += t.sent(r, t.width-utf8.RuneCountInString(line))
	switch {
	case r.Err != nil:
		line += "failed: " + r.Err.Error()
	case r.Output.IsUndefined():
		line += "nothing"
	default:
		line += r.Output.Preview(4 * t.width)
	}
	fmt.Fprintln(t.stderr, red(t.cut(line), t.colored && r.Err != nil))
}

// head begins a line: the execution's index, the node's id and its type.
func (t *textTrace) head(index int, id, kind string) string {
	return fmt.Sprintf("%4d  %s  %-9s ", index, pad(oneLine(id), t.idWidth), kind)
}

// cut shortens a line to the terminal's width.
func (t *textTrace) cut(s string) string { return shorten(oneLine(s), max(t.width, 20)) }

// sent shows the call of a node in at most half of the columns that are left;
// it is empty where the node made none.
func (t *textTrace) sent(r executor.Record, left int) string {
	if r.Arguments.IsUndefined() {
		return ""
	}
	call := fmt.Sprintf("%s.%s %s", r.Server, r.Tool, r.Arguments.Preview(4*t.width))
	return shorten(oneLine(call), max(left/2, 20)) + " → "
}

const maxIDWidth = 32

func idWidth(g *graph.Graph) int {
	w := 0
	for _, n := range g.Nodes {
		w = max(w, utf8.RuneCountInString(n.ID))
	}
	return min(w, maxIDWidth)
}

func pad(s string, width int) string {
	return shorten(s, width) + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// shorten cuts s to width code points, the last of them an ellipsis.
func shorten(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == width {
			return s[:i] + "…"
		}
	}
	return s
}

// oneLine replaces what would break a line or command the terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
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
