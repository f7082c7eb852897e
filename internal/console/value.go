package console

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of what a command shows.
const (
	maxShown   = 64 << 10 // bytes of a value
	maxRecords = 20
)

// printValue evaluates an expression.
func printValue(c *console, expression string) error {
	if expression == "" {
		return errors.New("missing expression; type print EXPR, such as print $.entry")
	}
	scope, err := scopeOf(c)
	if err != nil {
		return err
	}
	v, err := c.session.Eval(c.ctx, scope, expression)
	var wrong *expr.Error
	if errors.As(err, &wrong) && wrong.Offset >= 0 && wrong.Offset <= len(expression) && !strings.Contains(expression, "\n") {
		c.say("  %s", expression)
		fmt.Fprintf(c.Out, "  %s^\n", strings.Repeat(" ", len([]rune(expression[:wrong.Offset]))))
		if wrong.Hint != "" {
			return fmt.Errorf("%s: %s", wrong.Message, wrong.Hint)
		}
		return errors.New(wrong.Message)
	}
	if err != nil {
		return err
	}
	showValue(c, v)
	return nil
}

// showValue shows a value: on one line if it is short.
func showValue(c *console, v value.Value) {
	switch {
	case v.IsUndefined():
		c.say("undefined: there is no such value here")
		return
	case !v.LongerThan(c.Width - 10):
		c.say("%s", v.JSON())
		return
	}
	cut := v.LongerThan(maxShown)
	text := v.Preview(maxShown)
	if !cut {
		text = string(v.AppendIndent(nil, "  "))
	}
	for line := range strings.Lines(text) {
		c.say("%s", strings.TrimRight(line, "\n"))
	}
	if cut {
		c.say("The value is longer than %d KiB: print a part of it.", maxShown>>10)
	}
}

func showDocument(c *console, _ string) error {
	scope, err := scopeOf(c)
	if err != nil {
		return err
	}
	entries := c.session.Document(scope).Entries()
	for i := len(entries) - 1; i >= 0; i-- { // in the order of execution
		c.say("  %s: %s", entries[i].Key, c.preview(entries[i].Value))
	}
	if len(entries) == 0 {
		c.say("no node has run")
	}
	return nil
}

func showVariables(c *console, _ string) error {
	scope, err := scopeOf(c)
	if err != nil {
		return err
	}
	list := c.session.Variables(scope)
	for _, v := range list {
		c.say("  $%s: %s", v.Key, c.preview(v.Value))
	}
	if len(list) == 0 {
		c.say("there are no variables here; bodies of a map have $item and $index")
	}
	return nil
}

// showArguments shows what the innermost tool was called with.
func showArguments(c *console, _ string) error {
	f, err := frameOf(c)
	if err != nil {
		return err
	}
	g := f.Node.Graph
	for g.Owner != nil {
		g = g.Owner.Graph
	}
	if f.Frame == "" {
		showValue(c, c.session.State().Args)
		return nil
	}
	rec, ok := f.Scope.Last(g.Entry.ID)
	if !ok {
		return fmt.Errorf("the entry of tool %q has not run yet; type step", g.Name)
	}
	clean, _ := c.session.Record(rec.Index)
	showValue(c, clean.Output)
	return nil
}

// showRecords lists the latest records, or shows one.
func showRecords(c *console, which string) error {
	if which != "" {
		n, err := strconv.Atoi(which)
		rec, ok := c.session.Record(n)
		if err != nil || !ok {
			return fmt.Errorf("there is no record %s; type records for the list", which)
		}
		showValue(c, runs.Execution(rec))
		return nil
	}
	var list []executor.Record
	for rec := range c.session.Records(0) {
		list = append(list, rec)
		if len(list) > 2*maxRecords {
			list = append(list[:0], list[len(list)-maxRecords:]...)
		}
	}
	list = list[max(0, len(list)-maxRecords):]
	for i := range list {
		rec := &list[i]
		text := "→ " + c.preview(rec.Output)
		switch {
		case rec.Err != nil:
			text = "failed: " + rec.Err.Error()
		case rec.Event != executor.Done:
			text = rec.Event.String()
		}
		c.say("%5d  %s (%s) %s", rec.Index, rec.NodePath(), rec.Kind, text)
	}
	if len(list) == 0 {
		c.say("nothing has run yet")
	}
	return nil
}

// nodeAndValue reads a node and JSON. The value is undefined if there is none.
func nodeAndValue(args, usage string) (node string, v value.Value, err error) {
	node, text := cutWord(args)
	if node == "" {
		return "", value.Undef, errors.New("missing node; type " + usage)
	}
	if text == "" {
		return node, value.Undef, nil
	}
	if v, err = value.ParseStrict(text); err != nil {
		return "", value.Undef, fmt.Errorf("the value is not JSON: %w; strings need quotes; type %s", err, usage)
	}
	return node, v, nil
}

func setOutput(c *console, args string) error {
	const usage = "set NODE JSON"
	node, v, err := nodeAndValue(args, usage)
	switch {
	case err != nil:
		return err
	case v.IsUndefined():
		return errors.New("missing value; type " + usage)
	}
	return c.session.SetOutput(node, v)
}

func pinNode(c *console, args string) error {
	node, v, err := nodeAndValue(args, "pin NODE JSON")
	if err != nil {
		return err
	}
	shown := v
	if v.IsUndefined() {
		f, err := frameOf(c)
		if err != nil {
			return err
		}
		rec, ok := f.Scope.Last(node)
		if !ok || rec.Err != nil || rec.Output.IsUndefined() {
			return fmt.Errorf("node %q has no output here; type pin %s JSON", node, node)
		}
		clean, _ := c.session.Record(rec.Index)
		v, shown = rec.Output, clean.Output
	}
	if err := c.session.Pin(node, v); err != nil {
		return err
	}
	c.say("%s yields %s without being executed, until unpin %s", node, c.preview(shown), node)
	return nil
}

func unpinNode(c *console, node string) error {
	if node == "" {
		return errors.New("missing node; type unpin NODE")
	}
	return c.session.Unpin(node)
}
