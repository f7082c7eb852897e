package ui

import (
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// key names a node among all of its file: TOOL#PATH, in which items have no numbers.
func key(n *graph.Node) string { return n.Graph.Name + "#" + prefix(n.Graph) + n.ID }

// bodyKey names a body of a node.
func bodyKey(n *graph.Node, i int) string {
	if n.Spread.Each {
		return key(n) + "[]"
	}
	return key(n) + "." + n.Spread.Names[i]
}

// prefix is what stands before the ids of the nodes of a graph in their keys.
func prefix(g *graph.Graph) string {
	if g.Owner == nil {
		return ""
	}
	for i, body := range g.Owner.Bodies {
		if body == g {
			_, path, _ := strings.Cut(bodyKey(g.Owner, i), "#")
			return path + "."
		}
	}
	return ""
}

// nodeAt returns the node that a path of a run of g leads to, such as "sizes[3].info",
// or nil.
func nodeAt(g *graph.Graph, path string) *graph.Node {
	if n := g.Node(path); n != nil {
		return n
	}
	for i := range len(path) {
		if c := path[i]; c != '[' && c != '.' && c != '>' {
			continue
		}
		n := g.Node(path[:i])
		if n == nil {
			continue
		}
		if found := beneath(n, path[i:]); found != nil {
			return found
		}
	}
	return nil
}

// beneath is nodeAt for what follows the id of a node in a path.
func beneath(n *graph.Node, rest string) *graph.Node {
	switch {
	case rest[0] == '>' && n.Callee != nil:
		return nodeAt(n.Callee, rest[1:])
	case rest[0] == '[' && n.Spread != nil && n.Spread.Each:
		if _, inner, ok := strings.Cut(rest, "]."); ok {
			return nodeAt(n.Bodies[0], inner)
		}
	case rest[0] == '.' && n.Spread != nil:
		for i, name := range n.Spread.Names {
			if inner, ok := strings.CutPrefix(rest[1:], name+"."); ok && i < len(n.Bodies) {
				if found := nodeAt(n.Bodies[i], inner); found != nil {
					return found
				}
			}
		}
	}
	return nil
}
