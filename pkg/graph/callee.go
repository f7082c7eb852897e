package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Callee is a tool of the file that a node runs. It is complete once all tools
// are built.
type Callee struct{ graph *Graph }

// CheckArguments returns a *Failure of the name FailArguments where a value does
// not fit the tool's inputSchema, or the error of a check that was given up.
func (c *Callee) CheckArguments(ctx context.Context, args value.Value) error {
	return c.check(ctx, c.graph.Input, FailArguments, "the arguments do not match the inputSchema", args)
}

// CheckResult returns a *Failure of the name FailResult where a value does not fit
// the tool's outputSchema, or the error of a check that was given up.
func (c *Callee) CheckResult(ctx context.Context, result value.Value) error {
	return c.check(ctx, c.graph.Output, FailResult, "the result does not match the outputSchema", result)
}

func (c *Callee) check(ctx context.Context, s *Schema, name, what string, v value.Value) error {
	if s == nil {
		return nil
	}
	err := s.ValidateContext(ctx, v)
	var wrong *SchemaError
	if errors.As(err, &wrong) {
		f := &Failure{Name: name, Message: fmt.Sprintf("%s of %s: %s", what, Quoted(c.graph.Name), wrong)}
		if s == c.graph.Output {
			f.Message += ": " + c.graph.ResultAdvice("")
		}
		return f
	}
	return err
}

// Callee asks for the name of a tool of the file, which the node's Invoke runs.
func (f *Fields) Callee(name, doc string) *Callee {
	n, tool := f.text(StringField, name, doc, nil)
	c := &Callee{}
	if n != nil {
		f.b.calls = append(f.b.calls, calledTool{f.node, n, tool, c})
	}
	return c
}

// Detachable asks whether the tool that the node runs has a run of its own where the
// driver has such runs.
func (f *Fields) Detachable() {
	s := config.Setting{Name: "detached", Doc: "Run the tool as a run of its own if runs are durable: with its own history and limits", Shape: config.BoolShape}
	f.setting(s)
	detached, ds := config.DecodeBool(f.src, s)
	f.reportAll(ds)
	f.node.Detached = detached
}

// calledTool is a node that runs a tool, before that is known.
type calledTool struct {
	node   *Node
	src    *config.Node
	name   string
	callee *Callee
}

// findCallees finds the tools that nodes run.
func findCallees(b *builder, graphs []*Graph) {
	byName := make(map[string]*Graph, len(graphs))
	var tools []string
	for _, g := range graphs {
		if byName[g.Name] == nil {
			byName[g.Name] = g
			if g.Offer == nil {
				tools = append(tools, g.Name)
			}
		}
	}
	names := diag.NewNames(tools)
	for _, c := range b.calls {
		if b.stopped(0) {
			return
		}
		g := byName[c.name]
		if g == nil {
			d := c.src.Problem(diag.CodeUnknownTool, fmt.Sprintf("%s calls tool %q, which does not exist in this file", c.node.name, c.name))
			if c.src.IsGenerated() {
				d.Message = fmt.Sprintf("$call names tool %q, which does not exist in this file", c.name)
			}
			d.Hint = cmp.Or(diag.Meant(names.Nearest(c.name)), "tools of this file are "+names.List(c.name)+"; to call a tool of an upstream server, use an mcp node")
			b.report(d)
			continue
		}
		c.node.Callee, c.callee.graph = g, g
		c.node.toolSrc = c.src
		checkKnownArguments(b, c.node)
	}
}

// checkKnownArguments compares what is known of a node's arguments before any run with
// the inputSchema of the tool that it runs.
func checkKnownArguments(b *builder, n *Node) {
	in := n.Callee.Input
	if in == nil {
		return
	}
	tool := b.callable[in]
	if tool == nil {
		tool = &liveTool{schema: in.src.Value()}
		b.callable[in] = tool
	}
	p, err := tool.partial()
	if err != nil {
		return // reported already
	}
	c := callMisfits{n: n, callee: Quoted(n.Callee.Name), tool: tool}
	for _, w := range p.check(n.args) {
		d := c.diagnostic(w)
		d.Related = append(slices.Clip(d.Related), diag.Related{Pos: in.src.Pos(), Message: "the schema is here"})
		b.report(d)
	}
}
