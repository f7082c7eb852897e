package jsonata

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Function is a function of the host program that expressions can call as
// $Name, and use in every way that functions of the language can be used.
//
// Signature is in the notation of the language, such as "<s-n?:s>"; empty, the
// function takes any arguments. Call gets the arguments that the signature lets
// through; it must not keep or change args. An *[Error] that it returns is
// passed on, any other error becomes one with code U1002, and so does a panic.
// Call must be safe for concurrent use.
//
// An evaluation releases its [Processor] during the call, unless Immediate is
// set because Call never blocks.
type Function struct {
	Name      string
	Signature string
	Immediate bool
	Call      func(c *Call, args []value.Value) (value.Value, error)
}

// Call is what a [Function] can learn about the evaluation that calls it. It
// must not be kept.
type Call struct {
	ev      *evaluator // nil once the function has returned
	context value.Value
	data    any
}

// Context returns the value of $ where the function was called; null where
// another function called it.
func (c *Call) Context() value.Value { return inner(c.context) }

// Ctx returns the context of the evaluation. A function that takes long ends when
// it is done.
func (c *Call) Ctx() context.Context {
	if c.ev == nil {
		return context.Background()
	}
	return c.ev.ctx
}

// Data returns [Options].Data of the evaluation.
func (c *Call) Data() any { return c.data }

// Apply calls a function that was given as an argument. The error is an
// *[Error]; a function that does not return it goes on as if the call had
// given nothing.
func (c *Call) Apply(fn value.Value, args ...value.Value) (value.Value, error) {
	if c.ev == nil {
		return value.Undef, newError("U1002", -1, details{text: "a call was used after its function had returned"})
	}
	f := callableOf(fn)
	if f == nil {
		return value.Undef, newError("T1006", -1, details{token: shown(fn)})
	}
	ev := c.ev
	before := *ev
	v, err := applyTo(ev, f, args)
	if err != nil {
		// The function may go on in spite of the error.
		ev.levels, ev.context = before.levels, before.context
		ev.tail, ev.tailFrame = nil, nil
		ev.drop(len(before.stack))
		ev.dropNumbers(len(before.places))
		return value.Undef, err
	}
	return unwrap(v), nil
}

// host is a Function as a value.
type host struct {
	fn  *Function
	sig *signature
}

func newHost(fn *Function) (*host, *Error) {
	h := &host{fn: fn}
	refused := func(code, why string) (*host, *Error) {
		return h, &Error{Code: code, Offset: -1, Token: fn.Name, Message: why}
	}
	switch {
	case fn.Name == "":
		return refused("S0403", "a function of the program has no name")
	case fn.Call == nil:
		return refused("S0403", "the function "+fn.Name+" has no implementation")
	case fn.Signature != "":
		var err *Error
		if h.sig, err = parseSignature(fn.Signature); err != nil {
			return refused(err.Code, "of the function "+fn.Name+", "+err.Message)
		}
	}
	return h, nil
}

func (h *host) arity() int {
	if h.sig == nil {
		return 3
	}
	return len(h.sig.params)
}

func (h *host) call(ev *evaluator, args []value.Value, context value.Value) (v value.Value, err *Error) {
	if h.sig != nil {
		if args, err = h.sig.bind(args, context); err != nil {
			return value.Undef, err.at(-1, h.fn.Name)
		}
	}
	if ev.opts.Processor != nil && !h.fn.Immediate {
		ev.opts.Processor.Release()
	}
	c := &Call{ev, context, ev.opts.Data}
	defer func() {
		c.ev = nil
		if p := recover(); p != nil {
			v, err = value.Undef, h.failed(fmt.Errorf("panic: %v", p))
		}
	}()
	v, goErr := h.fn.Call(c, args)
	if goErr != nil {
		return value.Undef, h.failed(goErr)
	}
	return v, nil
}

func (h *host) failed(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	e := newError("U1002", -1, details{token: h.fn.Name, text: err.Error()})
	e.Err = err
	return e
}
