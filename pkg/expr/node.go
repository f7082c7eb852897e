package expr

import (
	"errors"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// node is one part of a compiled rule.
type node interface {
	eval(st *state) (value.Value, error)
}

// at returns err with its place in the rule, unless it has one.
func at(err error, path []any) error {
	var e *Error
	if errors.As(err, &e) && e.Path == nil {
		e.Path = path
	}
	return err
}

type literal struct{ v value.Value }

func (n literal) eval(*state) (value.Value, error) { return n.v, nil }

// list is an array with rules in it.
type list struct {
	elems []node
	path  []any
}

func (n *list) eval(st *state) (value.Value, error) {
	if err := st.room(len(n.elems)); err != nil {
		return value.Undef, at(err, n.path)
	}
	out := make([]value.Value, len(n.elems))
	for i, e := range n.elems {
		var err error
		if out[i], err = e.eval(st); err != nil {
			return value.Undef, err
		}
	}
	return value.FromArray(out), nil
}

// call is an operation on the values of its arguments.
type call struct {
	op   operator
	args []node
	path []any
}

func (n *call) eval(st *state) (value.Value, error) {
	if err := st.spend(1); err != nil {
		return value.Undef, at(err, n.path)
	}
	base := len(st.stack)
	for _, a := range n.args {
		v, err := a.eval(st)
		if err != nil {
			return value.Undef, err
		}
		st.stack = append(st.stack, v)
	}
	v, err := n.op(st, st.stack[base:])
	st.stack = st.stack[:base]
	if err != nil {
		return value.Undef, at(err, n.path)
	}
	return v, nil
}

// conditional is if: conditions and consequences by turns, and what else.
type conditional struct{ args []node }

func (n *conditional) eval(st *state) (value.Value, error) {
	i := 0
	for ; i+1 < len(n.args); i += 2 {
		v, err := n.args[i].eval(st)
		if err != nil {
			return value.Undef, err
		}
		if truthy(v) {
			return n.args[i+1].eval(st)
		}
	}
	if i < len(n.args) {
		return n.args[i].eval(st)
	}
	return value.NullValue, nil
}

// junction is and, or: the first value whose truth decides, else the last.
type junction struct {
	args []node
	or   bool
}

func (n *junction) eval(st *state) (v value.Value, err error) {
	for _, a := range n.args {
		if v, err = a.eval(st); err != nil || truthy(v) == n.or {
			return v, err
		}
	}
	return v, nil
}

// over is what the operators over a list have in common.
type over struct {
	data, body node
	path       []any
}

// each evaluates the body for one element after the other and passes its value
// to take until take returns stop. Where the data is no list nothing happens.
func (n *over) each(st *state, data value.Value, take func(element, v value.Value) (stop bool, err error)) error {
	outer := st.scope
	defer func() { st.scope = outer }()
	for _, e := range data.Elems() {
		if err := st.spend(1); err != nil {
			return at(err, n.path)
		}
		before := st.bytes
		st.scope = scope{kind: elementScope, element: e}
		v, err := n.body.eval(st)
		if err != nil {
			return err
		}
		st.settle(before, v)
		if stop, err := take(e, v); stop || err != nil {
			return at(err, n.path)
		}
	}
	return nil
}

type mapping struct{ over }

func (n *mapping) eval(st *state) (value.Value, error) {
	data, err := n.data.eval(st)
	if err != nil {
		return value.Undef, err
	}
	if err := st.room(len(data.Elems())); err != nil {
		return value.Undef, at(err, n.path)
	}
	out := make([]value.Value, 0, len(data.Elems()))
	err = n.each(st, data, func(_, v value.Value) (bool, error) {
		out = append(out, v)
		return false, nil
	})
	return value.FromArray(out), err
}

type filter struct{ over }

func (n *filter) eval(st *state) (value.Value, error) {
	data, err := n.data.eval(st)
	if err != nil {
		return value.Undef, err
	}
	var out []value.Value
	err = n.each(st, data, func(e, v value.Value) (bool, error) {
		if !truthy(v) {
			return false, nil
		}
		out = append(out, e)
		return false, st.charge(valueSize)
	})
	return value.FromArray(out), err
}

// quantifier is all, some, none: it looks for the first element whose body has
// the truth it seeks.
type quantifier struct {
	over
	kind
}

// kind is the result of a quantifier.
type kind struct {
	seek, found, notFound bool
	empty                 bool // for an empty list, or what is none
}

var quantifiers = map[string]kind{
	"all":  {seek: false, found: false, notFound: true, empty: false},
	"some": {seek: true, found: true, notFound: false, empty: false},
	"none": {seek: true, found: false, notFound: true, empty: true},
}

func (n *quantifier) eval(st *state) (value.Value, error) {
	data, err := n.data.eval(st)
	if err != nil {
		return value.Undef, err
	}
	if len(data.Elems()) == 0 {
		return value.FromBool(n.empty), nil
	}
	result := n.notFound
	err = n.each(st, data, func(_, v value.Value) (bool, error) {
		if truthy(v) == n.seek {
			result = n.found
			return true, nil
		}
		return false, nil
	})
	return value.FromBool(result), err
}

type reduction struct {
	over
	start node
}

func (n *reduction) eval(st *state) (value.Value, error) {
	data, err := n.data.eval(st)
	if err != nil {
		return value.Undef, err
	}
	acc, err := n.start.eval(st)
	if err != nil {
		return value.Undef, err
	}
	outer := st.scope
	defer func() { st.scope = outer }()
	before := st.bytes
	settled := before // bytes after the turn that gave acc
	for _, e := range data.Elems() {
		if err := st.spend(1); err != nil {
			return value.Undef, at(err, n.path)
		}
		last := acc
		st.scope = scope{kind: reduceScope, element: e, accumulator: acc}
		if acc, err = n.body.eval(st); err != nil {
			return value.Undef, err
		}
		if acc.Kind() == value.Array && strictEqual(acc, last) {
			st.bytes = min(st.bytes, settled) // a long list is not walked at each turn
		} else {
			st.settle(before, acc)
			settled = st.bytes
		}
		if err := st.charge(0); err != nil {
			return value.Undef, at(err, n.path)
		}
	}
	return acc, nil
}
