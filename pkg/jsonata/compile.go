package jsonata

import (
	"errors"
	"strconv"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata/internal/regex"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// node is a piece of a compiled expression. It is immutable: the state of an
// evaluation lies in the evaluator and its frames.
type node interface {
	eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error)
}

// unit is a compiled source.
type unit struct {
	body  node
	info  *frameInfo
	names map[string]int // the cells of variables bound at the top
	blank *frame         // the frame, where nothing can be bound in it
	known pictures
}

// compiler turns one syntax tree into nodes.
type compiler struct {
	scope     *scope
	functions map[string]value.Value
	pending   []func() // what waits until all variables are declared
	usesEval  bool
	known     pictures
	err       *Error
}

// compile compiles a tree. outer is the scope around source given to $eval.
func compile(tree *ast, outer *scope, functions map[string]value.Value) (*unit, *Error) {
	info := &frameInfo{}
	s := &scope{info: info, parent: outer}
	if outer != nil {
		info.parent = outer.info
	}
	c := &compiler{scope: s, functions: functions, usesEval: outer != nil || mentions(tree, "eval")}
	s.eval = c.usesEval
	body := c.node(tree)
	if c.err != nil {
		return nil, c.err
	}
	for _, do := range c.pending {
		do()
	}
	info.pooled = outer == nil && !tree.closes && !c.usesEval
	u := &unit{body: body, info: info, names: s.names, known: c.known}
	if info.size == 0 && outer == nil && !c.usesEval {
		u.blank = &frame{}
	}
	return u, nil
}

func (c *compiler) fail(err *Error) {
	if c.err == nil {
		c.err = err
	}
}

// within compiles with a scope inside the current one.
func (c *compiler) within(info *frameInfo, do func(s *scope)) *scope {
	s := &scope{parent: c.scope, info: info, eval: c.usesEval}
	c.scope = s
	do(s)
	c.scope = s.parent
	return s
}

// ownFrame returns the frame for a scope inside the current one: one of its
// own where a function made in it can outlive it, else the current one.
func (c *compiler) ownFrame(closes bool) *frameInfo {
	if closes || c.usesEval {
		return &frameInfo{parent: c.scope.info}
	}
	return c.scope.info
}

func (c *compiler) nodes(list []*ast) []node {
	out := make([]node, len(list))
	for i, n := range list {
		out[i] = c.node(n)
	}
	return out
}

// node compiles a tree with its predicates and grouping.
func (c *compiler) node(n *ast) node {
	if n.kind == astPath {
		return fields(c.path(n))
	}
	core := c.core(n)
	if len(n.predicate) == 0 && n.group == nil && !n.keepArray {
		return core
	}
	post := &postNode{core: sequenced(core), keep: n.keepArray}
	for _, st := range n.predicate {
		post.filters = append(post.filters, c.filter(st))
	}
	if n.group != nil {
		post.group = c.group(n.group.pairs, n.group.off)
	}
	return post
}

// sequenced makes a node return a sequence of one unchanged, for the next step.
func sequenced(n node) node {
	switch n := n.(type) {
	case *callNode:
		n.raw = true
	case *applyNode:
		n.raw = true
	case *wildcardNode:
		n.raw = true
	}
	return n
}

// core compiles a tree without what stands behind it.
func (c *compiler) core(n *ast) node {
	switch n.kind {
	case astName:
		return &nameNode{name: n.text}
	case astWildcard:
		return &wildcardNode{}
	case astDescendant:
		return descendantNode{}
	case astParent:
		return c.parent(n)
	case astVariable:
		return c.variable(n)
	case astString, astNumber, astValue:
		return &literalNode{v: n.val}
	case astRegex:
		return c.regex(n)
	case astBinary:
		return compileBinary(c, n)
	case astNegate:
		return &negateNode{operand: c.node(n.lhs), off: n.off}
	case astArray:
		a := &arrayNode{cons: n.consArray, off: n.off}
		for _, item := range n.list {
			a.items = append(a.items, arrayItem{node: c.node(item), nested: item.kind == astArray})
		}
		return a
	case astObject:
		return c.object(n)
	case astBlock:
		return c.block(n)
	case astCondition:
		cond := &conditionNode{cond: c.node(n.lhs), then: c.node(n.rhs), off: n.off}
		if n.els != nil {
			cond.els = c.node(n.els)
		}
		return cond
	case astDefault:
		return &defaultNode{l: c.node(n.lhs), r: c.node(n.rhs), off: n.off}
	case astCoalesce:
		return &defaultNode{l: c.node(n.lhs), r: c.node(n.rhs), off: n.off, exists: true}
	case astBind:
		return c.bind(n)
	case astLambda:
		return c.lambda(n)
	case astCall:
		return counted(c.call(n))
	case astPartial:
		p := &partialNode{proc: c.node(n.lhs), args: make([]node, len(n.list)), off: n.off, token: procName(n.lhs), name: lacksDollar(n.lhs)}
		for i, a := range n.list {
			if a.kind != astPlaceholder {
				p.args[i] = c.node(a)
			}
		}
		p.hint = c.hint(p.name)
		return p
	case astApply:
		return c.apply(n)
	case astTransform:
		t := &transformNode{pattern: c.node(n.lhs), update: c.node(n.rhs), off: n.off}
		if n.els != nil {
			t.remove = c.node(n.els)
		}
		return t
	}
	return &literalNode{}
}

func (c *compiler) regex(n *ast) node {
	re, err := regex.Compile(n.text, n.flags)
	if err != nil {
		e := newError("S0303", n.off, details{token: n.text, text: err.Error()})
		var syntax *regex.SyntaxError
		if errors.As(err, &syntax) {
			e.Offset = n.off + 1 + syntax.Offset
			e.Message = sentence("S0303", details{text: syntax.Reason})
		}
		c.fail(e)
		return &literalNode{}
	}
	return &literalNode{v: value.FromFunc(&matcher{re: re})}
}

func (c *compiler) parent(n *ast) node {
	v := &variableNode{name: labelName(n.slot), off: n.off}
	c.resolve(v)
	return v
}

// labelName is the variable in which a step keeps its input for %. No source
// can spell it.
func labelName(s *slot) string { return "%" + strconv.Itoa(*s.label) }

func (c *compiler) variable(n *ast) node {
	if n.text == "" {
		return contextNode{}
	}
	v := &variableNode{name: n.text, off: n.off}
	if n.text == "$" {
		v.root = true
	} else if fn, ok := c.functions[n.text]; ok {
		v.global = fn
	} else {
		v.global = builtin(n.text)
	}
	c.resolve(v)
	return v
}

// resolve finds the cells of a variable once all are declared.
func (c *compiler) resolve(v *variableNode) {
	s := c.scope
	v.extra = c.usesEval
	c.pending = append(c.pending, func() {
		v.refs = s.refsTo(v.name, s.info)
		if len(v.refs) > 0 && v.refs[0].hops == 0 {
			v.near = v.refs[0].index + 1
		}
	})
}

func (c *compiler) bind(n *ast) node {
	b := &bindNode{rhs: c.node(n.rhs), name: n.lhs.text}
	s := c.scope
	b.index = s.declare(b.name)
	return b
}

func (c *compiler) block(n *ast) node {
	b := &blockNode{off: n.off, info: c.ownFrame(n.closes)}
	b.own = b.info != c.scope.info
	s := c.within(b.info, func(*scope) { b.list = c.nodes(n.list) })
	c.pending = append(c.pending, func() {
		b.cells = s.cells
		if b.info.elided() {
			b.own = false
		}
	})
	return b
}

func (c *compiler) lambda(n *ast) node {
	fn := &lambdaNode{sig: n.sig, off: n.off, info: &frameInfo{parent: c.scope.info}}
	// A frame that nothing made in the body can refer to is used again.
	fn.info.pooled = !n.rhs.closes && !c.usesEval
	c.within(fn.info, func(s *scope) {
		for _, p := range n.list {
			fn.params = append(fn.params, s.declare(p.text))
		}
		fn.body = c.tailed(c.node(n.rhs))
	})
	return fn
}

// tailed replaces the calls in tail position of a function's body.
func (c *compiler) tailed(n node) node {
	switch n := n.(type) {
	case *callNode:
		return &tailNode{call: n}
	case *postNode:
		// What stands behind a call in tail position does not count, but for
		// predicates.
		if call, ok := n.core.(*callNode); ok && len(n.filters) == 0 {
			return &tailNode{call: call}
		}
	case *conditionNode:
		n.then = c.tailed(n.then)
		if n.els != nil {
			n.els = c.tailed(n.els)
		}
	case *blockNode:
		if len(n.list) > 0 {
			n.list[len(n.list)-1] = c.tailed(n.list[len(n.list)-1])
		}
	}
	return n
}

func (c *compiler) filter(st stage) filter {
	if st.expr == nil {
		return filter{binds: true}
	}
	if st.expr.isNumberLiteral() { // what stands behind the number does not count
		return filter{literal: true, index: st.expr.val.Float()}
	}
	return filter{expr: c.node(st.expr), off: st.off}
}

func (c *compiler) group(pairs [][2]*ast, off int) *groupNode {
	g := &groupNode{off: off, constant: true}
	seen := map[string]bool{}
	for _, p := range pairs {
		m := member{key: c.node(p[0]), value: c.node(p[1]), off: p[0].off}
		if lit, ok := m.key.(*literalNode); ok && lit.v.Kind() == value.String && !seen[lit.v.Str()] {
			m.name = lit.v.Str()
			seen[m.name] = true
		} else {
			g.constant = false
		}
		g.members = append(g.members, m)
	}
	return g
}

func (c *compiler) object(n *ast) node {
	return &objectNode{group: c.group(n.pairs, n.off)}
}

func (c *compiler) sort(n *ast) *sortNode {
	s := &sortNode{off: n.off}
	for _, t := range n.terms {
		s.terms = append(s.terms, sortKey{node: c.node(t.expr), descending: t.descending, off: t.expr.off})
	}
	return s
}

func (c *compiler) apply(n *ast) node {
	a := &applyNode{lhs: c.node(n.lhs), off: n.off, token: procName(n.rhs)}
	if n.rhs.kind == astCall && len(n.rhs.predicate) == 0 && n.rhs.group == nil {
		call := c.call(n.rhs)
		call.first = a.lhs
		if n.keepArray {
			return &postNode{core: sequenced(call), keep: true}
		}
		return call
	}
	a.rhs = c.node(n.rhs)
	return a
}

// mentions reports whether a variable of that name occurs in a tree.
func mentions(n *ast, name string) bool {
	found := false
	walk(n, func(n *ast) bool {
		if n.kind == astVariable && n.text == name {
			found = true
		}
		return !found
	})
	return found
}

// walk visits a tree from the top until visit returns false.
func walk(n *ast, visit func(*ast) bool) {
	if n == nil || !visit(n) {
		return
	}
	walk(n.lhs, visit)
	walk(n.rhs, visit)
	walk(n.els, visit)
	for _, k := range n.list {
		walk(k, visit)
	}
	for _, t := range n.terms {
		walk(t.expr, visit)
	}
	for _, p := range n.pairs {
		walk(p[0], visit)
		walk(p[1], visit)
	}
	for _, list := range [][]stage{n.predicate, n.stages} {
		for _, s := range list {
			walk(s.expr, visit)
		}
	}
	if n.group != nil {
		for _, p := range n.group.pairs {
			walk(p[0], visit)
			walk(p[1], visit)
		}
	}
}
