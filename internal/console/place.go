package console

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

var reasons = map[debug.Why]string{
	debug.AtStart: "start", debug.AtBreakpoint: "breakpoint", debug.AtStep: "step", debug.AtPause: "pause",
	debug.AtFailure: "failed", debug.AtEnter: "entered the tool",
}

// showPause shows where the run is paused: the node and the line at which it begins.
func showPause(c *console, p *debug.Pause) {
	stack := c.session.Stack()
	if len(stack) == 0 {
		return
	}
	at := stack[0]
	attempt := ""
	if p.Attempt > 1 {
		attempt = fmt.Sprintf(", attempt %d", p.Attempt)
	}
	c.say("> %s %s%s (%s)", p.Path, describe(at.Node), attempt, reasons[p.Why])
	if p.Text != "" && p.Why != debug.AtFailure {
		c.say("  %s", p.Text)
	}
	excerpt(c, at.Node, 1)
	for _, q := range c.session.Questions() {
		c.say("  %s asks: %s (continue to answer it)", q.Path, q.Text())
	}
}

// describe returns the type of a node, what it calls and where it stands.
func describe(n *graph.Node) string {
	calls := ""
	switch {
	case n.Server != "":
		calls = fmt.Sprintf(", %s.%s", n.Server, n.Tool)
	case n.Callee != nil:
		calls = ", tool " + n.Callee.Name
	}
	return fmt.Sprintf("(%s%s) at %s:%d", n.Kind.Name, calls, n.Graph.File, n.Pos.Line)
}

// maxListed is how many lines of a node are shown.
const maxListed = 200

// excerpt shows the first lines of a node with their numbers, no more than most.
func excerpt(c *console, n *graph.Node, most int) {
	lines := bytes.Split(c.Sources[n.Graph.File], []byte("\n"))
	from, to := n.Pos.Line, n.End().Line
	if n.End().Col <= 1 {
		to--
	}
	to = min(max(to, from), len(lines))
	for to > from && len(bytes.TrimSpace(lines[to-1])) == 0 {
		to--
	}
	for i := from; i <= to; i++ {
		if i-from == most && most < to-from+1 {
			if most > 1 {
				c.say("       … %d more lines", to-i+1)
			}
			return
		}
		mark := "  "
		if i == from {
			mark = "=>"
		}
		fmt.Fprintf(c.Out, "%s%5d  %s\n", mark, i, c.Clean(strings.TrimRight(string(lines[i-1]), "\r")))
	}
}

// frameOf returns the frame that up and down have chosen.
func frameOf(c *console) (debug.StackFrame, error) {
	stack := c.session.Stack()
	if len(stack) == 0 {
		return debug.StackFrame{}, errNotPaused
	}
	c.depth = min(c.depth, len(stack)-1)
	return stack[c.depth], nil
}

// scopeOf returns what the expressions of the chosen frame see.
func scopeOf(c *console) (executor.Scope, error) {
	f, err := frameOf(c)
	return f.Scope, err
}

// moveFrame chooses another frame, n outwards.
func moveFrame(c *console, n int) error {
	stack := c.session.Stack()
	switch to := c.depth + n; {
	case len(stack) == 0:
		return errNotPaused
	case to < 0:
		return fmt.Errorf("this is the innermost frame; type up for the one around it, or where for all")
	case to >= len(stack):
		return fmt.Errorf("this is the outermost frame, that of the tool; type down for an inner one, or where for all")
	default:
		c.depth = to
	}
	showFrame(c, c.depth, stack[c.depth])
	excerpt(c, stack[c.depth].Node, 1)
	return nil
}

func showFrame(c *console, i int, f debug.StackFrame) {
	mark := " "
	if i == c.depth {
		mark = "*"
	}
	c.say("%s%d  %s %s", mark, i, f.Path, describe(f.Node))
}

// where shows the frames from the node to the tool.
func where(c *console, _ string) error {
	stack := c.session.Stack()
	if len(stack) == 0 {
		return errNotPaused
	}
	c.depth = min(c.depth, len(stack)-1)
	for i, f := range stack {
		showFrame(c, i, f)
	}
	return nil
}

// listSource shows a node as it stands in the file.
func listSource(c *console, name string) error {
	f, err := frameOf(c)
	if err != nil {
		return err
	}
	nodes := []*graph.Node{f.Node}
	if name != "" {
		if nodes, err = c.session.Nodes(name); err != nil {
			return err
		}
	}
	for _, n := range nodes {
		excerpt(c, n, maxListed)
	}
	return nil
}
