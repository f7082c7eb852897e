package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Program is a compiled JSONata expression or JSON Logic rule that knows where
// in the file it was written. It is immutable and safe for concurrent use.
type Program struct {
	prog *expr.Program
	src  *config.Node
}

// Eval returns the program's value, or undefined if it yields nothing. Errors
// are *PosError at the place that failed.
func (p *Program) Eval(ctx context.Context, env *expr.Env) (value.Value, error) {
	v, err := p.prog.Eval(ctx, env)
	if err != nil {
		return value.Undef, p.locate(err)
	}
	return v, nil
}

// Test returns the truth of the program's value as JSON Logic has it. Errors
// are *PosError at the place that failed.
func (p *Program) Test(ctx context.Context, env *expr.Env) (bool, error) {
	ok, err := p.prog.Test(ctx, env)
	if err != nil {
		return false, p.locate(err)
	}
	return ok, nil
}

// Source returns an expression as it is written, a rule as compact JSON.
func (p *Program) Source() string {
	if p == nil {
		return ""
	}
	if p.src.IsString() {
		return p.src.Text().String()
	}
	return p.src.Value().JSON()
}

// place returns the span of an offset range in the program or, in a rule, in
// the part of it at path.
func (p *Program) place(path []any, offset, end int) (diag.Pos, diag.Pos) {
	return place(p.src, path, offset, end)
}

func place(src *config.Node, path []any, offset, end int) (diag.Pos, diag.Pos) {
	n := src
	for i := range path {
		if next := src.At(path[:i+1]...); next != nil {
			n = next
		}
	}
	if offset < 0 || !n.IsString() {
		// What is wrong with an operator is wrong with its key.
		if fields := n.Fields(); len(fields) == 1 {
			return fields[0].Key.Pos(), fields[0].Key.End()
		}
		return n.Pos(), n.End()
	}
	t := n.Text()
	if end <= offset {
		return t.At(offset), diag.Pos{}
	}
	return t.At(offset), t.After(end)
}

func (p *Program) locate(err error) error {
	var e *expr.Error
	if !errors.As(err, &e) {
		return at(err, p.src.Pos(), p.src.End())
	}
	pos, end := p.place(e.Path, e.Offset, e.End)
	return at(&placedError{e}, pos, end)
}

// placedError is an error whose place in the file is known, so that its text
// need not count bytes.
type placedError struct{ err *expr.Error }

func (e *placedError) Error() string { return sentence(e.err) }

// Unwrap returns the error of the expression.
func (e *placedError) Unwrap() error { return e.err }

// sentence returns what is wrong with an expression, and the code that its
// language has for that.
func sentence(e *expr.Error) string {
	if e.Code == "" {
		return e.Message
	}
	return fmt.Sprintf("%s (%s)", e.Message, e.Code)
}

// Expr asks for a JSONata expression. It returns nil if there is none that
// compiles.
func (f *Fields) Expr(name, doc string, opts ...Option) *Program {
	n, _ := f.text(ExprField, name, doc, opts)
	if n == nil {
		return nil
	}
	return f.compile(n)
}

// options are those of all expressions of the map.
func (f *Fields) options() []jsonata.Option {
	opts := slices.Clip(f.b.options)
	if len(f.vars) > 0 {
		opts = append(opts, jsonata.WithVariables(f.vars...))
	}
	return opts
}

// programKey is what tells the programs of a file apart: places with one text, and the
// same variables, share a program.
type programKey struct{ text, vars string }

func (f *Fields) compile(n *config.Node) *Program {
	text := n.Text().String()
	key := programKey{text, strings.Join(f.vars, " ")}
	known := f.b.programs[key]
	if f.over == nil && known != nil {
		return f.program(known, n)
	}
	if f.b.stopped(programBytes + programShare*len(text)) {
		return nil
	}
	if f.over != nil {
		return f.compileOver(n)
	}
	prog, err := expr.CompileJSONata(text, f.options()...)
	if err != nil {
		f.rejected(n, diag.CodeExpression, err)
		return nil
	}
	f.b.programs[key] = prog
	return f.program(prog, n)
}

// Rule asks for a JSON Logic rule. It returns nil if there is none that
// compiles.
func (f *Fields) Rule(name, doc string, opts ...Option) *Program {
	n := f.get(RuleField, name, doc, opts)
	if n == nil {
		return nil
	}
	if f.b.stopped(programBytes + ruleShare*int(n.Value().AnySize())) {
		return nil
	}
	prog, errs := expr.CompileLogic(n.Value(), f.options()...)
	for _, err := range errs {
		f.rejected(n, diag.CodeRule, err)
	}
	if len(errs) > 0 {
		return nil
	}
	return f.program(prog, n)
}

func (f *Fields) program(prog *expr.Program, n *config.Node) *Program {
	p := &Program{prog: prog, src: n}
	f.node.programs = append(f.node.programs, p)
	for _, r := range prog.Refs() {
		f.node.refs = append(f.node.refs, reference{program: p, ref: r})
	}
	for _, r := range prog.Reads() {
		f.node.reads = append(f.node.reads, read{program: p, of: r})
	}
	for _, found := range prog.Findings() {
		f.node.found = append(f.node.found, finding{p, found, len(f.vars) > 0, false})
	}
	return p
}

// rejected reports that an expression or rule does not compile.
func (f *Fields) rejected(n *config.Node, code string, err error) {
	d := n.Problem(code, err.Error())
	var e *expr.Error
	if errors.As(err, &e) {
		d.Pos, d.End = place(n, e.Path, e.Offset, e.End)
		d.Message, d.Hint = sentence(e), e.Hint
	}
	f.report(d)
}

// Yields declares that the node's output is the value of p, so that one that
// is known before any run can be checked.
func (f *Fields) Yields(p *Program) {
	if p == nil {
		return
	}
	f.node.yields, f.node.shape = p, p.prog.Shape()
	if root, steps, ok := p.prog.Whole(); ok {
		f.node.whole = &rooted{root, steps}
	}
	// JSON is JSONata that means itself.
	if v, err := value.Parse(p.Source()); err == nil {
		f.node.literal = func(*Edge) (value.Value, *config.Node) { return v, p.src }
	}
}

// YieldsTarget declares that the node's output is the id of the node that it
// goes to.
func (f *Fields) YieldsTarget() {
	f.node.shape = &expr.Shape{Scalar: "a string"}
	f.node.literal = func(e *Edge) (value.Value, *config.Node) { return value.FromString(e.Target), e.src }
}
