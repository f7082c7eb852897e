package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
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
			fmt.Fprintln(a.stderr, runs.Execution(g, r).JSON())
		})}, nil
	case "text":
		t := &textTrace{w: a.stderr, width: a.width(a.stderr), idWidth: idWidth(g)}
		if a.isTerminal(a.stderr) {
			t.spinner = &spinner{w: a.stderr}
		}
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
	w       io.Writer
	width   int
	idWidth int
	spinner *spinner // nil where stderr is no terminal
}

func (t *textTrace) start(ctx context.Context, _ *executor.Run, n *graph.Node, index int) (context.Context, error) {
	if t.spinner != nil {
		t.spinner.start(t.cut(t.head(index, n.ID, n.Kind.Name), 12))
	}
	return ctx, nil
}

func (t *textTrace) done(r executor.Record) {
	if t.spinner != nil {
		t.spinner.stop()
	}
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
	fmt.Fprintln(t.w, t.cut(line, 0))
}

// head begins a line: the execution's index, the node's id and its type.
func (t *textTrace) head(index int, id, kind string) string {
	return fmt.Sprintf("%4d  %s  %-9s ", index, pad(oneLine(id), t.idWidth), kind)
}

// cut shortens a line to the terminal's width less a reserve, on one line.
func (t *textTrace) cut(s string, reserve int) string {
	return shorten(oneLine(s), max(t.width-reserve, 20))
}

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

// spinner turns in front of the running node. start and stop alternate.
type spinner struct {
	w    io.Writer
	quit chan struct{}
	done sync.WaitGroup
}

const (
	frames     = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	frameTime  = 100 * time.Millisecond
	clearLine  = "\r\x1b[K"
	frameCount = 10
)

func (s *spinner) start(text string) {
	s.quit = make(chan struct{})
	began := time.Now()
	s.done.Go(func() {
		tick := time.NewTicker(frameTime)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-s.quit:
				return
			case <-tick.C:
				frame := []rune(frames)[i%frameCount]
				fmt.Fprintf(s.w, "%s%c%s%s", clearLine, frame, strings.TrimPrefix(text, " "), duration(time.Since(began)))
			}
		}
	})
}

func (s *spinner) stop() {
	close(s.quit)
	s.done.Wait()
	fmt.Fprint(s.w, clearLine)
}
