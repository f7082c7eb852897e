package graph

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// Build compiles every tool of a file and returns all problems, sorted by
// place. Where there are errors the Set is as complete as it can be, good for
// pictures and further checks, and must not be run. Expressions know the
// functions beside those of JSONata and of the history; see
// [expr.CheckFunctions].
func Build(file *config.File, kinds []*Kind, functions ...jsonata.Function) (*Set, []diag.Diagnostic) {
	return BuildContext(context.Background(), file, kinds, functions...)
}

// BuildContext is [Build], and stops when ctx ends or when its account (see
// [memory.WithAccount]) has no room for the graphs. What it returns is then
// incomplete, and ctx has the cause.
func BuildContext(ctx context.Context, file *config.File, kinds []*Kind, functions ...jsonata.Function) (*Set, []diag.Diagnostic) {
	b := &builder{
		reporter:  &reporter{meter: memory.NewMeter(ctx)},
		functions: functions,
		file:      file,
		kinds:     map[string]*Kind{},
		tools:     map[string]string{},
		callable:  map[*Schema]*liveTool{},
		programs:  map[programKey]*expr.Program{},
	}
	if len(functions) > 0 {
		b.options = []jsonata.Option{jsonata.WithFunctions(functions...)}
	}
	for _, k := range kinds {
		b.kinds[k.Name] = k
		b.kindNames = append(b.kindNames, k.Name)
	}
	b.servers = newServers(b.reporter, file)
	for _, t := range file.Tools {
		b.note(t.Nodes, t.Name.String())
	}
	for _, p := range file.Prompts {
		b.note(p.Nodes, config.Prompts+p.Name.String())
	}
	for _, r := range file.Resources {
		b.note(r.Nodes, config.Resources+r.Name.String())
	}
	set := &Set{File: file}
	if file.Flat {
		set.Graphs = flatGraphs(b)
	} else {
		for _, tool := range file.Tools {
			if b.stopped(graphBytes) {
				return set, b.ds
			}
			set.Graphs = append(set.Graphs, b.tool(tool))
		}
	}
	set.Graphs = append(set.Graphs, b.offers()...)
	if b.stopped(0) {
		return set, b.ds
	}
	findCallees(b, set.Graphs)
	b.known = newKnowledge(nil)
	for _, g := range slices.Concat(set.Graphs, b.completions) {
		if b.stopped(0) {
			return set, b.ds
		}
		setKeys(g, g.Name+"#")
		b.check(g)
	}
	checkRecursion(b.reporter, set.Graphs)
	b.servers.check()
	diag.Sort(b.ds)
	return set, b.ds
}

// note writes down the tool, prompt or resource that has nodes.
func (b *builder) note(nodes []*config.Node, owner string) {
	for _, n := range nodes {
		b.tools[n.Get("id").Text().String()] = owner
	}
}

// What the parts of a graph take, about, in bytes.
const (
	graphBytes      = 1 << 10
	graphNodeBytes  = 1 << 10
	programBytes    = 512 // and programShare for each byte of its text
	programShare    = 40
	ruleShare       = 4       // of what the rule takes as a value
	schemaBytes     = 1 << 10 // and schemaShare for each byte of its text
	schemaShare     = 30
	diagnosticBytes = 512 // and its texts
	edgeBytes       = 200 // with what is known of the ways through it
	openBytes       = 150 // of a question about the order of two nodes
)

type builder struct {
	*reporter
	file        *config.File
	functions   []jsonata.Function // of the program
	options     []jsonata.Option   // for them
	kinds       map[string]*Kind
	kindNames   []string
	servers     *servers
	tools       map[string]string // in the tool layout: for each node id, a tool that has it
	calls       []calledTool
	completions []*Graph
	known       *knowledge            // without a lock file
	callable    map[*Schema]*liveTool // tools that nodes run, by their inputSchema
	programs    map[programKey]*expr.Program
}

// node decodes one node. It returns nil if src is not a map.
func (b *builder) node(src *config.Node, where string, s *scope) *Node {
	if src.Kind() != config.Map {
		b.report(src.Expected(where, "a node: a map with id and type"))
		return nil
	}
	if b.stopped(graphNodeBytes) {
		return nil
	}
	n := &Node{Pos: src.Pos(), src: src, facts: &facts{name: where}}
	f := &Fields{b: b, src: src, node: n, scope: s, site: site{flat: s.unit.flat, body: s.owner != nil}, vars: s.vars, owner: where}
	n.ID = f.String("id", idDoc)
	if n.ID != "" {
		n.name = "node " + diag.Quote(n.ID)
		f.owner = n.name
		checkQuotedID(b.reporter, src.Get("id"), n.ID)
	}
	kind := f.String("type", typeDoc)
	n.Kind = b.kinds[kind]
	if src.IsGenerated() && n.Kind == nil {
		n.Kind = generatedKinds[kind]
	}
	if n.Kind == nil {
		n.broken = true
		if src.Get("type") == nil {
			b.misspeltType(src, f.owner)
		}
		if kind != "" {
			d := src.Get("type").Problem(diag.CodeNodeType, fmt.Sprintf("%s has the unknown type %q", f.owner, kind))
			d.Hint = cmp.Or(diag.Meant(diag.Nearest(kind, b.kindNames)), "expected "+diag.List(b.kindNames))
			b.report(d)
		}
		// What such a node calls is not known, but what it names is used.
		if server := src.Get("server"); server.IsString() {
			b.servers.used[server.Text().String()] = true
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
	what := fmt.Sprintf("%q of %s", e.Field, n.name)
	if to := s.unit.all[e.Target]; to != nil {
		n.broken = true
		b.report(s.wall(what, e, s.unit.in[to]))
		return
	}
	if tool, ok := b.tools[e.Target]; ok {
		n.broken = true
		b.report(e.src.Problem(diag.CodeForeignNode, fmt.Sprintf("%s leads to node %q, which is part of %s", what, e.Target, Quoted(tool))))
		return
	}
	d := e.src.Problem(diag.CodeUnknownNode, fmt.Sprintf("%s leads to node %q, which does not exist", what, e.Target))
	if near, ok := s.names().Nearest(e.Target); ok {
		d.Hint = fmt.Sprintf("did you mean %q?", near)
		e.To = s.byID[near]
	} else {
		n.broken = true
	}
	b.report(d)
}

// wall reports an edge that leads into a body or out of one, to a node of a
// scope.
func (s *scope) wall(what string, e *Edge, to *scope) diag.Diagnostic {
	var d diag.Diagnostic
	if s.within(to) {
		d = e.src.Problem(diag.CodeBodyEdge, fmt.Sprintf("%s leads to node %q, out of the body of node %q", what, e.Target, s.owner.ID))
		d.Hint = fmt.Sprintf("remove it if the body ends here; the run continues at the `next` of node %q", s.owner.ID)
	} else {
		d = e.src.Problem(diag.CodeBodyEdge, fmt.Sprintf("%s leads to node %q, into the body of node %q", what, e.Target, to.owner.ID))
		d.Hint = fmt.Sprintf("a body starts at its own first node; go to node %q instead", to.owner.ID)
		if s.owner == to.owner {
			d.Hint = fmt.Sprintf("the bodies of a node are separate; they join at the `next` of node %q", to.owner.ID)
		}
	}
	d.Related = []diag.Related{{Pos: to.unit.all[e.Target].Pos, Message: "the node is here"}}
	return d
}

// within reports whether s is inside of another scope.
func (s *scope) within(other *scope) bool {
	for s = s.outer; s != nil; s = s.outer {
		if s == other {
			return true
		}
	}
	return false
}

// tool builds a graph of the tool layout.
func (b *builder) tool(t *config.Tool) *Graph {
	g := b.start(t)
	b.own(g, t.Node, t.Nodes)
	return g
}

// own completes a graph that has a list of nodes of its own; nil is a list that is
// missing, which is reported already. src is the map that the graph is written in.
func (b *builder) own(g *Graph, src *config.Node, list []*config.Node) {
	s := b.unit(Quoted(g.Name), false, list)
	s.rules = b.rules(src, s, s.what)
	b.connect(s)
	g.scope = s
	g.Nodes, g.byID = s.nodes, s.byID
	g.handle(s.rules)
	if list == nil {
		return
	}
	g.Entry = b.end(g, Entry, s.nodes)
	g.Exit = b.end(g, Exit, s.nodes)
	b.fill(g)
}

// fill completes the nodes of a graph.
func (b *builder) fill(g *Graph) {
	for _, n := range g.Nodes {
		n.Graph = g
		b.bodies(n)
	}
}

// start builds the part of a graph that does not depend on its nodes.
func (b *builder) start(t *config.Tool) *Graph {
	owner := "tool " + diag.Quote(t.Name.String())
	if !t.Private {
		checkClientPatterns(b.reporter, t.OutputSchema, "outputSchema of "+owner)
	}
	return &Graph{
		Name: t.Name.String(), Title: t.Title, Description: t.Description,
		Limits:      b.file.Limits,
		Input:       readInputSchema(b.reporter, t.InputSchema, "inputSchema of "+owner),
		Output:      readSchema(b.reporter, t.OutputSchema, "outputSchema of "+owner),
		Annotations: t.Annotations, Icons: t.Icons, RequiredScopes: t.RequiredScopes, Private: t.Private, Task: t.Task,
		File: b.file.Path, Pos: t.Pos, annotationsSrc: t.Node.Get("annotations"),
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
			d := n.src.Get("type").Problem(several, fmt.Sprintf("%s has more than one %s node", g.what(), word))
			d.Related = []diag.Related{{Pos: first.src.Get("type").Pos(), Message: "first used here"}}
			b.report(d)
		}
	}
	if first == nil && !unknown && g.Owner == nil {
		hint := fmt.Sprintf("add a node with `type: %s`", word)
		if g.scope.flat {
			hint += fmt.Sprintf(" and `tool: %s`", g.Name)
		}
		b.report(diag.Diagnostic{
			File: g.File, Pos: g.Pos, Severity: diag.SeverityOf(none), Code: none,
			Message: fmt.Sprintf("%s has no %s node", Quoted(g.Name), word), Hint: hint,
		})
	}
	return first
}

// check looks at a graph whose nodes are known as a whole.
func (b *builder) check(g *Graph) {
	checkWays(b.reporter, g)
	checkReferences(b.reporter, g, b.tools)
	checkFindings(b.reporter, g)
	checkProperties(b.reporter, g)
	checkGiven(b.reporter, g)
	checkTexts(b.reporter, g)
	if !slices.ContainsFunc(g.all(), func(n *Node) bool { return n.broken || n.Kind == nil && n != n.Graph.rules }) {
		checkTypes(b.reporter, g, b.known, nil)
		checkCertainResult(b.reporter, g, b.known, nil)
	}
	checkResults(b.reporter, g)
	checkFailureNames(b.reporter, g)
	for _, n := range g.all() {
		n.Graph.walk = nil
		checkDoubleRetry(b.reporter, n, b.servers.byName[n.Server])
	}
}

// checkWays looks at the ways through a graph and through the bodies in it.
func checkWays(b *reporter, g *Graph) {
	w := newWalk(g, false)
	w.countSteps()
	g.walk = w
	if len(g.Handlers) > 0 {
		g.walk = newWalk(g, true)
	}
	checkEnds(b, g, w)
	for _, n := range g.Nodes {
		for _, body := range n.Bodies {
			checkWays(b, body)
		}
	}
}
