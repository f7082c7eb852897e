package graph

import (
	"fmt"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
)

// finding is a part of a program that compiles and cannot do what it was meant
// for.
type finding struct {
	program *Program
	found   expr.Finding
}

var codesOfFindings = map[expr.FindingKind]string{
	expr.UnknownFunction:   diag.CodeFunction,
	expr.UnboundVariable:   diag.CodeVariable,
	expr.WrongCall:         diag.CodeCall,
	expr.OddCharacter:      diag.CodeOddCharacter,
	expr.ConstantRule:      diag.CodeConstantRule,
	expr.LiteralExpression: diag.CodeLiteral,
}

// isFound reports whether a finding says already what is wrong with the name
// that a reference reads.
func (n *Node) isFound(r reference) bool {
	return slices.ContainsFunc(n.found, func(f finding) bool {
		named := f.found.Kind == expr.UnknownFunction || f.found.Kind == expr.OddCharacter
		return named && f.program == r.program && slices.Equal(f.found.Path, r.ref.Path) &&
			r.ref.Offset <= f.found.Offset && f.found.Offset < r.ref.End
	})
}

// findings reports what is wrong in the expressions and rules of a graph.
func (b *builder) findings(g *Graph, s *scope) {
	for _, n := range g.Nodes {
		for _, f := range n.found {
			d := f.program.src.Problem(codesOfFindings[f.found.Kind], f.found.Message)
			d.Pos, d.End = f.program.place(f.found.Path, f.found.Offset, f.found.End)
			d.Hint = f.found.Hint
			switch near, ok := b.nearest(f.found.Name, s.ids); {
			case f.found.Kind != expr.UnboundVariable:
			case g.byID[f.found.Name] != nil:
				d.Hint = fmt.Sprintf("did you mean %s?", readNode(f.found.Name))
			case d.Hint == "" && ok && g.byID[near] != nil:
				d.Hint = fmt.Sprintf("did you mean %s?", readNode(near))
			case d.Hint == "":
				d.Hint = fmt.Sprintf("bind it in the expression: ($%s := …; …)", f.found.Name)
			}
			b.report(d)
		}
	}
}

// readNode writes how an expression reads the output of a node.
func readNode(id string) string {
	if isName(id) {
		return "$." + id
	}
	return "$.`" + id + "`"
}
