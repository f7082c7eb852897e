package graph

import (
	"fmt"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
)

// Body asks for the one body of the node: a list under `nodes` or, where it has a
// catch of its own, a map under `body`. Its expressions can read vars, named
// without the dollar sign.
func (f *Fields) Body(vars ...string) {
	list := f.get(NodesField, "nodes", "The nodes of the body; without an entry node it begins with the first", []Option{Optional, instead("body")})
	whole := f.get(BodyField, "body", "The body, where it has a catch of its own", []Option{Optional})
	switch {
	case f.src == nil:
	case list != nil && whole != nil:
		f.Problem("body", diag.CodeConflict, `has both "nodes" and "body"`, "write the nodes in one of them")
	case list != nil && list.Kind() != config.List:
		d := list.Expected(f.what("nodes"), "a list of nodes")
		if list.Kind() == config.Map {
			d.Hint = "put a map with nodes and catch under `body`"
		}
		f.report(d)
		f.node.broken = true
	case list != nil:
		f.body(list, "the body of "+f.node.name, vars)
	case whole != nil:
		f.body(whole, "the body of "+f.node.name, vars)
	default:
		f.report(f.src.Missing(f.owner, "nodes"))
	}
}

// Branches asks for a map of bodies and returns their names.
func (f *Fields) Branches(name, doc string) []string {
	n := f.get(BranchesField, name, doc, nil)
	if n == nil {
		return nil
	}
	if n.Kind() != config.Map {
		f.report(n.Expected(f.what(name), "a map from names to lists of nodes"))
		return nil
	}
	var names []string
	for _, field := range n.Fields() {
		key := field.Key.String()
		if config.IsFree(key) {
			continue
		}
		names = append(names, key)
		f.body(field.Value, "branch "+diag.Quote(key)+" of "+f.node.name, nil)
	}
	if len(names) == 0 {
		f.report(n.Problem(diag.CodeValue, fmt.Sprintf("%s has no branches", f.what(name))))
	}
	return names
}

// body decodes a list of nodes, or a map with nodes and catch.
func (f *Fields) body(n *config.Node, what string, vars []string) {
	s := &scope{
		flat: f.scope.flat, unit: f.scope.unit, outer: f.scope, owner: f.node, what: what, byID: map[string]*Node{},
		vars: append(slices.Clip(f.scope.vars), vars...),
	}
	f.node.bodies = append(f.node.bodies, s)
	list := n
	switch n.Kind() {
	case config.Map:
		whole := &Fields{b: f.b, src: n, node: f.node, scope: f.scope, site: f.site, owner: what}
		if list = whole.get(NodesField, "nodes", "", nil); list != nil && list.Kind() != config.List {
			f.report(list.Expected(whole.what("nodes"), "a list of nodes"))
		}
		whole.finish("catch")
	case config.List:
	default:
		f.report(n.Expected(what, "a list of nodes, or a map with nodes and catch"))
	}
	if list == nil || list.Kind() != config.List {
		f.node.broken = true
		return
	}
	if len(list.Items()) == 0 {
		f.report(list.Problem(diag.CodeNoNodes, what+" has no nodes"))
	}
	f.b.decode(s, list.Items())
	if n.Kind() == config.Map {
		s.rules = f.b.rules(n, s, what)
	}
}

// Variable asks for the name of a variable; absent is what it is where the node
// leaves it out.
func (f *Fields) Variable(name, doc, absent string) string {
	n := f.setting(config.Setting{Name: name, Doc: doc, Default: fmt.Sprintf("%q", absent)})
	if n == nil {
		return absent
	}
	if !n.IsString() {
		f.report(n.Expected(f.what(name), "the name of a variable"))
		return absent
	}
	v := n.Text().String()
	switch {
	case !isVariable(v):
		d := n.Problem(diag.CodeValue, fmt.Sprintf("%s is %q, which is not a valid variable name", f.what(name), v))
		d.Hint = "use letters, digits and _, and do not begin with a digit; expressions write $ before the name"
		f.report(d)
		return absent
	case isFunction(v, f.b.functions):
		d := n.Problem(diag.CodeValue, fmt.Sprintf("%s is %q, which is the name of a function", f.what(name), v))
		d.Hint = fmt.Sprintf("$%s is a function; choose another name", v)
		f.report(d)
		return absent
	}
	return v
}

func isVariable(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

func isFunction(name string, functions []jsonata.Function) bool {
	for _, f := range functions {
		if f.Name == name {
			return true
		}
	}
	return expr.IsFunction(name)
}

// SetSpread sets how a Fork of the node runs its bodies.
func (f *Fields) SetSpread(s Spread) { f.node.Spread = &s }

// SpreadOver declares that the bodies of a Fork run for each item of t.
func (f *Fields) SpreadOver(t *Template) { f.node.items = t }

// checkLoose reports the nodes of a body that nothing reaches.
func checkLoose(b *reporter, g *Graph) {
	into := incoming(g.Nodes)
	for i := range g.Handlers {
		if to := g.Handlers[i].To; to != nil {
			into[to.Index] = append(into[to.Index], 0)
		}
	}
	for i, n := range g.Nodes {
		if g.walk.reached[i] || len(into[i]) > 0 || g.byID[n.ID] != n || isEnd(n) {
			continue
		}
		d := n.problem(diag.CodeLooseNode, fmt.Sprintf("nothing leads to node %q in %s", n.ID, g.what()))
		if i > 0 && g.Nodes[i-1].ends {
			d.Hint = fmt.Sprintf("the body ends after node %q, which has no `next`; write `next: %s` there", g.Nodes[i-1].ID, n.ID)
		} else {
			d.Hint = fmt.Sprintf("write `next: %s` at the node before it", n.ID)
		}
		b.report(d)
	}
}

// instead names the field that is required if this one is absent.
func instead(name string) Option { return func(f *Field) { f.Instead = name } }

// reportHidden reports a reference to a node that stands in a body which the reader is
// not in.
func reportHidden(b *reporter, g *Graph, target *Node, r reference) {
	var owner *Node // of the outermost body around the target that g is not in
	for at := target.Graph; !g.sees(at); at = at.around() {
		owner = at.Owner
	}
	d := r.problem(diag.CodeHiddenNode, fmt.Sprintf("node %q is inside node %q and cannot be read here", target.ID, owner.ID))
	for at := g; at != nil && at.Owner != nil; at = at.around() {
		if at.Owner == owner {
			d.Message = fmt.Sprintf("node %q is in another body of node %q and cannot be read here", target.ID, owner.ID)
			d.Hint = fmt.Sprintf("branches cannot read each other; read %s after the node", readNode(owner.ID))
		}
	}
	if d.Hint == "" {
		d.Hint = fmt.Sprintf("use %s, the results of its bodies", readNode(owner.ID))
	}
	d.Related = []diag.Related{{Pos: target.Pos, Message: "the node is here"}}
	b.report(d)
}
