package language

import (
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// known is a property that a value can have.
type known struct {
	name, doc string
	kind      string // its type in JSON Schema, if that is known
	required  bool
}

// schemaProperties returns the properties that a JSON Schema describes.
func schemaProperties(schema *config.Node) []known {
	var list []known
	required := map[string]bool{}
	for _, r := range schema.Get("required").Items() {
		required[r.Text().String()] = true
	}
	for _, f := range schema.Get("properties").Fields() {
		list = append(list, known{
			name: f.Key.String(), doc: f.Value.Get("description").Text().String(),
			kind: f.Value.Get("type").Text().String(), required: required[f.Key.String()],
		})
	}
	return list
}

// arguments returns the arguments of the call at the cursor.
func (c *completer) arguments() []known {
	if c.doc.Kind == Test {
		if m := c.configModel(); m != nil && m.set != nil {
			return m.inputs(c.testedTool())
		}
		return nil
	}
	n := c.node()
	switch {
	case n == nil || n.Kind == nil:
		return nil
	case n.Callee != nil:
		return c.model.inputs(n.Callee.Name)
	}
	return nil
}

// inputs returns the arguments of a tool of the file.
func (m *model) inputs(tool string) []known {
	for _, t := range m.file.Tools {
		if t.Name.String() == tool {
			return schemaProperties(t.InputSchema)
		}
	}
	return nil
}

// upstreamTools adds the tools of the server that the map at the cursor names.
func (c *completer) upstreamTools() {
	if len(c.place.path) == 0 {
		return
	}
	server := c.model.root.At(c.place.path[:len(c.place.path)-1]...).Get("server").Text().String()
	seen := map[string]bool{}
	m := c.configModel()
	if m == nil {
		return
	}
	for i := range m.units {
		for _, n := range m.units[i].Nodes {
			if n.Tool != "" && n.Server == server && !seen[n.Tool] && n.Source().Get("tool") != nil && n != c.node() {
				seen[n.Tool] = true
				c.value(Item{Label: n.Tool, Kind: ToolItem, Detail: "called by node " + n.ID})
			}
		}
	}
}

// properties returns what is known of the value at a path below the output of a
// node.
func (m *model) properties(n *graph.Node, path []string) []known {
	if n.Kind == nil || n.Graph == nil || n.Kind.Role != graph.Entry || n.Graph.Owner != nil {
		return nil
	}
	for _, t := range m.file.Tools {
		if t.Name.String() != n.Graph.Name {
			continue
		}
		at := t.InputSchema
		for _, step := range path {
			at = at.At("properties", step)
			for at.Get("type").Text().String() == "array" {
				at = at.Get("items")
			}
		}
		return schemaProperties(at)
	}
	return nil
}
