package debug

import (
	"context"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Options say how a session begins.
type Options struct {
	// StartPaused pauses the run before its first task.
	StartPaused bool
	// Breakpoints and BreakOn are as in [Session.SetBreakpoints].
	Breakpoints []Breakpoint
	BreakOn     BreakOn
	// Pins are outputs of nodes that are not executed, as in [Session.Pin].
	Pins map[string]value.Value
	// From is the run that the session goes on with; nil: a new one.
	From *From
}

// From is a place in another run, which stays as it is.
type From struct {
	// Run is the other run: that of a session ([Session.Run]) or a kept one
	// ([runs.Run.Replay]). Values of kept runs have no secrets.
	Run *executor.Run
	// Before is the index of the first record that is left out.
	Before int
	// Set replaces outputs of nodes, by key, path or id, as [Session.SetOutput] does
	// where the run goes on.
	Set map[string]value.Value
}

// Environment is what a session needs to know of the program that runs it. Any field
// may be left out.
type Environment struct {
	// ID is the id of the run, Caller the name of who debugs it.
	ID, Caller string
	// Tools are all tools of the file: names of their nodes are known. That of the run
	// always is.
	Tools []*graph.Graph
	// Functions are those of expressions beside the built-in ones.
	Functions []jsonata.Function
	// Redactor returns what takes secrets out of what is shown, or nil if there are
	// none. It is called again each time.
	Redactor func() func(string) string
	// Processor returns what shares processor time, for one goroutine.
	Processor func() expr.Processor
	// Account returns a context on whose account of memory an evaluation counts, and
	// what has to be called after it.
	Account func(context.Context) (context.Context, func())
	// Shown returns a question as a person may see it.
	Shown func(executor.Question) executor.Question
	// Ask asks a person beside those who answer through the session.
	Ask func(ctx context.Context, q executor.Question) (value.Value, error)
	// Over is called when the run is over, before the session is. It may end the
	// context of the session.
	Over func()
	// Now is the clock of the process; nil: [time.Now].
	Now func() time.Time
}

func (e *Environment) now() time.Time {
	if e.Now != nil {
		return e.Now()
	}
	return time.Now()
}

// text returns a text without secrets.
func (e *Environment) text(text string) string {
	if f := e.redactor(); f != nil {
		return f(text)
	}
	return text
}

// value returns a value without secrets.
func (e *Environment) value(v value.Value) value.Value {
	if f := e.redactor(); f != nil && !v.IsUndefined() {
		return v.Rewritten(f)
	}
	return v
}

func (e *Environment) redactor() func(string) string {
	if e.Redactor == nil {
		return nil
	}
	return e.Redactor()
}
