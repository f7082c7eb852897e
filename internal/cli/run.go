package cli

import (
	"context"
	"errors"
	"fmt"
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
	record       string
	node         string
	context      string
	watch        bool
	debug        bool
	logLevel     string
	mcpFiles     []string
	caller       caller
	observe      observeOptions
	memory       memoryOption
	lock         lockOptions
	drivenBy     string
	temporal     temporalOptions
	detach       bool
}

func runCommand(a *app) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run CONFIG [TOOL]",
		Short: "Call one tool of a file and print its result",
		Long: `Call one tool of a file and print its result on stdout as compact JSON. Without
TOOL, it lists the tools of the file and their arguments.

--arg NAME=VALUE sets one argument. The tool's inputSchema decides whether VALUE
is a string or JSON. --args sets all arguments as one JSON object, from the
command line, from a file (@FILE) or from stdin (-). --arg wins over --args.

--trace shows each node on stderr as it runs; --trace=json prints JSON lines.

--record FILE writes what the upstream tools were sent and answered to FILE, also
if the call fails. Secrets are replaced.

--node ID runs one node alone and prints its output and the next node. --context
is what its expressions see: a JSON object with the outputs of nodes by their ids,
in the order of execution, and variables such as $item. --arg and --args set the
output of the entry node.

--debug debugs the run: it pauses before the first node and reads commands from
stdin, a line each, such as step, break NODE, print EXPR and continue; help lists
them. What it says goes to stderr. Ctrl-C pauses the run, and a second one stops it.

--engine temporal lets workers run the tool (mcpgraph worker), and waits. The run
survives this process; Ctrl-C cancels it. With --detach, the command prints the id of
the run and ends; mcpgraph runs looks at it.

--watch runs again when CONFIG, its lock file or a file of --args, --context or --mcp
changes, and shows what became different. Ctrl-C ends it.`,
		Example: `  mcpgraph run tools.yaml count_files --arg directory=.
  mcpgraph run tools.yaml count_files --args '{"directory": "."}' --trace
  mcpgraph run tools.yaml count_files --args @args.json --trace json
  mcpgraph run tools.yaml count_files --arg directory=. --record count.jsonl
  mcpgraph run tools.yaml count_files --arg directory=. --debug
  mcpgraph run tools.yaml count_files --node count --context '{"list": {}}'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && o.record == "" && o.node == "" && !o.watch && !o.debug && !cmd.Flags().Changed("arg") && !cmd.Flags().Changed("args") {
				return nil
			}
			if len(args) == 0 {
				return usagef("missing CONFIG")
			}
			if err := configArgs("CONFIG", "TOOL")(cmd, args); err != nil {
				return err
			}
			o.config = args[0]
			for flag, on := range map[string]bool{"--watch": o.watch, "--debug": o.debug, "--detach": o.detach} {
				if err := a.needsFiles("run "+flag, o.config); on && err != nil {
					return err
				}
			}
			return o.check()
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.config = args[0]; len(args) == 1 {
				return listTools(a, o)
			}
			switch o.tool = args[1]; {
			case o.watch:
				return runAgain(a, o)
			case o.debug:
				if !cmd.Flags().Changed("log-level") {
					o.logLevel = "error" // the debugger shows what is logged
				}
				return debugTool(a, o)
			}
			return runTool(a, o)
		},
		ValidArgsFunction: completeTool(a, &o.mcpFiles),
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&o.args, "arg", "a", nil, "set one argument, `NAME=VALUE` (repeatable)")
	flags.StringVar(&o.argsJSON, "args", "", "set all arguments: `JSON`, @FILE or - for stdin")
	flags.StringArrayVar(&o.answers, "answer", nil, "answer the questions of a node, `NODE=JSON`; JSON can also be accept, decline, cancel or, for a model, text (repeatable)")
	flags.StringVar(&o.trace, "trace", "", "trace the run on stderr; `FORMAT` is text or json")
	optionalValue(flags, "trace", traceFormats...)
	flags.StringVar(&o.record, "record", "", "write what upstream tools are sent and answer to `FILE`")
	flags.StringVar(&o.node, "node", "", "run only the node `ID`")
	flags.StringVar(&o.context, "context", "", "with --node, what expressions see: `JSON`, a file or - for stdin")
	flags.BoolVar(&o.watch, "watch", false, "run again when the file changes")
	flags.BoolVar(&o.debug, "debug", false, "debug the run on the terminal")
	_ = cmd.RegisterFlagCompletionFunc("node", completeNode(a, &o.mcpFiles))
	_ = cmd.RegisterFlagCompletionFunc("arg", completeArgument(a, &o.mcpFiles, &o.args))
	_ = cmd.RegisterFlagCompletionFunc("trace", cobra.FixedCompletions(traceFormats, cobra.ShellCompDirectiveNoFileComp))
	logFlag(cmd, &o.logLevel)
	o.observe.contentFlag(cmd)
	mcpFlag(a, cmd, &o.mcpFiles)
	o.caller.flags(cmd)
	o.memory.flag(cmd)
	o.lock.flags(cmd)
	engineFlag(cmd, &o.drivenBy)
	o.temporal.flags(cmd)
	flags.BoolVar(&o.detach, "detach", false, "with --engine temporal, print the id of the run and do not wait for it")
	return cmd
}

func listTools(a *app, o runOptions) (err error) {
	engine, err := a.loadOnce(context.Background(), o.config, mcpgraph.WithMCPFiles(o.mcpFiles...))
	if err != nil {
		return err
	}
	defer closeEngine(engine, &err)
	return failed(writeTools(a.stdout, o.config, append(engine.Tools(), engine.Offers()...), a.width(a.stdout)))
}

// check returns an error for flags that exclude each other.
func (o *runOptions) check() error {
	if o.here() {
		switch durable, err := o.temporal.isTemporal(o.drivenBy, nil); {
		case err != nil:
			return err
		case durable:
			return usagef("--engine temporal excludes --node, --debug and --record")
		}
	}
	switch {
	case o.detach && (o.here() || o.drivenBy == engineLocal):
		return errDetach
	case o.context != "" && o.node == "":
		return usagef("--context needs --node")
	case o.record != "" && o.node != "":
		return usagef("--record and --node exclude each other")
	case o.record != "" && o.watch:
		return usagef("--record and --watch exclude each other")
	case o.debug && (o.node != "" || o.watch || o.trace != ""):
		return usagef("--debug excludes --node, --watch and --trace")
	case o.debug && o.argsJSON == "-":
		return usagef("--debug reads commands from stdin; name a file of arguments, --args @FILE")
	case o.detach && (o.trace != "" || o.record != "" || o.watch || len(o.answers) > 0):
		return usagef("--detach excludes --trace, --record, --watch and --answer")
	case o.watch && (o.argsJSON == "-" || o.context == "-"):
		return usagef("--watch cannot read stdin again; name a file")
	}
	return nil
}

// here reports whether a run is driven in this process, whatever the file says.
func (o *runOptions) here() bool { return o.node != "" || o.debug || o.record != "" }

var errDetach = usagef("--detach needs --engine temporal")

func runTool(a *app, o runOptions) (err error) {
	ctx, stop := a.untilSignal()
	defer stop()
	r, err := newToolRunner(a, o)
	if err != nil {
		return err
	}
	defer r.end(&err)
	result, err := r.run(ctx)
	if err != nil {
		return err
	}
	text := result.JSON()
	if o.detach {
		text = result.Str() // the id, as other commands take it
	}
	_, err = fmt.Fprintln(a.stdout, text)
	return failed(err)
}

// explain reports why a call failed, with the place in the file if there is
// one.
func explain(ctx context.Context, a *app, engine *mcpgraph.Engine, err error) error {
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
