package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

type evalOptions struct {
	data  string
	logic string
	jsonl bool
	run   string
	at    int
}

func evalCommand(a *app) *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval [EXPR]",
		Short: "Evaluate a JSONata expression or a JSON Logic rule",
		Long: `Evaluate a JSONata expression, or with --logic a JSON Logic rule. Prints the
result as compact JSON, or undefined if there is none.

With --run FILE, the expression reads the run in FILE: the output of
"mcpgraph run --trace=json", or a run from mcpgraph://runs/{id}. The history
functions read it too. --at N evaluates in the state before execution N.

With --jsonl, each line of stdin is one evaluation and prints one line. A line is
a JSON object with "expr" or "rule", and optionally "id", "data", "bindings"
(variables by name), "timelimit" (milliseconds) and "depth". The output is
{"id", "kind": "value", "value"}, {"id", "kind": "undefined"} or
{"id", "kind": "error", "code", "position", "token", "message"}; position is a
byte offset. A line that fails does not stop the others.`,
		Example: `  mcpgraph eval '$sum(orders.total)' --data orders.json
  mcpgraph eval --logic '{">": [{"var": "n"}, 3]}' --data '-' < data.json
  mcpgraph run tools.yaml count_files --trace=json 2> run.jsonl
  mcpgraph eval --run run.jsonl --at 2 '$previousNode()'
  mcpgraph eval --jsonl < cases.jsonl`,
		Args: func(cmd *cobra.Command, args []string) error {
			wanted := 1
			if o.logic != "" || o.jsonl {
				wanted = 0
			}
			switch {
			case o.jsonl && (o.logic != "" || o.data != "" || o.run != ""):
				return usagef("--jsonl takes expressions and data from stdin")
			case o.run != "" && o.data != "":
				return usagef("--run and --data exclude each other")
			case o.run == "" && cmd.Flags().Changed("at"):
				return usagef("--at needs --run FILE")
			case cmd.Flags().Changed("at") && o.at < 0:
				return usagef("--at is %d; expected 0 or more", o.at)
			case len(args) < wanted:
				return usagef("missing EXPR")
			case len(args) > wanted:
				return usagef("unexpected argument %q", args[wanted])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := a.untilSignal()
			defer stop()
			if o.jsonl {
				return evalLines(ctx, a)
			}
			if !cmd.Flags().Changed("at") {
				o.at = -1
			}
			return evalOne(ctx, a, o, args)
		},
	}
	cmd.Flags().StringVar(&o.data, "data", "", "evaluate over the JSON in this `FILE`, or - for stdin")
	cmd.Flags().StringVar(&o.run, "run", "", "evaluate over the run in this `FILE`, or - for stdin")
	cmd.Flags().IntVar(&o.at, "at", 0, "with --run: the state before execution `N`, counted from 0 (default: the end)")
	cmd.Flags().StringVar(&o.logic, "logic", "", "evaluate this JSON Logic `RULE`")
	cmd.Flags().BoolVar(&o.jsonl, "jsonl", false, "evaluate the lines of stdin")
	return cmd
}

func evalOne(ctx context.Context, a *app, o evalOptions, args []string) error {
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
		data, err := readData(ctx, a, o.data)
		if err != nil {
			return err
		}
		e.data = data
	}
	if o.run != "" {
		moment, err := readRun(ctx, a, o.run, o.at)
		if err != nil {
			return err
		}
		e.history = moment
	}
	v, err := e.run(ctx)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return failed(cause)
		}
		return explainExpression(a, source, e.isRule, err)
	}
	text := "undefined"
	if !v.IsUndefined() && v.Kind() != value.Func {
		text = v.JSON()
	}
	_, err = fmt.Fprintln(a.stdout, text)
	return failed(err)
}

func readData(ctx context.Context, a *app, path string) (value.Value, error) {
	text, name, err := a.readInput(ctx, "--data", path)
	if err != nil {
		return value.Undef, err
	}
	v, err := value.ParseLazy(text)
	if err != nil {
		return value.Undef, failedf("%s: %w", name, err)
	}
	return v, nil
}

// readRun reads a recorded run as its execution at saw it; -1 is the end.
func readRun(ctx context.Context, a *app, path string, at int) (*runs.Moment, error) {
	text, name, err := a.readInput(ctx, "--run", path)
	if err != nil {
		return nil, err
	}
	recording, err := runs.ReadRecording(text)
	switch {
	case err != nil:
		return nil, failedf("%s: %w", name, err)
	case at < 0:
		at = recording.End()
	case at > recording.End():
		return nil, usagef("--at is %d, but the run ends at %d", at, recording.End())
	}
	return recording.At(at), nil
}

// explainExpression shows an error with the expression and a caret under the
// place, where that is known.
func explainExpression(a *app, source string, isRule bool, err error) error {
	f := failureOf(err)
	if isRule || f.offset < 0 {
		return &exitError{exitProblems, err}
	}
	if program, err := expr.CompileJSONata(source); err == nil && f.hint == "" {
		for _, found := range program.Findings() {
			if found.Offset == f.offset {
				f.hint = found.Hint
			}
		}
	}
	lines := diag.NewLines([]byte(source))
	a.report([]diag.Diagnostic{{
		File: "expression", Severity: diag.Error, Code: f.code, Message: f.message, Hint: f.hint,
		Pos: lines.Pos(f.offset), End: lines.Pos(f.offset + len(f.token)),
	}}, diag.Sources{"expression": []byte(source)})
	return &exitError{code: exitProblems}
}
