package language

import (
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/schematext"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// lockOf returns what is locked of the servers of a configuration, or nil.
func lockOf(d *Document) *lock.File {
	if d.opts.Lock == nil {
		return nil
	}
	return d.opts.Lock(lock.Path(d.Path))
}

// arguments returns the arguments of the call at the cursor.
func (c *cursor) arguments() []schematext.Field {
	home := c.doc.home()
	m := c.configModel()
	if m == nil || m.file == nil {
		return nil
	}
	around := c.model.root.At(c.place.path[:len(c.place.path)-1]...)
	server, tool := around.Get("server").Text().String(), around.Get("tool").Text().String()
	n := c.node()
	switch {
	case server != "":
		if t := lockOf(home).Tool(server, tool); t != nil {
			return schematext.Fields(t.InputSchema)
		}
		return nil
	case c.doc.Kind == Test:
		return m.inputs(c.testedTool())
	case n != nil && n.Callee != nil:
		return m.inputs(n.Callee.Name)
	}
	return nil
}

// inputs returns the arguments of a tool of the file.
func (m *model) inputs(tool string) []schematext.Field {
	for _, t := range m.file.Tools {
		if t.Name.String() == tool {
			return schematext.Fields(t.InputSchema.Value())
		}
	}
	return schematext.Fields(m.offerInput(tool))
}

// offerInput returns the schema of the arguments of a prompt or resource; undefined
// if there is none with this name.
func (m *model) offerInput(name string) value.Value {
	if m.set == nil {
		return value.Undef
	}
	for _, g := range m.set.Graphs {
		if g.Offer != nil && g.Name == name && g.Input != nil {
			schema, _ := value.ParseLazy(g.Input.Raw())
			return schema
		}
	}
	return value.Undef
}

// describeUpstreamTool returns what is locked of a tool, as Markdown, or "".
func describeUpstreamTool(d *Document, server, tool string) string {
	t := lockOf(d).Tool(server, tool)
	if t == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("**" + t.Name + "** (tool of " + server + ")\n\n" + t.Description)
	b.WriteString(list("Arguments", schematext.Fields(t.InputSchema)))
	b.WriteString(list("Output", schematext.Fields(t.OutputSchema)))
	return b.String()
}

// properties returns what is known of the value at a path below the output of a
// node of this file.
func properties(d *Document, m *model, n *graph.Node, path []string) []schematext.Field {
	fields := schematext.Fields(outputSchema(d, m, n))
	for _, step := range path {
		i := slices.IndexFunc(fields, func(f schematext.Field) bool { return f.Name == step })
		if i < 0 {
			return nil
		}
		fields = fields[i].Fields
	}
	return fields
}

// outputSchema returns the JSON Schema of the output of a node, undefined if none
// is known.
func outputSchema(d *Document, m *model, n *graph.Node) value.Value {
	schemaOf := func(tool string, of func(*config.Tool) *config.Node) value.Value {
		for _, t := range m.file.Tools {
			if t.Name.String() == tool {
				return of(t).Value()
			}
		}
		return value.Undef
	}
	switch {
	case n.Kind == nil || n.Graph == nil:
	case n.Kind.Role == graph.Entry && n.Graph.Owner == nil && n.Graph.Offer != nil:
		return m.offerInput(n.Graph.Name)
	case n.Kind.Role == graph.Entry && n.Graph.Owner == nil:
		return schemaOf(n.Graph.Name, func(t *config.Tool) *config.Node { return t.InputSchema })
	case n.Callee != nil:
		return schemaOf(n.Callee.Name, func(t *config.Tool) *config.Node { return t.OutputSchema })
	case n.Kind == nodes.MCP:
		// Without a mode, the flat layout has the first block.
		mode := n.Source().Get("output").Text().String()
		if mode != "structured" && (mode != "" || m.file.Flat) {
			break
		}
		if t := lockOf(d).Tool(n.Server, n.Tool); t != nil {
			return t.OutputSchema
		}
	}
	return value.Undef
}
