package language

import (
	"fmt"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// cursor is a place in a document, and what is known there.
type cursor struct {
	doc    *Document
	place  place
	offset int
	model  *model
}

// node returns the graph node around the cursor, or nil.
func (c *cursor) node() *graph.Node { return c.model.nodeAt(c.place.path) }

// targets returns the nodes that an edge at the cursor can lead to.
func (c *cursor) targets() []*graph.Node {
	unit := c.model.unitAt(c.place.path)
	if unit == nil {
		return nil
	}
	self := c.node()
	var found []*graph.Node
	for _, n := range unit.Nodes {
		sameBody := self == nil || around(n) == around(self)
		if n.ID != "" && sameBody && (n.Kind == nil || n.Kind.Role != graph.Entry) {
			found = append(found, n)
		}
	}
	return found
}

// readable returns the nodes whose output an expression at the cursor can read.
func (c *cursor) readable() []*graph.Node {
	if n := c.node(); n != nil && n.Graph != nil {
		var found []*graph.Node
		for g := n.Graph; g != nil; {
			found = append(found, g.Nodes...)
			if g.Owner == nil {
				break
			}
			g = g.Owner.Graph
		}
		return slices.DeleteFunc(found, func(n *graph.Node) bool { return n.ID == "" || n.Kind != nil && n.Kind.Role == graph.Exit })
	}
	return c.targetsAndEntry()
}

func (c *cursor) targetsAndEntry() []*graph.Node {
	unit := c.model.unitAt(c.place.path)
	if unit == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(unit.Nodes), func(n *graph.Node) bool { return n.ID == "" })
}

// configModel returns the model of the configuration: of this file or of the one
// that it tests; nil if there is none.
func (c *cursor) configModel() *model {
	if c.doc.Kind != Test {
		return c.model
	}
	if cfg := c.doc.configOf(c.model); cfg != nil {
		return cfg.current()
	}
	return nil
}

func (c *cursor) servers() []*config.Upstream {
	m := c.configModel()
	if m == nil || m.file == nil {
		return nil
	}
	return m.file.Upstreams
}

func (c *cursor) tools() []*graph.Graph {
	if m := c.configModel(); m != nil && m.set != nil {
		return m.set.Graphs
	}
	return nil
}

// testedNodes returns the nodes of the tool that the test at the cursor calls.
func (c *cursor) testedNodes() []*graph.Node {
	m := c.configModel()
	if m == nil {
		return nil
	}
	tool := c.testedTool()
	var found []*graph.Node
	for i := range m.units {
		for _, n := range m.units[i].Nodes {
			top := n.Graph
			for top != nil && top.Owner != nil {
				top = top.Owner.Graph
			}
			if n.ID != "" && top != nil && (tool == "" || top.Name == tool) {
				found = append(found, n)
			}
		}
	}
	return found
}

// testedTool returns the name of the tool that the test at the cursor calls.
func (c *cursor) testedTool() string {
	for i := len(c.place.path); i > 0; i-- {
		if t := c.model.root.At(c.place.path[:i]...).Get("tool"); t.IsString() && c.model.root.At(c.place.path[:i]...).Get("server") == nil {
			return t.Text().String()
		}
	}
	return ""
}

// nodeDetail returns a few words about a node.
func nodeDetail(n *graph.Node) string {
	switch {
	case n.Kind == nil:
		return ""
	case n.Server != "":
		return fmt.Sprintf("%s, calls %s of %s", n.Kind.Name, n.Tool, n.Server)
	}
	return n.Kind.Name
}

// over returns the prompt or resource whose arguments the expression at the cursor
// reads in the place of a run: in messages and in complete. It returns nil elsewhere.
func (c *cursor) over() *graph.Graph {
	path := c.place.path
	if c.doc.Kind == Test || len(path) < 3 || path[0] != "prompts" && path[0] != "resources" {
		return nil
	}
	if path[2] == "messages" || path[2] == "complete" || path[2] == "arguments" && slices.Contains(path, any("complete")) {
		return c.model.toolAt(path)
	}
	return nil
}

// valueDoc returns what is known of a value.
func (c *cursor) valueDoc(v string) string {
	if n := len(c.place.path); n > 0 && c.place.path[n-1] == "type" && c.doc.Kind == Config {
		if k := kindOf(v); k != nil {
			return k.Doc
		}
	}
	return ""
}
