package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// evaluation is one expression or rule with what it is evaluated over.
type evaluation struct {
	expr      string
	rule      value.Value
	isRule    bool
	data      value.Value
	history   expr.History  // nil: none, and no history functions
	bindings  value.Value   // variables by name; undefined where there are none
	timelimit time.Duration // 0 is none
	depth     int           // 0 is the engine's own
	log       io.Writer     // for the JSON Logic operator log
}

func (e evaluation) run(ctx context.Context) (value.Value, error) {
	if e.timelimit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, e.timelimit)
		defer cancel()
	}
	if e.isRule {
		program, errs := expr.CompileLogic(e.rule)
		if len(errs) > 0 {
			return value.Undef, errs[0]
		}
		env := &expr.Env{History: e.history, Log: func(v value.Value) { fmt.Fprintln(e.log, v.JSON()) }}
		if e.history == nil {
			env.History = document{e.data}
		}
		return program.Eval(ctx, env)
	}
	if e.history != nil {
		program, err := expr.CompileJSONata(e.expr)
		if err != nil {
			return value.Undef, err
		}
		return program.Eval(ctx, &expr.Env{History: e.history})
	}
	program, err := jsonata.Compile(e.expr)
	if err != nil {
		return value.Undef, err
	}
	return program.Eval(ctx, e.data, &jsonata.Options{Limits: jsonata.Limits{Depth: e.depth}, Vars: e.bindings.Entries()})
}

// document is a history in which nothing has run, over some data.
type document struct{ data value.Value }

var _ expr.History = document{}

func (d document) Document() value.Value {
	if d.data.IsUndefined() {
		return value.FromEntries(nil)
	}
	return d.data
}

func (document) Previous(int) (value.Value, bool) { return value.Undef, false }

func (document) Outputs(string) []value.Value { return nil }

// failure is an error of either language.
type failure struct {
	code    string
	offset  int // in bytes; -1 where it is not known
	token   string
	message string
	hint    string
}

func failureOf(err error) failure {
	var j *jsonata.Error
	if errors.As(err, &j) {
		return failure{j.Code, j.Offset, j.Token, j.Message, j.Hint}
	}
	var x *expr.Error
	if errors.As(err, &x) {
		return failure{x.Code, x.Offset, x.Token, x.Message, x.Hint}
	}
	return failure{offset: -1, message: err.Error()}
}
