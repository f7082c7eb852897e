package graph

import (
	"maps"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/lock"
)

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

// addMembers adds the names of the properties that a value can have.
func addMembers(c contents, names map[string]bool) {
	switch c := c.(type) {
	case *schemaContents:
		if c.unknown {
			return
		}
		if _, array := c.kinds(); array {
			if below, ok := contents(c.with(c.elements())).(*schemaContents); ok && below != nil {
				addMembers(below, names)
			}
			return
		}
		for _, p := range c.parts {
			p.addNames(func(name string) { names[name] = true })
		}
	case *shapeContents:
		for _, f := range c.shape.Fields {
			names[f.Name] = true
		}
	case *knownShape:
		for _, f := range c.shape.Fields {
			names[f.Name] = true
		}
	case replyContents:
		for _, name := range []string{"content", "isError", "structuredContent"} {
			names[name] = true
		}
	case pathContents:
		addMembers(c.contents, names)
	case itemContents:
		addMembers(c.list, names)
	case listContents:
		addMembers(c.of, names)
	case *anyContents:
		for _, one := range c.of {
			addMembers(one, names)
		}
	}
}
