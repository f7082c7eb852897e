package suite

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Check reports names in the test file that its configuration does not have: tools,
// nodes and servers.
func (f *File) Check(set *graph.Set) []diag.Diagnostic {
	c := checker{set: set, seen: map[problem]bool{}, graphs: map[string]*toolNodes{}, checked: map[*Mock]bool{}}
	var servers, tools []string
	for _, u := range set.File.Upstreams {
		servers = append(servers, u.Name)
	}
	for _, u := range set.File.Disabled {
		servers = append(servers, u.Name)
	}
	for _, g := range slices.Backward(set.Graphs) {
		tools = append(tools, g.Name)
		c.graphs[g.Name] = &toolNodes{graph: g} // the first of a name
	}
	c.servers, c.tools = diag.NewNames(servers), diag.NewNames(tools)
	for _, t := range f.Tests {
		c.test(t)
	}
	diag.Sort(c.found)
	return c.found
}

type checker struct {
	set            *graph.Set
	tools, servers *diag.Names
	graphs         map[string]*toolNodes // by name
	checked        map[*Mock]bool
	found          []diag.Diagnostic
	seen           map[problem]bool
}

// toolNodes are the nodes of a tool, of its bodies and of the tools that it calls.
type toolNodes struct {
	graph *graph.Graph
	ids   map[string]*graph.Node // once they are needed
	names *diag.Names            // of them, once they are needed
}

func (t *toolNodes) all() map[string]*graph.Node {
	if t.ids == nil {
		t.ids = map[string]*graph.Node{}
		collectIDs(t.graph, t.ids, map[*graph.Graph]bool{})
	}
	return t.ids
}

func (c *checker) report(d diag.Diagnostic) {
	p := problem{d.Pos, d.Code, d.Message}
	if !c.seen[p] {
		c.seen[p] = true
		c.found = append(c.found, d)
	}
}

// unknown reports a name that is not among those there are.
func (c *checker) unknown(n *config.Node, code, message, name string, there *diag.Names) {
	d := n.Problem(code, message)
	d.Hint = there.Expected(name, "expected ")
	c.report(d)
}

func (c *checker) test(t *Test) {
	for _, m := range t.Mocks {
		if c.checked[m] {
			continue // those of the file belong to every test
		}
		c.checked[m] = true
		if name := m.server.text; name != "" && !c.servers.Has(name) && !slices.ContainsFunc(c.servers.All(), m.server.matches) {
			c.unknown(m.Server, diag.CodeUnknownServer, fmt.Sprintf("the configuration has no server %q", name), name, c.servers)
		}
	}
	ids := c.graphs[t.Tool]
	if ids == nil {
		if t.Tool != "" {
			c.unknown(t.ToolNode, diag.CodeUnknownTool, fmt.Sprintf("the configuration has no tool %q", t.Tool), t.Tool, c.tools)
		}
		return
	}
	for _, a := range t.Answers {
		c.id(a.Node, a.ID.String(), t, ids)
		if n := ids.all()[a.ID.String()]; n != nil {
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

func (c *checker) id(n *config.Node, id string, t *Test, ids *toolNodes) {
	if ids.all()[id] != nil {
		return
	}
	if ids.names == nil {
		ids.names = diag.NewNames(slices.Collect(maps.Keys(ids.ids)))
	}
	c.unknown(n, diag.CodeUnknownNode, fmt.Sprintf("tool %q has no node %q", t.Tool, id), id, ids.names)
}

// path checks the ids of an expected path and of the bodies in it.
func (c *checker) path(p *Pattern, t *Test, ids *toolNodes) {
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
