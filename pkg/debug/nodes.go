package debug

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// UnknownNodeError is returned for a name that no node has.
type UnknownNodeError struct {
	Name, Tool string
	Names      []string // that there are
}

// Error names it, and the nearest of those that there are.
func (e *UnknownNodeError) Error() string {
	text := fmt.Sprintf("unknown node %q in tool %q", e.Name, e.Tool)
	if near, ok := diag.Nearest(e.Name, e.Names); ok {
		return text + fmt.Sprintf("; did you mean %q?", near)
	}
	return text + "; expected " + diag.List(e.Names)
}

// AmbiguousNodeError is returned if an id is that of several nodes and only one can be
// meant.
type AmbiguousNodeError struct {
	Name string
	Keys []string // of the nodes
}

// Error lists the keys.
func (e *AmbiguousNodeError) Error() string {
	return fmt.Sprintf("%q is the id of several nodes: name one of %s", e.Name, diag.List(e.Keys))
}

// nodeSet are the nodes that names can mean.
type nodeSet struct {
	tool *graph.Graph
	own  []*graph.Node // of the tool and of the bodies in it
	all  []*graph.Node // of all tools
}

func newNodeSet(tool *graph.Graph, tools []*graph.Graph) nodeSet {
	n := nodeSet{tool: tool, own: bodiesOf(tool, nil)}
	n.all = n.own
	for _, g := range tools {
		if g.Name != tool.Name {
			n.all = bodiesOf(g, n.all)
		}
	}
	return n
}

// bodiesOf appends the nodes of a graph and of the bodies in it.
func bodiesOf(g *graph.Graph, list []*graph.Node) []*graph.Node {
	for _, n := range g.Nodes {
		list = append(list, n)
		for _, body := range n.Bodies {
			list = bodiesOf(body, list)
		}
	}
	return list
}

// pathOf returns the key of a node without the tool.
func pathOf(n *graph.Node) string {
	_, path, _ := strings.Cut(n.Key(), "#")
	return path
}

// find returns the keys of the nodes with a name: a key (TOOL#PATH), the static path
// in the tool ("sizes[].info"), or the id of nodes in it or, if it has none, in other
// tools. Keys are compared, since graphs of other versions of the file have the same.
func (n nodeSet) find(name string) ([]*graph.Node, error) {
	matching := func(in []*graph.Node, match func(*graph.Node) bool) []*graph.Node {
		var found []*graph.Node
		for _, one := range in {
			if match(one) {
				found = append(found, one)
			}
		}
		return found
	}
	byID := func(one *graph.Node) bool { return one.ID == name }
	for _, found := range [][]*graph.Node{
		matching(n.all, func(one *graph.Node) bool { return one.Key() == name }),
		matching(n.own, func(one *graph.Node) bool { return pathOf(one) == name }),
		matching(n.own, byID),
		matching(n.all, byID),
	} {
		if len(found) > 0 {
			return found, nil
		}
	}
	var names []string
	if tool, _, isKey := strings.Cut(name, "#"); isKey {
		for _, one := range n.all {
			if one.Graph.Name == tool || tool == "" {
				names = append(names, one.Key())
			}
		}
	}
	if names == nil {
		for _, one := range n.own {
			names = append(names, one.ID)
			if path := pathOf(one); path != one.ID {
				names = append(names, path)
			}
		}
	}
	slices.Sort(names)
	return nil, &UnknownNodeError{name, n.tool.Name, slices.Compact(names)}
}

// one is find for names that must mean one node.
func (n nodeSet) one(name string) (*graph.Node, error) {
	found, err := n.find(name)
	if err != nil {
		return nil, err
	}
	if len(found) > 1 {
		e := &AmbiguousNodeError{Name: name}
		for _, one := range found {
			e.Keys = append(e.Keys, one.Key())
		}
		return nil, e
	}
	return found[0], nil
}
