package graph

import (
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
)

// Build compiles every tool of a file and gives all problems that it finds,
// sorted by place. Where there are errors the Set is as complete as it can be,
// good for pictures and further checks, and must not be run.
// Expressions know the functions beside those of JSONata and of the history; see
// [expr.CheckFunctions].
func Build(file *config.File, kinds []*Kind, functions ...jsonata.Function) (*Set, []diag.Diagnostic) {
	b := &builder{
		file:        file,
		functions:   functions,
		kinds:       map[string]*Kind{},
		servers:     map[string]*config.Upstream{},
		used:        map[string]bool{},
		tools:       map[string]string{},
		suggestions: maxComparisons,
	}
	for _, k := range kinds {
		b.kinds[k.Name] = k
		b.kindNames = append(b.kindNames, k.Name)
	}
	for _, up := range file.Upstreams {
		b.servers[up.Name] = up
		b.serverNames = append(b.serverNames, up.Name)
	}
	for _, t := range file.Tools {
		for _, n := range t.Nodes {
			b.tools[n.Get("id").Text().String()] = t.Name.String()
		}
	}
	set := &Set{File: file}
	if file.Flat {
		set.Graphs = b.flat()
	} else {
		for _, tool := range file.Tools {
			set.Graphs = append(set.Graphs, b.tool(tool))
		}
	}
	for _, g := range set.Graphs {
		for _, n := range g.Nodes {
			n.Graph = g
		}
	}
	b.unusedServers()
	diag.Sort(b.ds)
	return set, b.ds
}

// maxComparisons bounds the search for near names over a whole file, so that
// ten thousand misspellings do not take minutes; later ones get no suggestion.
const maxComparisons = 1_000_000

type builder struct {
	file        *config.File
	functions   []jsonata.Function // of the program
	kinds       map[string]*Kind
	kindNames   []string
	servers     map[string]*config.Upstream
	serverNames []string
	used        map[string]bool
	tools       map[string]string // in the tool layout: for each node id, a tool that has it
	suggestions int
	ds          []diag.Diagnostic
}

func (b *builder) report(d diag.Diagnostic) { b.ds = append(b.ds, d) }

func (b *builder) nearest(name string, valid []string) (string, bool) {
	if b.suggestions -= len(valid); b.suggestions < 0 {
		return "", false
	}
	return diag.Nearest(name, valid)
}

// scope is a list of nodes among which ids are unique.
type scope struct {
	nodes []*Node
	byID  map[string]*Node
	ids   []string
}

// scope decodes a list of nodes and resolves the edges between them.
func (b *builder) scope(list []*config.Node, owner string) *scope {
	s := &scope{byID: map[string]*Node{}}
	for i, src := range list {
		n := b.node(src, fmt.Sprintf("nodes[%d] of %s", i, owner))
		if n == nil {
			continue
		}
		n.Index = len(s.nodes)
		s.nodes = append(s.nodes, n)
		if n.ID == "" {
			continue
		}
		if first := s.byID[n.ID]; first != nil {
			d := src.Get("id").Problem(diag.CodeDuplicateNode, fmt.Sprintf("%s has two nodes with id %q", owner, n.ID))
			d.Related = []diag.Related{{Pos: first.src.Get("id").Pos(), Message: "the first is here"}}
			b.report(d)
			continue
		}
		s.byID[n.ID] = n
		s.ids = append(s.ids, n.ID)
	}
	for _, n := range s.nodes {
		for i := range n.Edges {
			b.resolve(s, n, &n.Edges[i])
		}
	}
	return s
}

// node decodes one node; nil where it is not even a map.
func (b *builder) node(src *config.Node, where string) *Node {
	if src.Kind() != config.Map {
		b.report(src.Expected(where, "a node: a map with id and type"))
		return nil
	}
	n := &Node{Pos: src.Pos(), src: src}
	f := &Fields{b: b, src: src, node: n, flat: b.file.Flat, owner: where}
	n.ID = f.String("id", idDoc)
	if n.ID != "" {
		f.owner = fmt.Sprintf("node %q", n.ID)
		b.quotedID(src.Get("id"), n.ID)
	}
	kind := f.String("type", typeDoc)
	n.Kind = b.kinds[kind]
	if n.Kind == nil {
		n.broken = true
		if src.Get("type") == nil {
			b.misspeltType(src, f.owner)
		}
		if kind != "" {
			d := src.Get("type").Problem(diag.CodeNodeType, fmt.Sprintf("%s has type %q, which does not exist", f.owner, kind))
			d.Hint = "types are " + diag.List(b.kindNames)
			if near, ok := diag.Nearest(kind, b.kindNames); ok {
				d.Hint = fmt.Sprintf("did you mean %q?", near)
			}
			b.report(d)
		}
		// What such a node calls is not known, but what it names is used.
		if server := src.Get("server"); server.IsString() {
			b.used[server.Text().String()] = true
		}
		return n
	}
	f.common(n.Kind.Role)
	n.Step = n.Kind.Decode(f)
	f.finish()
	return n
}

// misspeltType reports the key of a node without a type that looks like it.
// What other keys such a node may have is not known.
func (b *builder) misspeltType(src *config.Node, owner string) {
	valid := []string{"type"}
	for _, field := range src.Fields() {
		if _, ok := diag.Nearest(field.Key.String(), valid); ok {
			b.report(field.Key.Unknown(owner, valid))
		}
	}
}

const (
	idDoc   = "Name of the node, unique within its graph; expressions read its latest output as $.ID"
	typeDoc = "What the node does"
)

// resolve finds the node that an edge names. Where a name is nearly right the
// edge is taken to lead there, which keeps one mistake from being reported as
// many.
func (b *builder) resolve(s *scope, n *Node, e *Edge) {
	if e.To = s.byID[e.Target]; e.To != nil {
		return
	}
	if tool, ok := b.tools[e.Target]; ok {
		n.broken = true
		b.report(e.src.Problem(diag.CodeForeignNode, fmt.Sprintf(
			"%q of node %q leads to node %q, which is part of tool %q", e.Field, n.ID, e.Target, tool)))
		return
	}
	d := e.src.Problem(diag.CodeUnknownNode, fmt.Sprintf(
		"%q of node %q leads to node %q, which does not exist", e.Field, n.ID, e.Target))
	if near, ok := b.nearest(e.Target, s.ids); ok {
		d.Hint = fmt.Sprintf("did you mean %q?", near)
		e.To = s.byID[near]
	} else {
		n.broken = true
	}
	b.report(d)
}

// tool builds a graph of the tool layout.
func (b *builder) tool(t *config.Tool) *Graph {
	s := b.scope(t.Nodes, fmt.Sprintf("tool %q", t.Name.String()))
	g := b.start(t)
	g.Nodes, g.byID = s.nodes, s.byID
	if t.Nodes == nil {
		return g // reported already
	}
	g.Entry = b.end(g, Entry, s.nodes)
	g.Exit = b.end(g, Exit, s.nodes)
	b.check(g, s)
	return g
}

// start builds the part of a graph that does not depend on its nodes.
func (b *builder) start(t *config.Tool) *Graph {
	owner := fmt.Sprintf("tool %q", t.Name.String())
	return &Graph{
		Name: t.Name.String(), Title: t.Title, Description: t.Description,
		Limits:      b.file.Limits,
		Input:       b.inputSchema(t.InputSchema, "inputSchema of "+owner),
		Output:      b.schema(t.OutputSchema, "outputSchema of "+owner),
		Annotations: t.Annotations, Icons: t.Icons, RequiredScopes: t.RequiredScopes,
		File: b.file.Path, Pos: t.Pos,
	}
}

// end finds the one node of a role among candidates.
func (b *builder) end(g *Graph, role Role, candidates []*Node) *Node {
	word, none, several := "entry", diag.CodeNoEntry, diag.CodeSeveralEntries
	if role == Exit {
		word, none, several = "exit", diag.CodeNoExit, diag.CodeSeveralExits
	}
	var first *Node
	unknown := false
	for _, n := range candidates {
		switch {
		case n.Kind == nil:
			unknown = true
		case n.Kind.Role != role:
		case first == nil:
			first = n
		default:
			d := n.src.Get("type").Problem(several, fmt.Sprintf("tool %q has more than one %s node", g.Name, word))
			d.Related = []diag.Related{{Pos: first.src.Get("type").Pos(), Message: "the first is here"}}
			b.report(d)
		}
	}
	if first == nil && !unknown {
		hint := fmt.Sprintf("add a node with `type: %s`", word)
		if b.file.Flat {
			hint += fmt.Sprintf(" and `tool: %s`", g.Name)
		}
		b.report(diag.Diagnostic{
			File: g.File, Pos: g.Pos, Severity: diag.SeverityOf(none), Code: none,
			Message: fmt.Sprintf("tool %q has no %s node", g.Name, word), Hint: hint,
		})
	}
	return first
}

// check looks at a graph whose nodes are known as a whole.
func (b *builder) check(g *Graph, s *scope) {
	w := newWalk(g)
	w.countSteps()
	b.ways(g, s, w)
	b.references(g, s, w)
	b.findings(g, s)
	b.properties(g)
	b.results(g)
}
