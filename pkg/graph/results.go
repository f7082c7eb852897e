package graph

import (
	"errors"
	"fmt"

	"github.com/mcpgraph/mcpgraph/internal/jsonschema"
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// checkResults reports outputs that are known before any run, become the tool's
// result, and do not fit its outputSchema.
func checkResults(b *reporter, g *Graph) {
	if g.Output == nil || g.Exit == nil {
		return
	}
	for _, n := range g.Nodes {
		if n.literal == nil {
			continue
		}
		var last *config.Node
		for i := range n.Edges {
			e := &n.Edges[i]
			if e.To != g.Exit || e.Catch {
				continue
			}
			v, src := n.literal(e)
			var wrong *SchemaError
			if src == last || !errors.As(g.Output.Validate(v), &wrong) {
				continue
			}
			last = src
			d := src.Problem(diag.CodeImpossible, fmt.Sprintf(
				"the result %s never matches the outputSchema of tool %q: %s", textline.Shorten(v.JSON(), maxShown), g.Name, wrong))
			d.Related = []diag.Related{{Pos: g.Output.src.Pos(), Message: "the schema is here"}}
			b.report(d)
		}
	}
}

// checkDefaults reports defaults and examples in a schema that the schema itself
// does not accept.
func checkDefaults(b *reporter, s *Schema, what string) {
	seen := map[*jsonschema.Schema]bool{}
	var walk func(sub *jsonschema.Schema)
	walk = func(sub *jsonschema.Schema) {
		if sub == nil || seen[sub] {
			return
		}
		seen[sub] = true
		if sub.Default != nil {
			checkOwnValue(b, s, sub, *sub.Default, what, "default")
		}
		for i, x := range sub.Examples {
			checkOwnValue(b, s, sub, x, what, "examples", i)
		}
		walk(sub.Items2020)
		if items, ok := sub.Items.(*jsonschema.Schema); ok {
			walk(items)
		}
		for _, list := range [][]*jsonschema.Schema{sub.PrefixItems, sub.AllOf, sub.AnyOf, sub.OneOf} {
			for _, part := range list {
				walk(part)
			}
		}
		walk(sub.Ref)
		for _, part := range sub.Properties {
			walk(part)
		}
	}
	walk(s.compiled)
}

// checkOwnValue reports a value, at path in the schema sub, that sub does not accept.
func checkOwnValue(b *reporter, s *Schema, sub *jsonschema.Schema, x any, what string, path ...any) {
	var invalid *jsonschema.ValidationError
	if !errors.As(sub.Validate(x), &invalid) {
		return
	}
	src := follow(s.src, fragment(sub.Location)).At(path...)
	v, err := value.FromAny(x)
	if src == nil || err != nil {
		return
	}
	wrong := &SchemaError{Problems: problemsOf(invalid, v)}
	b.report(src.Problem(diag.CodeImpossible, fmt.Sprintf(
		"%s of %s never matches its own schema: %s", path[0], what, wrong)))
}
