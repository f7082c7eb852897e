package jsonata

import (
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// native is a function of the language. Its arguments have been checked
// against the signature, so that there is one for each parameter.
type native struct {
	name string
	sig  *signature
	args int // what arity answers
	fn   func(ev *evaluator, args []value.Value) (value.Value, *Error)
}

func (n *native) arity() int { return n.args }

func (n *native) call(ev *evaluator, args []value.Value, context value.Value) (value.Value, *Error) {
	args, err := n.sig.bind(args, outermost(context))
	if err != nil {
		return value.Undef, err.at(-1, n.name)
	}
	v, err := n.fn(ev, args)
	if err != nil {
		return value.Undef, err.at(-1, n.name)
	}
	return v, nil
}

// builtins are the functions of the language by name, but for $eval, which
// needs them.
var builtins = func() map[string]value.Value {
	m := map[string]value.Value{}
	for _, list := range [][]native{
		stringFunctions, patternFunctions, numberFunctions, pictureFunctions, arrayFunctions,
		objectFunctions, higherOrderFunctions, otherFunctions,
	} {
		for i := range list {
			m[list[i].name] = value.FromFunc(&list[i])
		}
	}
	return m
}()

// builtin returns the function of a name, undefined if there is none.
func builtin(name string) value.Value {
	if name == "eval" {
		return value.FromFunc(&native{"eval", evalSignature, 2, fnEval})
	}
	return builtins[name]
}

// optional reads an argument that is a number or left out.
func optional(v value.Value, otherwise float64) float64 {
	if v.Kind() == value.Number {
		return v.Float()
	}
	return otherwise
}

// sequence returns the elements as a sequence.
func sequence(elems []value.Value) value.Value {
	return value.FromArray(elems).WithFlags(value.Sequence)
}
