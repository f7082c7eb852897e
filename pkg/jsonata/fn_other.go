package jsonata

import (
	"math"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var otherFunctions = []native{
	{"boolean", mustSignature("<x-:b>"), 1, fnBoolean},
	{"not", mustSignature("<x-:b>"), 1, fnNot},
	{"exists", mustSignature("<x:b>"), 1, fnExists},
	{"type", mustSignature("<x:s>"), 1, fnType},
	{"error", mustSignature("<s?:x>"), 1, fnError},
	{"assert", mustSignature("<bs?:x>"), 2, fnAssert},
}

var evalSignature = mustSignature("<sx?:x>")

func fnBoolean(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	ok, err := truth(ev, args[0], -1)
	return value.FromBool(ok), err
}

func fnNot(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	ok, err := truth(ev, args[0], -1)
	return value.FromBool(!ok), err
}

func fnExists(_ *evaluator, args []value.Value) (value.Value, *Error) {
	return value.FromBool(!args[0].IsUndefined()), nil
}

func fnType(_ *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	if math.IsInf(args[0].Float(), 0) {
		return value.Undef, newError("D1001", -1, details{})
	}
	return value.FromString(args[0].Kind().String()), nil
}

// message returns the text that the caller gave for an error.
func message(v value.Value, otherwise string) string {
	if s := v.Str(); s != "" {
		return s
	}
	return otherwise
}

func fnError(_ *evaluator, args []value.Value) (value.Value, *Error) {
	return value.Undef, newError("D3137", -1, details{token: "error", text: message(args[0], "$error was called")})
}

func fnAssert(_ *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].Bool() {
		return value.Undef, nil
	}
	return value.Undef, newError("D3141", -1, details{token: "assert", text: message(args[1], "$assert found its condition false")})
}

// fnEval compiles and evaluates source text where it was called.
func fnEval(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	at := ev.site
	if err := ev.spend(len(args[0].Str()) >> 2); err != nil {
		return value.Undef, err
	}
	// What is compiled takes many times the room of its source.
	if err := ev.meter(1024 + 160*len(args[0].Str())); err != nil {
		return value.Undef, err
	}
	fail := func(code string, err *Error) (value.Value, *Error) {
		if err.Code == "U1001" {
			err.Offset = -1
			return value.Undef, err
		}
		e := newError(code, -1, details{text: err.Message})
		e.Err = err
		return value.Undef, e
	}
	tree, err := parse(args[0].Str())
	if err != nil {
		return fail("D3120", err)
	}
	u, err := compile(tree, at.scope, nil)
	if err != nil {
		return fail("D3120", err)
	}
	in := at.input
	if !args[1].IsUndefined() {
		in = outer(args[1])
	}
	f := at.frame
	if !u.info.elided() {
		f = ev.newFrame(u.info, f)
	}
	v, err := u.body.eval(ev, f, in)
	ev.site = at
	if err != nil {
		return fail("D3121", err)
	}
	if at.frame != nil {
		u.export(f, at.frame)
	}
	return v, nil
}

// export makes the variables that evaluated source has bound known to what
// surrounds the call.
func (u *unit) export(from, to *frame) {
	for name, i := range u.names {
		if c := from.cells[i]; c.set {
			if to.extra == nil {
				to.extra = map[string]value.Value{}
			}
			to.extra[name] = c.v
		}
	}
}
