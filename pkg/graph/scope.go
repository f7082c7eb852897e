package graph

import (
	"fmt"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// scope is a list of nodes between which edges lead.
type scope struct {
	// flat is true for the nodes of the flat layout.
	flat bool
	// unit is the outermost scope around it, itself if there is none. Among all
	// nodes in it ids are unique.
	unit  *scope
	outer *scope // nil for a unit
	owner *Node  // the node of which it is a body, nil for a unit
	// what names the scope in messages.
	what  string
	vars  []string // that expressions in it can read, without the dollar sign
	rules *Node    // stands for what `catch` beside the list says; nil without

	nodes []*Node
	byID  map[string]*Node
	ids   []string
	named *diag.Names // ids, once something asks for them
	// all are, of a unit, the first nodes with an id; in are the scopes of them.
	all map[string]*Node
	in  map[*Node]*scope
}

// names returns the ids of the nodes of a scope that is decoded.
func (s *scope) names() *diag.Names {
	if s.named == nil {
		s.named = diag.NewNames(slices.Clone(s.ids))
	}
	return s.named
}

// unit begins the scope of a tool, prompt or resource or, in the flat layout, of the
// file.
func (b *builder) unit(what string, flat bool, list []*config.Node) *scope {
	s := &scope{what: what, flat: flat, byID: map[string]*Node{}, all: map[string]*Node{}, in: map[*Node]*scope{}}
	s.unit = s
	b.decode(s, list)
	return s
}

// decode decodes the nodes of a scope, and the bodies in them.
func (b *builder) decode(s *scope, list []*config.Node) {
	for i, src := range list {
		n := b.node(src, fmt.Sprintf("nodes[%d] of %s", i, s.what), s)
		if n == nil {
			continue
		}
		n.Index = len(s.nodes)
		s.nodes = append(s.nodes, n)
		if n.ID == "" {
			continue
		}
		first := s.unit.all[n.ID]
		if first != nil {
			d := src.Get("id").Problem(diag.CodeDuplicateNode, fmt.Sprintf("duplicate node id %[2]q in %[1]s", s.unit.what, n.ID))
			d.Related = []diag.Related{{Pos: first.src.Get("id").Pos(), Message: "first used here"}}
			b.report(d)
		} else {
			s.unit.all[n.ID], s.unit.in[n] = n, s
		}
		if s.byID[n.ID] == nil {
			s.byID[n.ID] = n
			s.ids = append(s.ids, n.ID)
		}
	}
}

// connect resolves the edges of a scope, and of the bodies in it.
func (b *builder) connect(s *scope) {
	for _, n := range s.nodes {
		if b.stopped(0) {
			return
		}
		for i := range n.Edges {
			b.resolve(s, n, &n.Edges[i])
		}
		for _, body := range n.bodies {
			b.connect(body)
		}
	}
	b.connectRules(s, s.rules)
}

// connectRules resolves the edges of the `catch` beside a list of nodes.
func (b *builder) connectRules(s *scope, rules *Node) {
	if rules != nil {
		for i := range rules.Edges {
			b.resolve(s, rules, &rules.Edges[i])
		}
	}
}

// rules decodes the `catch` of a tool or body, which src is the map of, or nil
// if it has none.
func (b *builder) rules(src *config.Node, s *scope, what string) *Node {
	if _, ok := src.Field("catch"); !ok {
		return nil
	}
	n := &Node{Pos: src.Pos(), src: src, facts: &facts{name: what}}
	f := &Fields{b: b, src: src, node: n, scope: s, site: site{flat: s.unit.flat, body: s.owner != nil}, vars: s.vars, owner: what}
	f.Catch()
	for _, inner := range f.inner {
		inner.finish()
	}
	return n
}

// bodies makes the graphs of the bodies of a node.
func (b *builder) bodies(n *Node) {
	for _, s := range n.bodies {
		g := &Graph{
			Name: n.Graph.Name, Limits: n.Graph.Limits, File: n.Graph.File, Pos: n.Pos, Owner: n,
			Nodes: s.nodes, byID: s.byID, scope: s,
		}
		n.Bodies = append(n.Bodies, g)
		g.handle(s.rules)
		g.Entry = b.end(g, Entry, s.nodes)
		g.Exit = b.end(g, Exit, s.nodes)
		if g.Entry == nil && len(s.nodes) > 0 {
			g.Entry = s.nodes[0]
		}
		b.fill(g)
	}
}
