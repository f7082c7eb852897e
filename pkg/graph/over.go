package graph

import (
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
)

// over marks Fields whose expressions read the arguments of the graph alone, and can
// call tools with $call.
type over struct{}

// compileOver compiles an expression over the arguments of the graph.
func (f *Fields) compileOver(n *config.Node) *Program {
	prog, err := expr.CompileWithCalls(n.Text().String(), f.options()...)
	if err != nil {
		f.rejected(n, diag.CodeExpression, err)
		return nil
	}
	p := &Program{prog: prog, src: n}
	for _, r := range prog.Refs() {
		f.node.given = append(f.node.given, reference{program: p, ref: r})
	}
	for _, found := range prog.Findings() {
		f.node.found = append(f.node.found, finding{program: p, found: found, over: true})
	}
	for _, c := range prog.Calls() {
		if c.Tool != "" {
			continue
		}
		d := n.Problem(diag.CodeComputedCall, "the tool of $call must be a literal text")
		d.Pos, d.End = p.place(nil, c.Offset, c.End)
		d.Hint = `write $call("NAME", {…}); to choose between tools, write one $call for each`
		f.report(d)
	}
	return p
}

// checkGiven reports what expressions over arguments read that is no argument.
func checkGiven(b *reporter, top *Graph) {
	if top.Input == nil {
		return
	}
	var known contents
	for n := range b.each(top) {
		for _, r := range n.given {
			if r.ref.Node == "" || r.ref.Func != "" || n.isFound(r) {
				continue
			}
			if known == nil {
				known = newSchemaContents(top.Input.src.Value())
			}
			first := expr.Step{Name: r.ref.Node, Offset: r.ref.IDOffset, End: r.ref.IDEnd}
			followPath(b, propertyPath{
				program: r.program, path: r.ref.Path, steps: append([]expr.Step{first}, r.ref.Steps...),
				whole:   "the input of " + Quoted(top.Name),
				related: diag.Related{Pos: top.Input.src.Pos(), Message: "which is here"},
			}, known)
		}
	}
}

// calledTools returns the names of the tools that the expressions in a template call
// with $call, in the order of the file: each is where it is written.
func calledTools(n *config.Node) (names []*config.Node) {
	var visit func(n *config.Node)
	visit = func(n *config.Node) {
		for _, item := range n.Items() {
			visit(item)
		}
		for _, field := range n.Fields() {
			if field.Key.String() != exprKey || !field.Value.IsString() {
				visit(field.Value)
				continue
			}
			prog, err := expr.CompileWithCalls(field.Value.Text().String())
			if err != nil {
				continue // reported where it is decoded
			}
			for _, c := range prog.Calls() {
				if c.Tool != "" {
					names = append(names, field.Value.GeneratedAt(c.Tool, c.Offset, c.End))
				}
			}
		}
	}
	visit(n)
	return names
}
