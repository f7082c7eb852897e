package cli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// label is what a picture shows in a node: its id, and what it is or calls.
func label(n *graph.Node) (id, what string) {
	what = n.Kind.Name
	if n.Server != "" {
		what += ": " + n.Server + "." + n.Tool
	}
	return n.ID, what
}

// mermaidText makes any text safe between the quotes of a Mermaid label, whose
// entities are written #NUMBER;.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range oneLine(s) {
		if strings.ContainsRune("\"#<>&`\\", r) {
			fmt.Fprintf(&b, "#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func drawMermaid(graphs []*graph.Graph) []byte {
	var b bytes.Buffer
	b.WriteString("flowchart TD\n")
	for gi, g := range graphs {
		indent := "  "
		if len(graphs) > 1 {
			fmt.Fprintf(&b, "  subgraph g%d[\"%s\"]\n", gi, mermaidText(g.Name))
			indent = "    "
		}
		name := func(n *graph.Node) string { return fmt.Sprintf("g%dn%d", gi, n.Index) }
		for _, n := range g.Nodes {
			id, what := label(n)
			left, right := "[", "]"
			switch {
			case n.Kind.Role != graph.Inner:
				left, right = "([", "])"
			case len(n.Edges) > 1:
				left, right = "{", "}"
			}
			fmt.Fprintf(&b, "%s%s%s\"%s<br/>%s\"%s\n", indent, name(n), left, mermaidText(id), mermaidText(what), right)
		}
		for _, n := range g.Nodes {
			for _, e := range n.Edges {
				arrow := "-->"
				if l := shorten(e.Label, maxLabel); l != "" {
					arrow += "|\"" + mermaidText(l) + "\"|"
				}
				fmt.Fprintf(&b, "%s%s %s %s\n", indent, name(n), arrow, name(e.To))
			}
		}
		if len(graphs) > 1 {
			b.WriteString("  end\n")
		}
	}
	return b.Bytes()
}

// maxLabel is how much of a rule stands at an edge.
const maxLabel = 60

// dotText makes any text safe inside a double-quoted DOT string.
func dotText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(oneLine(s))
}

func drawDot(graphs []*graph.Graph) []byte {
	var b bytes.Buffer
	b.WriteString("digraph mcpgraph {\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n")
	for gi, g := range graphs {
		fmt.Fprintf(&b, "  subgraph cluster_%d {\n    label=\"%s\";\n", gi, dotText(g.Name))
		name := func(n *graph.Node) string { return fmt.Sprintf("g%dn%d", gi, n.Index) }
		for _, n := range g.Nodes {
			id, what := label(n)
			shape := ""
			switch {
			case n.Kind.Role != graph.Inner:
				shape = ", shape=ellipse"
			case len(n.Edges) > 1:
				shape = ", shape=diamond"
			}
			fmt.Fprintf(&b, "    %s [label=\"%s\\n%s\"%s];\n", name(n), dotText(id), dotText(what), shape)
		}
		for _, n := range g.Nodes {
			for _, e := range n.Edges {
				attr := ""
				if l := shorten(e.Label, maxLabel); l != "" {
					attr = fmt.Sprintf(" [label=\"%s\"]", dotText(l))
				}
				fmt.Fprintf(&b, "    %s -> %s%s;\n", name(n), name(e.To), attr)
			}
		}
		b.WriteString("  }\n")
	}
	b.WriteString("}\n")
	return b.Bytes()
}

func drawJSON(graphs []*graph.Graph) []byte {
	tools := make([]value.Value, 0, len(graphs))
	for _, g := range graphs {
		var nodes, edges []value.Value
		for _, n := range g.Nodes {
			b := value.NewBuilder(5)
			b.Set("id", value.FromString(n.ID))
			b.Set("type", value.FromString(n.Kind.Name))
			if n.Server != "" {
				b.Set("server", value.FromString(n.Server))
				b.Set("tool", value.FromString(n.Tool))
			}
			b.Set("line", value.FromInt(int64(n.Pos.Line)))
			nodes = append(nodes, b.Value())
			for _, e := range n.Edges {
				b := value.NewBuilder(4)
				b.Set("from", value.FromString(n.ID))
				b.Set("to", value.FromString(e.To.ID))
				if e.Label != "" {
					b.Set("label", value.FromString(e.Label))
				}
				if e.Default {
					b.Set("default", value.True)
				}
				edges = append(edges, b.Value())
			}
		}
		b := value.NewBuilder(3)
		b.Set("name", value.FromString(g.Name))
		b.Set("nodes", value.FromArray(nodes))
		b.Set("edges", value.FromArray(edges))
		tools = append(tools, b.Value())
	}
	b := value.NewBuilder(1)
	b.Set("tools", value.FromArray(tools))
	return append(b.Value().AppendIndent(nil, "  "), '\n')
}
