package graph

import (
	"errors"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// results reports outputs that are known before any run, become the tool's
// result, and do not fit its outputSchema.
func (b *builder) results(g *Graph) {
	if g.Output == nil || g.Exit == nil {
		return
	}
	for _, n := range g.Nodes {
		if n.literal == nil || !leadsTo(n, g.Exit) {
			continue
		}
		err := g.Output.Validate(n.literal.value)
		var wrong *SchemaError
		if !errors.As(err, &wrong) {
			continue
		}
		src := n.literal.program.src
		d := src.Problem(diag.CodeImpossible, fmt.Sprintf(
			"this result of tool %q never fits its outputSchema: %s", g.Name, wrong))
		d.Related = []diag.Related{{Pos: g.Output.src.Pos(), Message: "the schema is here"}}
		b.report(d)
	}
}

func leadsTo(n, to *Node) bool {
	for i := range n.Edges {
		if n.Edges[i].To == to {
			return true
		}
	}
	return false
}
