// Package drawing draws graphs: as Mermaid, as Graphviz and as JSON.
package drawing

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// label is what a picture shows in a node: its id, and what it is or calls.
func label(n *graph.Node) (id, what string) {
	what = n.Kind.Name
	if n.Server != "" {
		what += ": " + n.Server + "." + n.Tool
	}
	if n.Callee != nil {
		what += ": " + n.Callee.Name
		if n.Detached {
			what += " (detached)"
		}
	}
	return n.ID, what
}

// mermaidText makes any text safe between the quotes of a Mermaid label, whose
// entities are written #NUMBER;.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range textline.Clean(s) {
		if strings.ContainsRune("\"#<>&`\\", r) {
			fmt.Fprintf(&b, "#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Mermaid returns a Mermaid flowchart of graphs, each in a box if there are several.
func Mermaid(graphs []*graph.Graph) []byte {
	var b bytes.Buffer
	b.WriteString("flowchart TD\n")
	for i, g := range graphs {
		name := fmt.Sprintf("g%d", i)
		if len(graphs) == 1 {
			mermaidGraph(&b, g, name, "  ")
			continue
		}
		fmt.Fprintf(&b, "  subgraph %s[\"%s\"]\n", name, mermaidText(g.Name))
		mermaidGraph(&b, g, name, "    ")
		b.WriteString("  end\n")
	}
	return b.Bytes()
}

// mermaidGraph draws the nodes of a graph, each body as a box below its node.
func mermaidGraph(b *bytes.Buffer, g *graph.Graph, prefix, indent string) {
	name := func(n *graph.Node) string { return fmt.Sprintf("%sn%d", prefix, n.Index) }
	for _, n := range g.Nodes {
		id, what := label(n)
		left, right := "[", "]"
		switch {
		case n.Kind.Role != graph.Inner:
			left, right = "([", "])"
		case branches(n):
			left, right = "{", "}"
		}
		fmt.Fprintf(b, "%s%s%s\"%s<br/>%s\"%s\n", indent, name(n), left, mermaidText(id), mermaidText(what), right)
		for i, body := range n.Bodies {
			inner := fmt.Sprintf("%sb%d", name(n), i)
			fmt.Fprintf(b, "%ssubgraph %s[\"%s\"]\n", indent, inner, mermaidText(bodyName(n, i)))
			mermaidGraph(b, body, inner, indent+"  ")
			fmt.Fprintf(b, "%send\n%s%s -.-> %sn%d\n", indent, indent, name(n), inner, body.Entry.Index)
		}
	}
	edge := func(from string, e *graph.Edge) {
		arrow := "-->"
		if e.Catch {
			arrow = "-.->"
		}
		if l := textline.Shorten(e.Label, maxLabel); l != "" {
			arrow += "|\"" + mermaidText(l) + "\"|"
		}
		fmt.Fprintf(b, "%s%s %s %s\n", indent, from, arrow, name(e.To))
	}
	for _, n := range g.Nodes {
		for i := range n.Edges {
			edge(name(n), &n.Edges[i])
		}
	}
	if len(g.Handlers) > 0 {
		fmt.Fprintf(b, "%s%scatch{{\"any node\"}}\n", indent, prefix)
	}
	for i := range g.Handlers {
		edge(prefix+"catch", &g.Handlers[i])
	}
}

// branches reports whether a node chooses between ways, failures aside.
func branches(n *graph.Node) bool {
	ways := 0
	for i := range n.Edges {
		if !n.Edges[i].Catch {
			ways++
		}
	}
	return ways > 1
}

// bodyName is what a picture shows at the box of a body.
func bodyName(n *graph.Node, i int) string {
	if n.Spread.Each {
		return n.ID + ": each item"
	}
	return n.ID + ": " + n.Spread.Names[i]
}

// maxLabel is how much of a rule stands at an edge.
const maxLabel = 60

// dotText makes any text safe inside a double-quoted DOT string.
func dotText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(textline.Clean(s))
}

// Dot returns the graphs in the language of Graphviz.
func Dot(graphs []*graph.Graph) []byte {
	var b bytes.Buffer
	b.WriteString("digraph mcpgraph {\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n")
	for i, g := range graphs {
		dotGraph(&b, g, g.Name, fmt.Sprintf("g%d", i), fmt.Sprint(i), "  ")
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// dotGraph draws the nodes of a graph in a box, each body as a box in that.
func dotGraph(b *bytes.Buffer, g *graph.Graph, title, prefix, cluster, indent string) {
	fmt.Fprintf(b, "%ssubgraph cluster_%s {\n%s  label=\"%s\";\n", indent, cluster, indent, dotText(title))
	name := func(n *graph.Node) string { return fmt.Sprintf("%sn%d", prefix, n.Index) }
	for _, n := range g.Nodes {
		id, what := label(n)
		shape := ""
		switch {
		case n.Kind.Role != graph.Inner:
			shape = ", shape=ellipse"
		case branches(n):
			shape = ", shape=diamond"
		}
		fmt.Fprintf(b, "%s  %s [label=\"%s\\n%s\"%s];\n", indent, name(n), dotText(id), dotText(what), shape)
		for i, body := range n.Bodies {
			inner := fmt.Sprintf("%sb%d", name(n), i)
			dotGraph(b, body, bodyName(n, i), inner, inner, indent+"  ")
			fmt.Fprintf(b, "%s  %s -> %sn%d [style=dotted];\n", indent, name(n), inner, body.Entry.Index)
		}
	}
	edge := func(from string, e *graph.Edge) {
		var attrs []string
		if l := textline.Shorten(e.Label, maxLabel); l != "" {
			attrs = append(attrs, fmt.Sprintf("label=\"%s\"", dotText(l)))
		}
		if e.Catch {
			attrs = append(attrs, "style=dashed")
		}
		text := ""
		if attrs != nil {
			text = " [" + strings.Join(attrs, ", ") + "]"
		}
		fmt.Fprintf(b, "%s  %s -> %s%s;\n", indent, from, name(e.To), text)
	}
	for _, n := range g.Nodes {
		for i := range n.Edges {
			edge(name(n), &n.Edges[i])
		}
	}
	if len(g.Handlers) > 0 {
		fmt.Fprintf(b, "%s  %scatch [label=\"any node\", shape=hexagon];\n", indent, prefix)
	}
	for i := range g.Handlers {
		edge(prefix+"catch", &g.Handlers[i])
	}
	fmt.Fprintf(b, "%s}\n", indent)
}

// JSON returns the nodes and edges of graphs as indented JSON.
func JSON(graphs []*graph.Graph) []byte {
	tools := make([]value.Value, 0, len(graphs))
	for _, g := range graphs {
		tools = append(tools, graphJSON(g, g.Name))
	}
	b := value.NewBuilder(1)
	b.Set("tools", value.FromArray(tools))
	return append(b.Value().AppendIndent(nil, "  "), '\n')
}

// graphJSON describes a graph, with the bodies in its nodes. The edges of failures
// that no rule of their own node handles have no "from".
func graphJSON(g *graph.Graph, name string) value.Value {
	var nodes, edges []value.Value
	edge := func(from string, e *graph.Edge) {
		b := value.NewBuilder(5)
		if from != "" {
			b.Set("from", value.FromString(from))
		}
		b.Set("to", value.FromString(e.To.ID))
		if e.Label != "" {
			b.Set("label", value.FromString(e.Label))
		}
		if e.Default {
			b.Set("default", value.True)
		}
		if e.Catch {
			b.Set("catch", value.True)
		}
		edges = append(edges, b.Value())
	}
	for _, n := range g.Nodes {
		b := value.NewBuilder(7)
		b.Set("id", value.FromString(n.ID))
		b.Set("type", value.FromString(n.Kind.Name))
		if n.Server != "" {
			b.Set("server", value.FromString(n.Server))
			b.Set("tool", value.FromString(n.Tool))
		}
		if n.Callee != nil {
			b.Set("calls", value.FromString(n.Callee.Name))
			if n.Detached {
				b.Set("detached", value.True)
			}
		}
		b.Set("line", value.FromInt(int64(n.Pos.Line)))
		var bodies []value.Value
		for i, body := range n.Bodies {
			bodies = append(bodies, graphJSON(body, bodyName(n, i)))
		}
		if bodies != nil {
			b.Set("bodies", value.FromArray(bodies))
		}
		nodes = append(nodes, b.Value())
		for i := range n.Edges {
			edge(n.ID, &n.Edges[i])
		}
	}
	for i := range g.Handlers {
		edge("", &g.Handlers[i])
	}
	b := value.NewBuilder(3)
	b.Set("name", value.FromString(name))
	b.Set("nodes", value.FromArray(nodes))
	b.Set("edges", value.FromArray(edges))
	return b.Value()
}
