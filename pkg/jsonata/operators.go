package jsonata

import (
	"math"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func compileBinary(c *compiler, n *ast) node {
	b := binaryNode{op: n.text, off: n.off}
	if n.text == "&" {
		return &concatNode{parts: c.nodes(n.list), off: n.off}
	}
	b.l, b.r = c.node(n.lhs), c.node(n.rhs)
	switch n.text {
	case "+", "-", "*", "/", "%":
		return &numericNode{b}
	case "=", "!=":
		return &equalNode{b}
	case "<", "<=", ">", ">=":
		return &compareNode{b}
	case "and", "or":
		return &logicNode{b}
	case "in":
		return &inNode{b}
	}
	return &rangeNode{b}
}

type binaryNode struct {
	op   string
	l, r node
	off  int
}

func (n *binaryNode) operands(ev *evaluator, f *frame, in value.Value) (l, r value.Value, err *Error) {
	if err = ev.enter(n.off); err != nil {
		return
	}
	if l, err = n.l.eval(ev, f, in); err != nil {
		return
	}
	r, err = n.r.eval(ev, f, in)
	ev.leave()
	return
}

func (n *binaryNode) fail(code string, v value.Value) (value.Value, *Error) {
	return value.Undef, newError(code, n.off, details{token: n.op, value: v})
}

// numericNode is an arithmetic operator.
type numericNode struct{ binaryNode }

func (n *numericNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	l, r, err := n.operands(ev, f, in)
	if err != nil {
		return value.Undef, err
	}
	if l.Kind() != value.Number || r.Kind() != value.Number {
		return n.mismatch(l, r)
	}
	a, b := l.Float(), r.Float()
	if !(math.Abs(a) <= math.MaxFloat64 && math.Abs(b) <= math.MaxFloat64) {
		return n.mismatch(l, r)
	}
	switch n.op {
	case "+":
		a += b
	case "-":
		a -= b
	case "*":
		a *= b
	case "/":
		a /= b
	default:
		a = math.Mod(a, b)
	}
	return value.FromFloat(a), nil
}

// mismatch distinguishes an undefined side, which makes the result undefined,
// from one of the wrong type or out of range.
func (n *numericNode) mismatch(l, r value.Value) (value.Value, *Error) {
	for i, v := range [2]value.Value{l, r} {
		switch {
		case v.IsUndefined():
		case v.Kind() != value.Number || math.IsNaN(v.Float()):
			return n.fail([2]string{"T2001", "T2002"}[i], v)
		case math.IsInf(v.Float(), 0):
			return n.fail("D1001", v)
		}
	}
	return value.Undef, nil
}

// negateNode is a minus sign before a value.
type negateNode struct {
	operand node
	off     int
}

func (n *negateNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	if err := ev.enter(n.off); err != nil {
		return value.Undef, err
	}
	v, err := n.operand.eval(ev, f, in)
	if err != nil || v.IsUndefined() {
		ev.leave()
		return value.Undef, err
	}
	x := v.Float()
	switch {
	case math.IsInf(x, 0):
		return value.Undef, newError("D1001", n.off, details{token: "-"})
	case math.IsNaN(x):
		return value.Undef, newError("D1002", n.off, details{token: "-", value: v})
	}
	ev.leave()
	return value.FromFloat(-x), nil
}

// equalNode is = or !=.
type equalNode struct{ binaryNode }

func (n *equalNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	l, r, err := n.operands(ev, f, in)
	if err != nil {
		return value.Undef, err
	}
	if l.IsUndefined() || r.IsUndefined() {
		return value.False, nil
	}
	same, err := equal(ev, l, r, 0)
	return value.FromBool(same == (n.op == "=")), err
}

// equal compares deeply, counting the work.
func equal(ev *evaluator, l, r value.Value, depth int) (bool, *Error) {
	if l.Kind() != r.Kind() {
		return false, nil
	}
	if l.Kind() != value.Array && l.Kind() != value.Object {
		return value.Equal(l, r), nil
	}
	if l.Len() != r.Len() {
		return false, nil
	}
	if depth > maxValueDepth {
		return false, stopped(-1, "a value is nested too deeply")
	}
	b := r.Elems()
	for i, e := range l.Elems() {
		if same, err := equalPart(ev, e, b[i], depth); !same || err != nil {
			return false, err
		}
	}
	others := r.Entries()
	for i, e := range l.Entries() {
		other := others[i].Value
		if others[i].Key != e.Key {
			if !r.Has(e.Key) {
				return false, nil
			}
			other = r.Get(e.Key)
		}
		if same, err := equalPart(ev, e.Value, other, depth); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

func equalPart(ev *evaluator, l, r value.Value, depth int) (bool, *Error) {
	if err := ev.spend(1); err != nil {
		return false, err
	}
	return equal(ev, l, r, depth+1)
}

// compareNode is <, <=, > or >=.
type compareNode struct{ binaryNode }

func (n *compareNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	l, r, err := n.operands(ev, f, in)
	if err != nil {
		return value.Undef, err
	}
	lk, rk := l.Kind(), r.Kind()
	if lk != rk || lk != value.Number && lk != value.String {
		for _, v := range [2]value.Value{l, r} {
			if k := v.Kind(); k != value.Undefined && k != value.Number && k != value.String {
				return n.fail("T2010", v)
			}
		}
		if lk == value.Undefined || rk == value.Undefined {
			return value.Undef, nil
		}
		return value.Undef, newError("T2009", n.off, details{token: n.op, text: "a " + lk.String() + " with a " + rk.String()})
	}
	var less, more bool
	if lk == value.Number {
		less, more = l.Float() < r.Float(), l.Float() > r.Float()
		if !less && !more && l.Float() != r.Float() {
			return value.False, nil
		}
	} else {
		c := value.CompareStrings(l.Str(), r.Str())
		less, more = c < 0, c > 0
	}
	switch n.op {
	case "<":
		return value.FromBool(less), nil
	case "<=":
		return value.FromBool(!more), nil
	case ">":
		return value.FromBool(more), nil
	}
	return value.FromBool(!less), nil
}

// logicNode is and or; the right side is evaluated only where it matters.
type logicNode struct{ binaryNode }

func (n *logicNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	if err := ev.enter(n.off); err != nil {
		return value.Undef, err
	}
	v, err := n.l.eval(ev, f, in)
	if err != nil {
		return value.Undef, err
	}
	ok, err := truth(ev, v, n.off)
	if err != nil {
		return value.Undef, err
	}
	if ok == (n.op == "and") {
		if v, err = n.r.eval(ev, f, in); err != nil {
			return value.Undef, err
		}
		ok, err = truth(ev, v, n.off)
	}
	ev.leave()
	return value.FromBool(ok), err
}

// inNode is in.
type inNode struct{ binaryNode }

func (n *inNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	l, r, err := n.operands(ev, f, in)
	if err != nil {
		return value.Undef, err
	}
	if l.IsUndefined() || r.IsUndefined() {
		return value.False, nil
	}
	var one [1]value.Value
	items := stream{r, r.Kind() == value.Array}.items(&one)
	if err := ev.spend(len(items) >> 2); err != nil {
		return value.Undef, err
	}
	for i := range items {
		if value.Same(l, items[i]) {
			return value.True, nil
		}
	}
	return value.False, nil
}

// concatNode is a chain of &.
type concatNode struct {
	parts []node
	off   int
}

func (n *concatNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	if err := ev.enter(n.off); err != nil {
		return value.Undef, err
	}
	ev.fuel -= len(n.parts)
	base := len(ev.stack)
	total := 0
	for _, p := range n.parts {
		v, err := p.eval(ev, f, in)
		if err != nil {
			return value.Undef, err
		}
		if v.Kind() != value.String {
			if v, err = stringOf(ev, v, false); err != nil {
				return value.Undef, err.at(n.off, "&")
			}
		}
		total += len(v.Str())
		if err := ev.put(v); err != nil {
			return value.Undef, err
		}
	}
	parts := ev.stack[base:]
	ev.stack = ev.stack[:base]
	ev.leave()
	if err := ev.text(total); err != nil {
		return value.Undef, err.at(n.off, "&")
	}
	var b strings.Builder
	b.Grow(total)
	for i := range parts {
		b.WriteString(parts[i].Str())
	}
	clear(parts)
	return value.FromString(joined(b.String(), len(parts))), nil
}

// joined rejoins halves of surrogate pairs that met when parts were put
// together.
func joined(s string, parts int) string {
	if parts < 2 {
		return s
	}
	return value.JoinSurrogates(s)
}

// rangeNode is a .. b inside an array constructor.
type rangeNode struct{ binaryNode }

func (n *rangeNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	l, r, err := n.operands(ev, f, in)
	if err != nil {
		return value.Undef, err
	}
	integer := func(v value.Value) bool {
		x := v.Float()
		return v.Kind() == value.Number && x == math.Trunc(x) && !math.IsInf(x, 0)
	}
	if !l.IsUndefined() && !integer(l) {
		return n.fail("T2003", l)
	}
	if !r.IsUndefined() && !integer(r) {
		return n.fail("T2004", r)
	}
	if l.IsUndefined() || r.IsUndefined() || l.Float() > r.Float() {
		return value.Undef, nil
	}
	from := l.Float()
	size := r.Float() - from + 1
	if size > float64(ev.limits.Sequence) {
		return value.Undef, newError("D2014", n.off, details{token: "..", value: value.FromFloat(size), index: ev.limits.Sequence})
	}
	if err := ev.cells(int(size)); err != nil {
		return value.Undef, err
	}
	out := make([]value.Value, int(size))
	for i := range out {
		if i&0xFFFF == 0 {
			if err := ev.spend(min(len(out)-i, 0x10000) >> 4); err != nil {
				return value.Undef, err
			}
		}
		out[i] = value.FromFloat(from + float64(i))
	}
	return unwrap(value.FromArray(out).WithFlags(value.Sequence)), nil
}
