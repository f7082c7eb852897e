package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
)

type runOptions struct {
	config, tool string
	args         []string
	argsJSON     string
	answers      []string
	trace        string
	logLevel     string
	mcpFiles     []string
	caller       caller
	observe      observeOptions
	memory       memoryOption
	lock         lockOptions
}

func (a *app) runCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run CONFIG [TOOL]",
		Short: "Call one tool of a file and print its result",
		Long: `Call one tool of a file and print its result on stdout as compact JSON. Without
TOOL, it lists the tools of the file and their arguments.

--arg NAME=VALUE sets one argument. The tool's inputSchema decides whether VALUE
is a string or JSON. --args sets all arguments as one JSON object, from the
command line, from a file (@FILE) or from stdin (-). --arg wins over --args.

--trace shows each node on stderr as it runs; --trace=json prints JSON lines.`,
		Example: `  mcpgraph run tools.yaml count_files --arg directory=.
  mcpgraph run tools.yaml count_files --args '{"directory": "."}' --trace
  mcpgraph run tools.yaml count_files --args @args.json --trace json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && !cmd.Flags().Changed("arg") && !cmd.Flags().Changed("args") {
				return nil
			}
			return configArgs("CONFIG", "TOOL")(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if o.config = args[0]; len(args) == 1 {
				return a.listTools(o)
			}
			o.tool = args[1]
			return a.run(o)
		},
		ValidArgsFunction: a.completeTool(&o.mcpFiles),
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&o.args, "arg", "a", nil, "set one argument, `NAME=VALUE` (repeatable)")
	flags.StringVar(&o.argsJSON, "args", "", "set all arguments: `JSON`, @FILE or - for stdin")
	flags.StringArrayVar(&o.answers, "answer", nil, "answer the questions of a node, `NODE=JSON`; JSON can also be accept, decline or cancel (repeatable)")
	flags.StringVar(&o.trace, "trace", "", "trace the run on stderr; `FORMAT` is text or json")
	optionalValue(flags, "trace", traceFormats...)
	_ = cmd.RegisterFlagCompletionFunc("arg", a.completeArgument(&o.mcpFiles, &o.args))
	_ = cmd.RegisterFlagCompletionFunc("trace", cobra.FixedCompletions(traceFormats, cobra.ShellCompDirectiveNoFileComp))
	logFlag(cmd, &o.logLevel)
	o.observe.contentFlag(cmd)
	a.mcpFlag(cmd, &o.mcpFiles)
	o.caller.flags(cmd)
	o.memory.flag(cmd)
	o.lock.flags(cmd)
	return cmd
}

func (a *app) listTools(o runOptions) (err error) {
	engine, err := a.loadOnce(o.config, mcpgraph.WithMCPFiles(o.mcpFiles...))
	if err != nil {
		return err
	}
	defer closeEngine(engine, &err)
	return failed(writeTools(a.stdout, o.config, engine.Tools(), a.width(a.stdout)))
}

func (a *app) run(o runOptions) (err error) {
	log, err := a.logger(o.logLevel)
	if err != nil {
		return err
	}
	ctx, stop := a.untilSignal()
	defer stop()
	info, err := o.caller.info()
	if err != nil {
		return err
	}
	given, err := a.readArguments(ctx, o.argsJSON, o.args)
	if err != nil {
		return err
	}
	questions, err := a.readAnswers(o.answers)
	if err != nil {
		return err
	}
	ob, err := a.observe(o.observe, log, false)
	if err != nil {
		return err
	}
	defer ob.end()
	engine, err := a.loadOnce(o.config, append(slices.Concat(ob.options, o.lock.options), mcpgraph.WithMCPFiles(o.mcpFiles...), mcpgraph.WithMemory(o.memory.budget(log)))...)
	if err != nil {
		return err
	}
	defer closeEngine(engine, &err)
	g, err := engine.Graph(o.tool)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	args, err := given.typed(g.Input)
	if err != nil {
		return err
	}
	opts := []mcpgraph.CallOption{mcpgraph.WithCallInfo(info), mcpgraph.WithAsk(questions.ask)}
	if o.trace != "" {
		hooks, err := a.tracer(o.trace, engine, info, g)
		if err != nil {
			return err
		}
		opts = append(opts, mcpgraph.WithCallHooks(hooks))
	}
	var running *activity
	if o.trace == "" {
		running = a.begin("calling " + o.tool)
		questions.asking = running.end
		opts = append(opts, mcpgraph.WithCallHooks(running.hooks(o.tool)))
	}
	result, err := engine.Call(ctx, o.tool, args, opts...)
	running.end()
	if err != nil {
		return a.explain(ctx, engine, err)
	}
	_, err = fmt.Fprintf(a.stdout, "%s\n", result.JSON())
	return failed(err)
}

// explain reports why a call failed, with the place in the file if there is
// one.
func (a *app) explain(ctx context.Context, engine *mcpgraph.Engine, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return failed(cause)
	}
	var node *executor.NodeError
	if !errors.As(err, &node) {
		return &exitError{exitProblems, err}
	}
	_, sources := engine.Diagnostics()
	d := node.Diagnostic()
	// What the server wrote last stands on lines of its own, behind the place.
	message, more, _ := strings.Cut(d.Message, "\n")
	d.Message = strings.TrimSuffix(message, ":")
	a.report([]diag.Diagnostic{d}, sources)
	if more != "" {
		fmt.Fprintln(a.stderr, more)
	}
	return &exitError{code: exitProblems}
}
