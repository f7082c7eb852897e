package graph

import (
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
)

// finding is a part of a program that compiles and cannot do what it was meant
// for.
type finding struct {
	program *Program
	found   expr.Finding
	vars    bool // expressions there can read variables of the graph
	over    bool // they read arguments alone
}

var codesOfFindings = map[expr.FindingKind]string{
	expr.UnknownFunction:   diag.CodeFunction,
	expr.UnboundVariable:   diag.CodeVariable,
	expr.WrongCall:         diag.CodeCall,
	expr.OddCharacter:      diag.CodeOddCharacter,
	expr.ForeignForm:       diag.CodeForeign,
	expr.ForeignField:      diag.CodeForeign,
	expr.ConstantRule:      diag.CodeConstantRule,
	expr.LiteralExpression: diag.CodeLiteral,
}

// checkFindings reports what is wrong in the expressions and rules of a graph and of
// the bodies in it.
func checkFindings(b *reporter, top *Graph) {
	for n := range b.each(top) {
		for _, f := range n.found {
			isNode := f.found.Kind == expr.ForeignForm && n.Graph.visible(f.found.Name) != nil
			if f.found.Kind != expr.ForeignField && !isNode {
				b.report(findingProblem(n, f))
			}
		}
	}
}

func findingProblem(n *Node, f finding) diag.Diagnostic {
	g, code := n.Graph, codesOfFindings[f.found.Kind]
	if f.found.Kind == expr.UnboundVariable && f.vars && f.found.Hint != "" {
		code = diag.CodeUnknownVariable
	}
	d := f.program.src.Problem(code, f.found.Message)
	d.Pos, d.End = f.program.place(f.found.Path, f.found.Offset, f.found.End)
	d.Hint = f.found.Hint
	if f.found.Kind != expr.UnboundVariable {
		return d
	}
	if f.over {
		if d.Hint == "" && g.Input != nil && g.Input.src.Value().Get("properties").Has(f.found.Name) {
			d.Hint = fmt.Sprintf("did you mean %s, without the $?", f.found.Name)
		}
		return d
	}
	near, ok := g.nearestNode(f.found.Name)
	switch {
	case g.visible(f.found.Name) != nil:
		d.Hint = fmt.Sprintf("did you mean %s?", readNode(f.found.Name))
	case d.Hint == "" && ok && g.visible(near) != nil:
		d.Hint = fmt.Sprintf("did you mean %s?", readNode(near))
	case d.Hint == "" && foreignVariable(f.found.Name) != "":
		d.Hint = foreignVariable(f.found.Name)
	case d.Hint == "":
		d.Hint = fmt.Sprintf("bind it in the expression: ($%s := …; …)", f.found.Name)
	}
	return d
}

// readNode writes how an expression reads the output of a node.
func readNode(id string) string {
	if IsName(id) {
		return "$." + id
	}
	return "$.`" + id + "`"
}
