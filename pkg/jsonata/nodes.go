package jsonata

import (
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// literalNode is a constant: a string, number, boolean, null or regular
// expression.
type literalNode struct{ v value.Value }

func (n *literalNode) eval(*evaluator, *frame, value.Value) (value.Value, *Error) {
	return n.v, nil
}

// contextNode is $.
type contextNode struct{}

func (contextNode) eval(_ *evaluator, _ *frame, in value.Value) (value.Value, *Error) {
	return inner(in), nil
}

// inner takes the wrapping off the input of an evaluation, and reduces
// sequences as every result is.
func inner(v value.Value) value.Value {
	if v.Flags()&value.Outer != 0 {
		return v.Elems()[0]
	}
	return unwrap(v)
}

// variableNode is a variable, or the parent that % stands for.
type variableNode struct {
	name   string
	refs   []cellRef
	near   int         // one more than its cell in the innermost frame, where it has one
	global value.Value // the function of that name
	root   bool        // $$
	extra  bool        // source given to $eval can bind it
	off    int
}

func (n *variableNode) eval(ev *evaluator, f *frame, _ value.Value) (value.Value, *Error) {
	if n.near > 0 {
		if c := &f.cells[n.near-1]; c.set {
			return unwrap(c.v), nil
		}
	}
	return n.search(ev, f), nil
}

// search looks further than the innermost frame.
func (n *variableNode) search(ev *evaluator, f *frame) value.Value {
	if len(n.refs) > 0 {
		if v, ok := lookup(n.refs, f); ok {
			return unwrap(v)
		}
	}
	if n.extra {
		if v, ok := lookupExtra(n.name, f); ok {
			return unwrap(v)
		}
	}
	if n.root {
		return inner(ev.root)
	}
	for i := len(ev.opts.Vars) - 1; i >= 0; i-- {
		if v := &ev.opts.Vars[i]; v.Key == n.name {
			return unwrap(v.Value)
		}
	}
	return n.global
}

// nameNode is a name outside a path, which only a predicate can make of it.
type nameNode struct{ name string }

func (n *nameNode) eval(ev *evaluator, _ *frame, in value.Value) (value.Value, *Error) {
	if in.Kind() != value.Array {
		return memberOf(ev, in, n.name)
	}
	var out []value.Value
	err := membersOf(ev, in.Elems(), n.name, &out, 0)
	return sequence(out), err
}

// wildcardNode is *: all values of an object, arrays flattened.
type wildcardNode struct {
	raw bool // the sequence is not reduced
}

func (n *wildcardNode) eval(ev *evaluator, _ *frame, in value.Value) (value.Value, *Error) {
	in = outermost(in)
	var out []value.Value
	flat := false // with an array among the values, the result is no sequence
	add := func(v value.Value) *Error {
		if err := ev.spend(1); err != nil {
			return err
		}
		if v.Kind() == value.Array {
			flat = true
			return flatten(ev, v, &out, 0)
		}
		var err *Error
		out, err = ev.push(out, v)
		return err
	}
	for _, v := range in.Elems() {
		if err := add(v); err != nil {
			return value.Undef, err
		}
	}
	for _, e := range in.Entries() {
		if err := add(e.Value); err != nil {
			return value.Undef, err
		}
	}
	switch {
	case flat:
		return value.FromArray(out), nil
	case n.raw:
		return sequence(out), nil
	}
	return unwrap(sequence(out)), nil
}

// outermost takes the wrapping off the input of an evaluation.
func outermost(v value.Value) value.Value {
	if v.Flags()&value.Outer != 0 {
		return v.Elems()[0]
	}
	return v
}

// flatten appends the leaves of nested arrays.
func flatten(ev *evaluator, v value.Value, out *[]value.Value, depth int) *Error {
	if depth > maxValueDepth {
		return stopped(-1, "a value is nested too deeply")
	}
	elems := v.Elems()
	if err := ev.spend(len(elems)); err != nil {
		return err
	}
	for _, e := range elems {
		var err *Error
		if e.Kind() != value.Array {
			*out, err = ev.push(*out, e)
		} else {
			err = flatten(ev, e, out, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// descendantNode is **: the context and all that is in it, at any depth.
type descendantNode struct{}

func (descendantNode) eval(ev *evaluator, _ *frame, in value.Value) (value.Value, *Error) {
	if in.IsUndefined() {
		return in, nil
	}
	var out []value.Value
	if err := descend(ev, in, &out, 0); err != nil {
		return value.Undef, err
	}
	if len(out) == 1 {
		return out[0], nil
	}
	return unwrap(value.FromArray(out).WithFlags(value.Sequence)), nil
}

func descend(ev *evaluator, v value.Value, out *[]value.Value, depth int) *Error {
	if depth > maxValueDepth {
		return stopped(-1, "a value is nested too deeply")
	}
	if err := ev.spend(1); err != nil {
		return err
	}
	if v.Kind() == value.Array {
		for _, e := range v.Elems() {
			if err := descend(ev, e, out, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	var err *Error
	if *out, err = ev.push(*out, v); err != nil {
		return err
	}
	for _, e := range v.Entries() {
		if err := descend(ev, e.Value, out, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// arrayNode is an array constructor.
type arrayNode struct {
	items []arrayItem
	cons  bool
	off   int
}

type arrayItem struct {
	node   node
	nested bool // an array constructor, which is not flattened
}

func (n *arrayNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	if err := ev.enter(n.off); err != nil {
		return value.Undef, err
	}
	if err := construct(ev, len(n.items)); err != nil {
		return value.Undef, err
	}
	ev.fuel -= len(n.items)
	var out []value.Value
	for i := range n.items {
		item := &n.items[i]
		v, err := item.node.eval(ev, f, in)
		if err != nil {
			return value.Undef, err
		}
		if v.IsUndefined() {
			continue
		}
		if item.nested || v.Kind() != value.Array {
			if out == nil {
				out = make([]value.Value, 0, len(n.items))
			}
			if out, err = ev.push(out, v); err != nil {
				return value.Undef, err
			}
			continue
		}
		elems := v.Elems()
		if len(n.items) == 1 {
			// The elements are shared: they never change.
			out = elems
			continue
		}
		if out, err = ev.pushAll(out, elems); err != nil {
			return value.Undef, err
		}
	}
	ev.leave()
	v := value.FromArray(out)
	if n.cons {
		v = v.WithFlags(value.Cons)
	}
	return v, nil
}

// blockNode is a list of expressions in parentheses; its variables are its
// own.
type blockNode struct {
	list  []node
	info  *frameInfo
	own   bool // a frame for each turn
	cells []int
	off   int
}

func (n *blockNode) frame(ev *evaluator, f *frame) *frame {
	if n.own {
		return ev.newFrame(n.info, f)
	}
	reset(n.cells, f)
	return f
}

func (n *blockNode) eval(ev *evaluator, f *frame, in value.Value) (v value.Value, err *Error) {
	if err := ev.enter(n.off); err != nil {
		return value.Undef, err
	}
	f = n.frame(ev, f)
	for _, e := range n.list {
		if v, err = e.eval(ev, f, in); err != nil {
			return value.Undef, err
		}
	}
	ev.leave()
	return unwrap(v), nil
}

func (n *blockNode) last() tupleSource {
	if len(n.list) == 0 {
		return nil
	}
	src, _ := n.list[len(n.list)-1].(tupleSource)
	return src
}

func (n *blockNode) yields() bool {
	src := n.last()
	return src != nil && src.yields()
}

func (n *blockNode) scope() *tupleScope { return n.last().scope() }

func (n *blockNode) tuplesOf(ev *evaluator, f *frame, in value.Value) ([]tuple, value.Value, *Error) {
	if err := ev.enter(n.off); err != nil {
		return nil, value.Undef, err
	}
	f = n.frame(ev, f)
	for _, e := range n.list[:len(n.list)-1] {
		if _, err := e.eval(ev, f, in); err != nil {
			return nil, value.Undef, err
		}
	}
	ts, v, err := n.last().tuplesOf(ev, f, in)
	ev.leave()
	return ts, v, err
}

// conditionNode is cond ? then : else.
type conditionNode struct {
	cond, then, els node
	off             int
}

func (n *conditionNode) eval(ev *evaluator, f *frame, in value.Value) (v value.Value, err *Error) {
	if err := ev.enter(n.off); err != nil {
		return value.Undef, err
	}
	c, err := n.cond.eval(ev, f, in)
	if err != nil {
		return value.Undef, err
	}
	ok, err := truth(ev, c, n.off)
	switch {
	case err != nil:
		return value.Undef, err
	case ok:
		v, err = n.then.eval(ev, f, in)
	case n.els != nil:
		v, err = n.els.eval(ev, f, in)
	}
	ev.leave()
	return unwrap(v), err
}

// defaultNode is l ?: r, and l ?? r where exists is set.
type defaultNode struct {
	l, r   node
	exists bool
	off    int
}

func (n *defaultNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	if err := ev.enter(n.off); err != nil {
		return value.Undef, err
	}
	v, err := n.l.eval(ev, f, in)
	if err != nil {
		return value.Undef, err
	}
	take := !v.IsUndefined()
	if !n.exists {
		if take, err = truth(ev, v, n.off); err != nil {
			return value.Undef, err
		}
	}
	if !take {
		v, err = n.r.eval(ev, f, in)
	}
	ev.leave()
	return unwrap(v), err
}

// bindNode is $name := value.
type bindNode struct {
	rhs   node
	name  string
	index int
}

func (n *bindNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	v, err := n.rhs.eval(ev, f, in)
	if err != nil {
		return value.Undef, err
	}
	f.cells[n.index] = cell{v, true}
	return unwrap(v), nil
}
