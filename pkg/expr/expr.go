// Package expr compiles the two languages in which a graph looks at its own
// run, JSONata expressions and JSON Logic rules, into one kind of [Program].
//
// Both read the run's document (the latest output of each node, by node id),
// and JSONata has four functions that look into the run's history:
// $previousNode, $executionCount, $nodeExecution and $nodeExecutions.
//
// Programs are compiled once and are safe for concurrent use. What an
// evaluation needs comes with it in an [Env]. No expression, rule or value ends
// the process: evaluation stops with its context, and what it may build is
// bounded.
package expr

import (
	"context"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// History is what a run has produced so far, as an expression sees it. It must
// not change while an evaluation is under way.
type History interface {
	// Document returns the object that expressions read: under the id of each node
	// that has run, its latest output. The latest execution comes first; outputs
	// that are undefined are absent.
	Document() value.Value
	// Previous returns the output of the node that was executed n steps before the
	// one that evaluates, or undefined if that node yielded nothing. It reports
	// false where there was no such execution, and for n < 1.
	Previous(n int) (value.Value, bool)
	// Outputs returns the outputs of all executions of a node in their order, or
	// undefined if one yielded nothing; none for an unknown id. The slice is
	// shared and must not be modified.
	Outputs(id string) []value.Value
}

// Env is what one evaluation sees of the world. Any field may be nil: without
// a History nothing has run, without Now and Random the expression reads the
// clock and the randomness of the machine, without Log the operator log only
// passes its value on, without a Processor a long evaluation computes as it
// likes, and without Calls no tool can be called. A nil *Env is an empty one.
type Env struct {
	History   History
	Now       func() time.Time
	Random    func() float64
	Log       func(value.Value)
	Processor Processor
	// Vars are variables of JSONata by name, without the dollar sign. Of two with
	// one name the later one counts.
	Vars []value.Entry
	// Calls performs $call, which programs of [CompileWithCalls] have.
	Calls CallsFunc
}

// Processor shares processor time between evaluations. One run at a time uses
// it, and calls Release where it ends or blocks.
type Processor = jsonata.Processor

func (e *Env) document() value.Value {
	if e == nil || e.History == nil {
		return emptyDocument
	}
	return e.History.Document()
}

var emptyDocument = value.FromEntries(nil)

// options are JSONata's options for the environment. It is made for each
// evaluation because a function in a result may keep it.
func (e *Env) options(ctx context.Context) *jsonata.Options {
	o := &jsonata.Options{}
	if e != nil {
		o.Data, o.Now, o.Random, o.Processor, o.Vars = e, e.Now, e.Random, e.Processor, e.Vars
	}
	if held := memory.AccountOf(ctx); held != nil {
		o.Memory = evaluationMemory{held.Churn(), o.Processor}
	}
	return o
}

// evaluationMemory is the memory of one evaluation. While it waits for a
// collection, others have the processor.
type evaluationMemory struct {
	*memory.Churn
	processor Processor // may be nil
}

func (m evaluationMemory) Reserve(n int64) error {
	if m.TryReserve(n) {
		return nil
	}
	if m.processor != nil {
		m.processor.Release()
	}
	return m.Churn.Reserve(n)
}

// Program is a compiled JSONata expression or JSON Logic rule. It is immutable
// and safe for concurrent use.
type Program struct {
	json *jsonata.Expr // nil for a rule
	rule node
	refs []Ref

	reads    []Read
	findings []Finding
	calls    []ToolCall
}

// Eval returns the program's value over the run that env shows, or undefined if
// it yields nothing. Errors are *[Error]; where ctx ended the evaluation they
// wrap its cause.
func (p *Program) Eval(ctx context.Context, env *Env) (value.Value, error) {
	if p.json == nil {
		return runLogic(ctx, p.rule, env)
	}
	v, err := p.json.Eval(ctx, env.document(), env.options(ctx))
	if err != nil {
		return value.Undef, jsonataError(err, p.json.String(), nil)
	}
	return v, nil
}

// Test returns the truth of the program's value as JSON Logic has it:
// undefined, null, false, 0, NaN, "" and [] are false, anything else is true.
// Errors are those of [Program.Eval].
func (p *Program) Test(ctx context.Context, env *Env) (bool, error) {
	v, err := p.Eval(ctx, env)
	return err == nil && truthy(v), err
}

// Refs lists the references to nodes that the program makes with literal
// names, in the order in which they are written. The slice is shared and must
// not be modified.
func (p *Program) Refs() []Ref { return p.refs }

// Ref is one reference to a node of the run.
type Ref struct {
	// Node is the id referred to.
	Node string
	// Func is the history function that was given the id, without its dollar
	// sign, or "" where the program reads the document under the id.
	Func string
	// Path leads to the string that holds the reference inside a rule: keys
	// are strings, places in lists ints. It is nil in a JSONata program.
	Path []any
	// Offset and End span the reference in bytes of the JSONata source, or of
	// the string at Path.
	Offset, End int
	// IDOffset and IDEnd span the id in the same way: the name in a path, with its
	// back-quotes, or the string in a call, with its quotation marks. Both are -1
	// where the id is not written in one piece.
	IDOffset, IDEnd int
	// Steps are the names that are read below the node, as far as they are
	// plain names, where the program reads the document.
	Steps []Step
}

// Reads lists the paths of at least one step that the program reads of variables
// that it does not bind, and of $previousNode(). The slice is shared and must not
// be modified.
func (p *Program) Reads() []Read { return p.reads }

// Read is one path that does not begin at a node's id.
type Read struct {
	// Variable is the name of the variable without its dollar sign; empty for the
	// output of the node before.
	Variable string
	// Path is as that of a [Ref].
	Path []any
	// Steps are the names that are read below it, as far as they are plain names.
	Steps []Step
}

// Whole returns the path that the value of a JSONata program is, as names. root
// tells what they begin at: "" is the document of the run, so that the first name
// is that of a node, "()" the output of the node before, and else it is the name of
// a variable. It reports false for any other program.
func (p *Program) Whole() (root string, steps []string, ok bool) {
	if p.json == nil {
		return "", nil, false
	}
	return WholeOf(p.json.Whole())
}

// PreviousRoot is the root of a path that begins at the output of the node before.
const PreviousRoot = "()"

// WholeOf is [Program.Whole] for a part of a program.
func WholeOf(r jsonata.Read, is bool) (root string, steps []string, ok bool) {
	switch {
	case !is || r.Func != "" && r.Func != previousName:
		return "", nil, false
	case r.Func != "":
		return PreviousRoot, r.Path, true
	}
	return r.Variable, r.Path, true
}

// Step is one name of a path. Offset and End are as those of a [Ref].
type Step struct {
	Name        string
	Offset, End int
}
