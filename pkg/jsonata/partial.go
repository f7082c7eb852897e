package jsonata

import "github.com/mcpgraph/mcpgraph/pkg/value"

// partialNode is a call with ? among its arguments.
type partialNode struct {
	proc  node
	args  []node // nil for ?
	token string
	name  string
	hint  func(ev *evaluator, f *frame) bool
	off   int
}

func (n *partialNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	if err := ev.enter(n.off); err != nil {
		return value.Undef, err
	}
	p := &partial{args: make([]value.Value, len(n.args)), open: make([]bool, len(n.args)), off: n.off, token: n.token}
	for i, a := range n.args {
		if a == nil {
			p.open[i] = true
			continue
		}
		v, err := a.eval(ev, f, in)
		if err != nil {
			return value.Undef, err
		}
		p.args[i] = v
	}
	v, err := n.proc.eval(ev, f, in)
	if err != nil {
		return value.Undef, err
	}
	if p.fn = callableOf(v); p.fn == nil {
		token := n.token
		if token == "" {
			token = shown(v)
		}
		if v.IsUndefined() && n.hint != nil && n.hint(ev, f) {
			return value.Undef, newError("T1007", n.off, details{token: token})
		}
		return value.Undef, newError("T1008", n.off, details{token: token})
	}
	if err := ev.meter(160 + 2*cellBytes*len(p.args)); err != nil {
		return value.Undef, err
	}
	ev.leave()
	return value.FromFunc(p), nil
}

// partial is a function with some of its arguments given.
type partial struct {
	fn    callable
	args  []value.Value
	open  []bool
	token string
	off   int
}

func (p *partial) arity() int {
	n := 0
	for _, open := range p.open {
		if open {
			n++
		}
	}
	return n
}

func (p *partial) call(ev *evaluator, args []value.Value, _ value.Value) (value.Value, *Error) {
	if err := ev.enter(p.off); err != nil {
		return value.Undef, err
	}
	base := len(ev.stack)
	if err := ev.meter(cellBytes * len(p.args)); err != nil {
		return value.Undef, err
	}
	ev.stack = append(ev.stack, p.args...)
	n := 0
	for i, open := range p.open {
		if open && n < len(args) {
			ev.stack[base+i] = args[n]
			n++
		}
	}
	top := len(ev.stack)
	ev.extend(spareArgs)
	v, err := p.fn.call(ev, ev.stack[base:top:top+spareArgs], value.Undef)
	if err != nil {
		return value.Undef, err.at(p.off, p.token)
	}
	ev.drop(base)
	ev.leave()
	return v, nil
}

// applyNode is l ~> r where r is not a call.
type applyNode struct {
	lhs, rhs node
	token    string // the function as the source names it
	raw      bool   // a sequence is not reduced
	off      int
}

func (n *applyNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	if err := ev.enter(n.off); err != nil {
		return value.Undef, err
	}
	l, err := n.lhs.eval(ev, f, in)
	if err != nil {
		return value.Undef, err
	}
	r, err := n.rhs.eval(ev, f, in)
	if err != nil {
		return value.Undef, err
	}
	fn := callableOf(r)
	if fn == nil {
		return value.Undef, newError("T2006", n.off, details{token: "~>", value: r})
	}
	if first := callableOf(l); first != nil {
		ev.leave()
		return value.FromFunc(&composed{first, fn}), nil
	}
	base := len(ev.stack)
	ev.stack = append(ev.stack, l)
	ev.extend(spareArgs)
	v, err := fn.call(ev, ev.stack[base:base+1:base+1+spareArgs], value.NullValue)
	if err != nil {
		return value.Undef, err.at(n.off, n.token)
	}
	ev.drop(base)
	ev.leave()
	if n.raw {
		return v, nil
	}
	return unwrap(v), nil
}

// composed is two functions, one after the other.
type composed struct{ first, second callable }

func (c *composed) arity() int { return 1 }

func (c *composed) call(ev *evaluator, args []value.Value, _ value.Value) (value.Value, *Error) {
	if len(args) > 1 {
		args = args[:1]
	} else if len(args) == 0 {
		args = []value.Value{value.Undef}
	}
	v, err := applyTo(ev, c.first, args)
	if err != nil {
		return value.Undef, err
	}
	return applyTo(ev, c.second, []value.Value{unwrap(v)})
}
