package jsonata

import (
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// countNode is $count($split(text, separator)): the lines or fields of a text
// can be counted without making them.
type countNode struct {
	count, split *callNode
}

// counted returns the short form of a call, or the call where it has none.
func counted(call *callNode) node {
	if call.first != nil || len(call.args) != 1 || !call.calls("count") {
		return call
	}
	split, ok := call.args[0].(*callNode)
	if !ok || split.first != nil || len(split.args) != 2 || !split.calls("split") {
		return call
	}
	return &countNode{call, split}
}

// calls reports whether a call names a function of the language, which a
// variable may still hide when it is evaluated.
func (n *callNode) calls(name string) bool {
	proc, ok := n.proc.(*variableNode)
	return ok && proc.name == name && value.Same(proc.global, builtin(name))
}

// hidden reports whether a variable hides the function that a call names.
func (n *callNode) hidden(ev *evaluator, f *frame) bool {
	proc := n.proc.(*variableNode)
	v, _ := proc.eval(ev, f, value.Undef)
	return !value.Same(v, proc.global)
}

func (n *countNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	if n.count.hidden(ev, f) || n.split.hidden(ev, f) {
		return n.count.eval(ev, f, in)
	}
	if err := ev.enter(n.count.off); err != nil {
		return value.Undef, err
	}
	if err := ev.enter(n.split.off); err != nil {
		return value.Undef, err
	}
	var args [2]value.Value
	for i, a := range n.split.args {
		var err *Error
		if args[i], err = a.eval(ev, f, in); err != nil {
			return value.Undef, err
		}
	}
	v, err := n.fields(ev, args[0], args[1], in)
	if err != nil {
		return value.Undef, err
	}
	ev.leave()
	ev.leave()
	return v, nil
}

// fields counts the parts of a split text.
func (n *countNode) fields(ev *evaluator, text, separator, in value.Value) (value.Value, *Error) {
	if text.Kind() == value.String && separator.Kind() == value.String && separator.Str() != "" {
		fields := strings.Count(text.Str(), separator.Str()) + 1
		if err := ev.spend(len(text.Str()) >> 8); err != nil {
			return value.Undef, err
		}
		if fields > ev.limits.Sequence {
			return value.Undef, newError("D2015", n.split.off, details{token: n.split.token, index: ev.limits.Sequence})
		}
		return value.FromFloat(float64(fields)), nil
	}
	v, err := callableOf(n.split.proc.(*variableNode).global).call(ev, []value.Value{text, separator}, in)
	if err != nil {
		return value.Undef, err.at(n.split.off, n.split.token)
	}
	v, err = callableOf(n.count.proc.(*variableNode).global).call(ev, []value.Value{unwrap(v)}, in)
	if err != nil {
		return value.Undef, err.at(n.count.off, n.count.token)
	}
	return v, nil
}
