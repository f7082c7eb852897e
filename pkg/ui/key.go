package ui

import (
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// bodyKey names a body of a node.
func bodyKey(n *graph.Node, i int) string {
	if n.Spread.Each {
		return n.Key() + "[]"
	}
	return n.Key() + "." + n.Spread.Names[i]
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
