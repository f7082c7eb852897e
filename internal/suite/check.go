package suite

import (
	"fmt"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Check reports names in the test file that its configuration does not have: tools,
// nodes and servers.
func (f *File) Check(set *graph.Set) []diag.Diagnostic {
	c := checker{set: set, seen: map[problem]bool{}}
	for _, u := range set.File.Upstreams {
		c.servers = append(c.servers, u.Name)
	}
	for _, u := range set.File.Disabled {
		c.servers = append(c.servers, u.Name)
	}
	for _, g := range set.Graphs {
		c.tools = append(c.tools, g.Name)
	}
	for _, t := range f.Tests {
		c.test(t)
	}
	diag.Sort(c.found)
	return c.found
}

type checker struct {
	set            *graph.Set
	tools, servers []string
	found          []diag.Diagnostic
	seen           map[problem]bool
}

func (c *checker) report(d diag.Diagnostic) {
	p := problem{d.Pos, d.Code, d.Message}
	if !c.seen[p] {
		c.seen[p] = true
		c.found = append(c.found, d)
	}
}

// unknown reports a name that is not among those there are.
func (c *checker) unknown(n *config.Node, code, message, name string, there []string) {
	d := n.Problem(code, message)
	if near, ok := diag.Nearest(name, there); ok {
		d.Hint = fmt.Sprintf("did you mean %q?", near)
	} else if len(there) > 0 && len(there) <= maxListed {
		d.Hint = "expected " + diag.List(there)
	}
	c.report(d)
}

// maxListed bounds the names in a hint.
const maxListed = 20

func (c *checker) test(t *Test) {
	for _, m := range t.Mocks {
		if name := m.server.text; name != "" && !slices.ContainsFunc(c.servers, m.server.matches) {
			c.unknown(m.Server, diag.CodeUnknownServer, fmt.Sprintf("the configuration has no server %q", name), name, c.servers)
		}
	}
	i := slices.IndexFunc(c.set.Graphs, func(g *graph.Graph) bool { return g.Name == t.Tool })
	if i < 0 {
		if t.Tool != "" {
			c.unknown(t.ToolNode, diag.CodeUnknownTool, fmt.Sprintf("the configuration has no tool %q", t.Tool), t.Tool, c.tools)
		}
		return
	}
	ids := map[string]*graph.Node{}
	collectIDs(c.set.Graphs[i], ids, map[*graph.Graph]bool{})
	for _, a := range t.Answers {
		c.id(a.Node, a.ID.String(), t, ids)
		if n := ids[a.ID.String()]; n != nil {
			c.answer(n, a)
		}
	}
	for _, x := range t.Expect.Patterns {
		switch x.Key {
		case "outputs", "attempts":
			for _, e := range x.Pattern.entries {
				c.id(e.pattern.Node, e.key, t, ids)
			}
		case "path":
			c.path(x.Pattern, t, ids)
		}
	}
}

// answer reports an answer that cannot be one to the questions of a node.
func (c *checker) answer(n *graph.Node, a Answer) {
	method := n.AskMethod()
	fits, want := func(value.Value) bool { return true }, ""
	switch method {
	case graph.AskPerson:
		fits, want = func(v value.Value) bool { return v.Kind() == value.Object || refuses(v) || v.Str() == graph.Accept }, `a map, "accept", "decline", "cancel" or "cannotAsk"`
	case graph.AskRoots:
		fits, want = func(v value.Value) bool { return v.Kind() == value.Object || v.Kind() == value.Array || refuses(v) }, `a list of URIs, a map with roots, "decline", "cancel" or "cannotAsk"`
	}
	for i := range max(a.Given.Len(), 1) {
		if v := a.To(method, i); !fits(v) {
			d := a.Node.Expected(fmt.Sprintf("the answer of %q", a.ID), want)
			c.report(d)
			return
		}
		if a.Given.Kind() != value.Array || method == graph.AskRoots {
			return
		}
	}
}

// refuses reports whether an answer to any question is that there is none.
func refuses(v value.Value) bool {
	return v.Str() == graph.Decline || v.Str() == graph.Cancel || v.Str() == graph.FailCannotAsk
}

// collectIDs adds the ids of the nodes of a graph, its bodies and the tools that it calls.
func collectIDs(g *graph.Graph, ids map[string]*graph.Node, seen map[*graph.Graph]bool) {
	if g == nil || seen[g] {
		return
	}
	seen[g] = true
	for _, n := range g.Nodes {
		ids[n.ID] = n
		for _, body := range n.Bodies {
			collectIDs(body, ids, seen)
		}
		collectIDs(n.Callee, ids, seen)
	}
}

func (c *checker) id(n *config.Node, id string, t *Test, ids map[string]*graph.Node) {
	if ids[id] != nil {
		return
	}
	var there []string
	for known := range ids {
		there = append(there, known)
	}
	c.unknown(n, diag.CodeUnknownNode, fmt.Sprintf("tool %q has no node %q", t.Tool, id), id, there)
}

// path checks the ids of an expected path and of the bodies in it.
func (c *checker) path(p *Pattern, t *Test, ids map[string]*graph.Node) {
	for _, step := range p.items {
		switch {
		case step.form == listForm:
			c.path(step, t, ids)
		case step.form == literalForm && step.Node.IsString():
			c.id(step.Node, step.literal.Str(), t, ids)
		case step.form == objectForm:
			for _, e := range step.entries {
				c.id(step.Node, e.key, t, ids)
				c.path(e.pattern, t, ids)
				for _, branch := range e.pattern.entries {
					c.path(branch.pattern, t, ids)
				}
			}
		}
	}
}
