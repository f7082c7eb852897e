package graph

import (
	"maps"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
)

// UseKind is how a place of a file names a node.
type UseKind uint8

// The kinds of uses.
const (
	// Definition is the id of the node itself.
	Definition UseKind = iota
	// EdgeUse is the end of an edge.
	EdgeUse
	// NameUse is a name in an expression, perhaps in back-quotes, or the first one
	// of a path in a JSON Logic rule.
	NameUse
	// StringUse is a string in an expression, with its quotation marks.
	StringUse
)

// Use is a place of a file that names a node.
type Use struct {
	// Node is the node that is named, Reader the one that names it.
	Node, Reader *Node
	Kind         UseKind
	// Text holds the name in its bytes from From up to To. Both are -1 where the
	// name is not written in one piece.
	Text     config.Text
	From, To int
}

// Unit is the nodes among which ids are unique: those of a tool with all bodies
// in it or, in the flat layout, those of the file.
type Unit struct {
	// Graphs are those of the tools in it.
	Graphs []*Graph
	// Nodes are in the order of the file, those of a body behind its owner.
	Nodes []*Node
	// Uses are all places that certainly name one of the nodes.
	Uses []Use
}

// Node returns the first node of the unit with this id, or nil.
func (u *Unit) Node(id string) *Node {
	for _, n := range u.Nodes {
		if n.ID == id {
			return n
		}
	}
	return nil
}

// Units returns the units of the file in its order.
func (s *Set) Units() []Unit {
	var units []Unit
	index := map[*scope]int{}
	for _, g := range s.Graphs {
		if g.scope == nil {
			continue
		}
		top := g.scope.unit
		i, known := index[top]
		if !known {
			i = len(units)
			index[top] = i
			u := Unit{}
			u.add(top, top)
			units = append(units, u)
		}
		units[i].Graphs = append(units[i].Graphs, g)
		if g.rules != nil && g.rules != top.rules {
			units[i].uses(g.rules, top)
		}
	}
	return units
}

// add adds the nodes of a scope and of the bodies in it.
func (u *Unit) add(s, top *scope) {
	for _, n := range s.nodes {
		u.Nodes = append(u.Nodes, n)
		if n.ID != "" && !n.src.IsGenerated() {
			text := n.src.Get("id").Text()
			u.Uses = append(u.Uses, Use{n, n, Definition, text, 0, len(n.ID)})
		}
		u.uses(n, top)
		for _, body := range n.bodies {
			u.add(body, top)
		}
	}
	if s.rules != nil {
		u.uses(s.rules, top)
	}
}

// uses adds the places at which a node names others.
func (u *Unit) uses(n *Node, top *scope) {
	if n.src.IsGenerated() {
		return
	}
	for i := range n.Edges {
		if e := &n.Edges[i]; top.all[e.Target] != nil {
			u.Uses = append(u.Uses, Use{top.all[e.Target], n, EdgeUse, e.src.Text(), 0, len(e.Target)})
		}
	}
	for _, r := range n.refs {
		target := top.all[r.ref.Node]
		if target == nil {
			continue
		}
		use := Use{target, n, NameUse, r.program.src.At(r.ref.Path...).Text(), r.ref.IDOffset, r.ref.IDEnd}
		if r.ref.Func != "" {
			use.Kind = StringUse
		}
		u.Uses = append(u.Uses, use)
	}
}

// calls returns the nodes that call tools of an upstream server.
func (s *Set) calls(server string) []*Node {
	s.indexed.Do(func() {
		s.callers = map[string][]*Node{}
		for _, g := range s.Graphs {
			for _, n := range g.all() {
				if n.Server != "" && n.toolSrc != nil {
					s.callers[n.Server] = append(s.callers[n.Server], n)
				}
			}
		}
	})
	return s.callers[server]
}

// ToolUses returns the places at which expressions name tools of the file: the literal
// first arguments of $call, in the order of the file.
func (s *Set) ToolUses() []*config.Node {
	var all []*config.Node
	for _, g := range s.Graphs {
		if g.Offer == nil {
			continue
		}
		graphs := []*Graph{g}
		for _, name := range g.Input.Properties() {
			if c := g.Offer.Completions[name]; c != nil && c.Graph != nil {
				graphs = append(graphs, c.Graph)
			}
		}
		for _, g := range graphs {
			for _, n := range g.Nodes {
				all = append(all, n.toolUses...)
			}
		}
	}
	return all
}

// Called returns the tools that nodes call, in bodies too, by the name of the
// server. They are sorted and as nodes name them.
func (s *Set) Called() map[string][]string {
	called := map[string][]string{}
	for _, g := range s.Graphs {
		for _, n := range g.all() {
			if n.Server != "" && n.Tool != "" {
				called[n.Server] = append(called[n.Server], n.Tool)
			}
		}
	}
	for server, tools := range called {
		slices.Sort(tools)
		called[server] = slices.Compact(tools)
	}
	return called
}

// Members returns the names of the properties, sorted, that a value is known to have
// which an expression of a node reads: at the path from a root, which is empty for
// the document of the run, [expr.PreviousRoot] or the name of a variable. locked is
// the lock file, or nil. It returns nil if nothing is known.
func (s *Set) Members(locked *lock.File, n *Node, root string, path []string) []string {
	if n.Graph == nil {
		return nil
	}
	for _, m := range n.Graph.top().all() {
		if m.Kind == nil && m != m.Graph.rules {
			return nil // what such a node does is not known
		}
	}
	names := map[string]bool{}
	addMembers(newKnowledge(locked).path(n, rooted{root, path}), names)
	return slices.Sorted(maps.Keys(names))
}
