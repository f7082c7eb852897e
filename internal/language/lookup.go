package language

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// nodeAt returns the innermost graph node that a path leads into, or nil.
func (m *model) nodeAt(path []any) *graph.Node {
	var found *graph.Node
	at := m.root
	for _, step := range path {
		at = at.At(step)
		if n := m.byNode[at]; n != nil && at != nil {
			found = n
		}
	}
	return found
}

// unitAt returns the unit that a path leads into, or nil.
func (m *model) unitAt(path []any) *graph.Unit {
	if m.file == nil {
		return nil
	}
	if m.file.Flat && len(m.units) > 0 && len(path) > 0 && path[0] != "prompts" && path[0] != "resources" {
		return &m.units[0]
	}
	g := m.toolAt(path)
	for i := range m.units {
		if g != nil && slices.Contains(m.units[i].Graphs, g) {
			return &m.units[i]
		}
	}
	return nil
}

// toolAt returns the tool, prompt or resource that a path leads into, or nil.
func (m *model) toolAt(path []any) *graph.Graph {
	if m.set == nil || len(path) < 2 {
		return nil
	}
	at := m.root.At(path[:2]...)
	if at != nil && (path[0] == "prompts" || path[0] == "resources") {
		for _, g := range m.set.Graphs {
			if g.Offer != nil && g.Pos == at.Pos() && at.File() == g.File {
				return g
			}
		}
	}
	if path[0] != "tools" {
		return nil
	}
	for i, t := range m.file.Tools {
		if t.Node == at && at != nil && i < len(m.set.Graphs) {
			return m.set.Graphs[i]
		}
	}
	return nil
}

// around returns the node in whose body a node is, or nil.
func around(n *graph.Node) *graph.Node {
	if n.Graph == nil {
		return nil
	}
	return n.Graph.Owner
}
