package cli

import (
	"context"

	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

type evalOptions struct {
	data  string
	logic string
	jsonl bool
}

func (a *app) evalCommand() *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval [EXPR]",
		Short: "Evaluate a JSONata expression or a JSON Logic rule",
		Long: `Evaluate a JSONata expression, or with --logic a JSON Logic rule, and print its
value as compact JSON, or undefined where it yields nothing.

With --jsonl every line of stdin is one evaluation, and so is every line of
stdout. A line is a JSON object: "expr" or "rule", and if need be "id", "data",
"bindings" (variables by name), "timelimit" (milliseconds) and "depth". The
answer is {"id", "kind": "value", "value"}, {"id", "kind": "undefined"} or
{"id", "kind": "error", "code", "position", "token", "message"}; position is a
byte offset. A line that fails does not end the others.`,
		Example: `  mcpgraph eval '$sum(orders.total)' --data orders.json
  mcpgraph eval --logic '{">": [{"var": "n"}, 3]}' --data '-' < data.json
  mcpgraph eval --jsonl < cases.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			wanted := 1
			if o.logic != "" || o.jsonl {
				wanted = 0
			}
			switch {
			case o.jsonl && (o.logic != "" || o.data != ""):
				return usagef("--jsonl takes expressions and data from stdin")
			case len(args) < wanted:
				return usagef("missing EXPR")
			case len(args) > wanted:
				return usagef("unexpected argument %q", args[wanted])
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			ctx, stop := untilSignal()
			defer stop()
			if o.jsonl {
				return a.evalLines(ctx)
			}
			return a.evalOne(ctx, o, args)
		},
	}
	cmd.Flags().StringVar(&o.data, "data", "", "evaluate over the JSON of this `FILE`, or - for stdin")
	cmd.Flags().StringVar(&o.logic, "logic", "", "evaluate this JSON Logic `RULE`")
	cmd.Flags().BoolVar(&o.jsonl, "jsonl", false, "evaluate the lines of stdin")
	return cmd
}

func (a *app) evalOne(ctx context.Context, o evalOptions, args []string) error {
	e, source := evaluation{log: a.stderr}, o.logic
	if o.logic != "" {
		rule, err := value.Parse(o.logic)
		if err != nil {
			return usagef("--logic: %w", err)
		}
		e.rule, e.isRule = rule, true
	} else {
		source = args[0]
		e.expr = source
	}
	if o.data != "" {
		data, err := a.readData(o.data)
		if err != nil {
			return err
		}
		e.data = data
	}
	v, err := e.run(ctx)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return failed(cause)
		}
		return a.explainExpression(source, e.isRule, err)
	}
	text := "undefined"
	if !v.IsUndefined() && v.Kind() != value.Func {
		text = v.JSON()
	}
	_, err = fmt.Fprintln(a.stdout, text)
	return failed(err)
}

func (a *app) readData(path string) (value.Value, error) {
	text, name, err := a.readInput("--data", path)
	if err != nil {
		return value.Undef, err
	}
	v, err := value.ParseLazy(text)
	if err != nil {
		return value.Undef, failedf("%s: %w", name, err)
	}
	return v, nil
}

// explainExpression shows an error with the expression and a caret under the
// place, where that is known.
func (a *app) explainExpression(source string, isRule bool, err error) error {
	f := failureOf(err)
	if isRule || f.offset < 0 {
		return &exitError{exitProblems, err}
	}
	lines := diag.NewLines([]byte(source))
	a.report([]diag.Diagnostic{{
		File: "expression", Severity: diag.Error, Code: f.code, Message: f.message,
		Pos: lines.Pos(f.offset), End: lines.Pos(f.offset + len(f.token)),
	}}, diag.Sources{"expression": []byte(source)})
	return &exitError{code: exitProblems}
}
