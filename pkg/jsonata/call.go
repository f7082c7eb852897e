package jsonata

import (
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// callable is what a function value holds.
type callable interface {
	// arity is how many arguments a higher-order function passes to it.
	arity() int
	// call checks the arguments and calls. context stands in for an argument
	// that the signature lets the context stand in for. The function may
	// write to args and append to it, but must not keep it.
	call(ev *evaluator, args []value.Value, context value.Value) (value.Value, *Error)
}

var (
	_ callable = (*closure)(nil)
	_ callable = (*native)(nil)
	_ callable = (*host)(nil)
	_ callable = (*partial)(nil)
	_ callable = (*composed)(nil)
	_ callable = (*matcher)(nil)
	_ callable = (*nextMatch)(nil)
	_ callable = (*transformer)(nil)
)

func callableOf(v value.Value) callable {
	if v.Kind() != value.Func {
		return nil
	}
	c, _ := v.Func().(callable)
	return c
}

// applyTo calls a function from inside another one. A sequence that the function
// makes with its last step is not reduced.
func applyTo(ev *evaluator, fn callable, args []value.Value) (value.Value, *Error) {
	if err := ev.enter(-1); err != nil {
		return value.Undef, err
	}
	v, err := fn.call(ev, args, value.NullValue)
	if err != nil {
		if err.Code[0] == 'T' && err.Offset < 0 {
			// It is not the function around it that was given a wrong argument.
			err = err.at(-1, "function")
		}
		return value.Undef, err
	}
	ev.leave()
	return v, nil
}

// lambdaNode is a function definition.
type lambdaNode struct {
	sig    *signature
	params []int // the cell of each parameter
	info   *frameInfo
	body   node
	off    int
}

func (n *lambdaNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	if err := ev.meter(96); err != nil {
		return value.Undef, err
	}
	return value.FromFunc(&closure{fn: n, env: f, in: in}), nil
}

// closure is a function of the expression with the frame and the context that
// it was made in.
type closure struct {
	fn  *lambdaNode
	env *frame
	in  value.Value
}

func (c *closure) arity() int { return len(c.fn.params) }

func (c *closure) call(ev *evaluator, args []value.Value, context value.Value) (value.Value, *Error) {
	f, err := c.frame(ev, args, context)
	if err != nil {
		return value.Undef, err
	}
	return c.run(ev, f, context)
}

// frame returns the frame of a call with its arguments.
func (c *closure) frame(ev *evaluator, args []value.Value, context value.Value) (*frame, *Error) {
	if c.fn.sig != nil {
		var err *Error
		if args, err = c.fn.sig.bind(args, context); err != nil {
			return nil, err
		}
	}
	if c.fn.info.elided() {
		return c.env, nil
	}
	f := ev.newFrame(c.fn.info, c.env)
	for i, at := range c.fn.params {
		var v value.Value
		if i < len(args) {
			v = args[i]
		}
		f.cells[at] = cell{v, true}
	}
	return f, nil
}

// run evaluates the body, and then the calls in tail position one after the
// other, so that they need no depth.
func (c *closure) run(ev *evaluator, f *frame, context value.Value) (value.Value, *Error) {
	outside := ev.context
	ev.context = context
	for {
		v, err := c.fn.body.eval(ev, f, c.in)
		if err != nil {
			return value.Undef, err
		}
		if !c.fn.info.elided() {
			ev.release(c.fn.info, f)
		}
		if ev.tail == nil {
			ev.context = outside
			return v, nil
		}
		c, f = ev.tail, ev.tailFrame
		ev.tail, ev.tailFrame = nil, nil
		if err := ev.spend(1); err != nil {
			return value.Undef, err
		}
	}
}

// callNode is a call.
type callNode struct {
	proc  node
	first node // the value that ~> gives as the first argument
	args  []node
	token string // the function as the source names it
	name  string // that name, where it is one without its $
	hint  func(ev *evaluator, f *frame) bool
	scope *scope // where the source calls $eval
	raw   bool   // a sequence is not reduced
	off   int
}

// procName returns what a call names as its function: a variable, or the first
// step of a path.
func procName(n *ast) string {
	if n.kind == astPath {
		n = n.list[0]
	}
	if n.kind == astVariable || n.kind == astName {
		return n.text
	}
	return ""
}

// lacksDollar returns the name of the function that a call means whose $ is
// missing, should there be one.
func lacksDollar(n *ast) string {
	if n.kind == astPath {
		return procName(n)
	}
	return ""
}

// hint returns a check whether there is a function of a name, so that the $
// before it is what is missing.
func (c *compiler) hint(name string) func(*evaluator, *frame) bool {
	if name == "" {
		return nil
	}
	v := c.variable(&ast{kind: astVariable, text: name}).(*variableNode)
	return func(ev *evaluator, f *frame) bool {
		got, _ := v.eval(ev, f, value.Undef)
		return !got.IsUndefined()
	}
}

func (c *compiler) call(n *ast) *callNode {
	call := &callNode{proc: c.node(n.lhs), args: c.nodes(n.list), token: procName(n.lhs), name: lacksDollar(n.lhs), off: n.off}
	call.hint = c.hint(call.name)
	if n.lhs.kind == astVariable {
		c.known.foresee(n.lhs.text, n.list)
	}
	if c.usesEval {
		call.scope = c.scope
	}
	return call
}

// function evaluates which function is called. That it is none becomes an
// error after the arguments are evaluated, but for one that lacks its $.
func (n *callNode) function(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	v, err := n.proc.eval(ev, f, in)
	if err == nil && v.IsUndefined() && n.hint != nil && n.hint(ev, f) {
		err = newError("T1005", n.off, details{token: n.token})
	}
	return v, err
}

// called returns the function of a value.
func (n *callNode) called(v value.Value) (callable, *Error) {
	if fn := callableOf(v); fn != nil {
		return fn, nil
	}
	token := n.token
	if token == "" {
		token = shown(v)
	}
	return nil, newError("T1006", n.off, details{token: token})
}

// begin evaluates what ~> passes as the first argument, which comes before the
// function itself.
func (n *callNode) begin(ev *evaluator, f *frame, in value.Value) *Error {
	if n.first == nil {
		return nil
	}
	v, err := n.first.eval(ev, f, in)
	if err != nil {
		return err
	}
	return ev.put(v)
}

// arguments evaluates the arguments onto the stack of the evaluator.
func (n *callNode) arguments(ev *evaluator, f *frame, in value.Value) *Error {
	ev.fuel -= len(n.args)
	for _, a := range n.args {
		v, err := a.eval(ev, f, in)
		if err != nil {
			return err
		}
		if err := ev.put(v); err != nil {
			return err
		}
	}
	return nil
}

// spareArgs is how many arguments a signature can add on the stack.
const spareArgs = 6

func (n *callNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	v, err := n.sequence(ev, f, in, in)
	if n.raw {
		return v, err
	}
	return unwrap(v), err
}

// sequence is eval that does not reduce a sequence; context is what the
// signature lets stand in for an argument.
func (n *callNode) sequence(ev *evaluator, f *frame, in, context value.Value) (value.Value, *Error) {
	if err := ev.enter(n.off); err != nil {
		return value.Undef, err
	}
	base := len(ev.stack)
	if err := n.begin(ev, f, in); err != nil {
		return value.Undef, err
	}
	proc, err := n.function(ev, f, in)
	if err != nil {
		return value.Undef, err
	}
	if err := n.arguments(ev, f, in); err != nil {
		return value.Undef, err
	}
	fn, err := n.called(proc)
	if err != nil {
		return value.Undef, err
	}
	top := len(ev.stack)
	// A signature may append what was left out.
	ev.extend(spareArgs)
	if n.scope != nil {
		ev.site = site{n.scope, f, in}
	}
	v, err := fn.call(ev, ev.stack[base:top:top+spareArgs], context)
	if err != nil {
		return value.Undef, err.at(n.off, n.token)
	}
	ev.drop(base)
	ev.leave()
	return v, nil
}

// tailNode is a call whose value is that of the function around it.
type tailNode struct{ call *callNode }

func (n *tailNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	call := n.call
	if err := ev.enter(call.off); err != nil {
		return value.Undef, err
	}
	if call.first != nil {
		ev.leave()
		return call.sequence(ev, f, in, ev.context)
	}
	proc, err := call.function(ev, f, in)
	if err != nil {
		return value.Undef, err
	}
	c, ok := callableOf(proc).(*closure)
	if !ok {
		ev.leave()
		return call.sequence(ev, f, in, ev.context)
	}
	base := len(ev.stack)
	if err := call.arguments(ev, f, in); err != nil {
		return value.Undef, err
	}
	g, err := c.frame(ev, ev.stack[base:len(ev.stack):len(ev.stack)], ev.context)
	if err != nil {
		return value.Undef, err.at(call.off, call.token)
	}
	ev.drop(base)
	ev.leave()
	ev.tail, ev.tailFrame = c, g
	return value.Undef, nil
}
