package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/schematext"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

type callCommandOptions struct {
	config, server, tool string
	args                 []string
	argsJSON             string
	output               string
	yes                  bool
	mcpFiles             []string
	caller               caller
	logLevel             string
}

func callCommand(a *app) *cobra.Command {
	var o callCommandOptions
	cmd := &cobra.Command{
		Use:   "call CONFIG SERVER TOOL",
		Short: "Call a tool of an upstream server",
		Long: `Call one tool of an upstream server, without a graph, and print what the output of
an mcp node would be. The settings of the server's entry apply: timeouts, retry,
rate limit and credentials.

The arguments are checked against the tool's inputSchema before they are sent. A
tool that is not read-only, or for which the entry requires approval, is called only
with --yes, or after a yes on the terminal.

CONFIG can also be the file of a desktop client, with the key mcpServers. The exit
code is 1 if the call fails.`,
		Example: `  mcpgraph call tools.yaml files list_directory --arg path=.
  mcpgraph call tools.yaml files write_file --args @note.json --yes
  mcpgraph call mcp.json files read_file --arg path=a.txt --output result`,
		Args: configArgs("CONFIG", "SERVER", "TOOL"),
		RunE: func(_ *cobra.Command, args []string) error {
			o.config, o.server, o.tool = args[0], args[1], args[2]
			return callTool(a, o)
		},
		ValidArgsFunction: completeServer(a, &o.mcpFiles),
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&o.args, "arg", "a", nil, "set one argument, `NAME=VALUE` (repeatable)")
	flags.StringVar(&o.argsJSON, "args", "", "set all arguments: `JSON`, @FILE or - for stdin")
	flags.StringVar(&o.output, "output", "", "print this `PART` of the reply, as output of an mcp node: "+strings.Join(nodes.OutputModes(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(nodes.OutputModes(), cobra.ShellCompDirectiveNoFileComp))
	flags.BoolVarP(&o.yes, "yes", "y", false, "call a tool that is not read-only without asking")
	o.caller.flags(cmd)
	mcpFlag(a, cmd, &o.mcpFiles)
	quietLogFlag(cmd, &o.logLevel)
	return cmd
}

func callTool(a *app, o callCommandOptions) (err error) {
	if o.output != "" && !slices.Contains(nodes.OutputModes(), o.output) {
		return usagef("--output is %q; expected %s", o.output, diag.List(nodes.OutputModes()))
	}
	ctx, stop := a.untilSignal()
	defer stop()
	info, err := o.caller.info()
	if err != nil {
		return err
	}
	given, err := readArguments(ctx, a, o.argsJSON, o.args)
	if err != nil {
		return err
	}
	engine, err := loadServers(ctx, a, o.config, o.mcpFiles, o.logLevel)
	if err != nil {
		return err
	}
	defer closeEngine(engine, &err)
	under := a.begin("connecting to " + o.server)
	defer under.end()
	servers, err := askServers(ctx, engine, info, o.server)
	if err != nil {
		return err
	}
	server := servers[0]
	if server.Err != nil {
		return &exitError{exitProblems, server.Err}
	}
	tool, err := server.tool(o.tool)
	if err != nil {
		return err
	}
	args, err := checkedArguments(a, given, tool)
	if err != nil {
		return err
	}
	under.end()
	if err := approve(ctx, a, o.yes, server.Entry, tool, args); err != nil {
		return err
	}
	under = a.begin("calling " + tool.name + " of " + o.server)
	defer under.end()
	reply, err := callUpstream(ctx, engine, info, o.server, o.tool, args)
	under.end()
	if err != nil {
		return err
	}
	out, err := nodes.Output(reply, o.output)
	if err != nil {
		return &exitError{exitProblems, fmt.Errorf("tool %q of server %q: %s", o.tool, o.server, engine.Redact(info, err.Error()))}
	}
	if out.IsUndefined() {
		out = value.NullValue
	}
	return failed(writeAll(a.stdout, append(engine.RedactValue(info, out).Append(nil), '\n')))
}

// callUpstream calls a tool and returns the whole reply.
func callUpstream(ctx context.Context, engine *mcpgraph.Engine, info *callinfo.Info, server, tool string, args value.Value) (value.Value, error) {
	result, err := engine.Upstreams().CallTool(ctx, info, server, tool, args)
	if stopped := interrupted(ctx); stopped != nil {
		return value.Undef, stopped
	}
	if err != nil {
		return value.Undef, &exitError{exitProblems, err}
	}
	return result.Value, nil
}

// checkedArguments returns the arguments of a call if they fit the tool's
// inputSchema.
func checkedArguments(a *app, given arguments, tool upstreamTool) (value.Value, error) {
	input := tool.input()
	if input.IsUndefined() {
		input = value.FromEntries(nil)
	}
	args, err := given.typedBy(input)
	if err != nil {
		return value.Undef, err
	}
	schema, err := graph.NewSchema(input)
	if err != nil {
		fmt.Fprintf(a.stderr, "mcpgraph: the arguments were not checked: the inputSchema of tool %q does not compile: %s\n",
			tool.name, visible(err.Error()))
		return args, nil
	}
	if err := schema.Validate(args); err != nil {
		return value.Undef, usagef("invalid arguments of tool %q: %s%s", tool.name, err, misspelt(input, args))
	}
	return args, nil
}

// misspelt names an argument that was probably meant where the tool does not know
// the one given.
func misspelt(input, args value.Value) string {
	var missing []string
	for _, f := range schematext.Fields(input) {
		if !args.Has(f.Name) {
			missing = append(missing, f.Name)
		}
	}
	for _, e := range args.Entries() {
		if input.Get("properties").Has(e.Key) {
			continue
		}
		if near, ok := diag.Nearest(e.Key, missing); ok {
			return fmt.Sprintf("; did you mean %q instead of %q?", near, e.Key)
		}
	}
	return ""
}

// maxShownArguments is how much of the arguments a question shows, in bytes.
const maxShownArguments = 2000

// approve returns nil if the tool may be called: it is read-only, yes is true, or a
// person at the terminal agrees.
func approve(ctx context.Context, a *app, yes bool, entry *config.Upstream, tool upstreamTool, args value.Value) error {
	why := ""
	switch {
	case yes:
		return nil
	case entry.RequireApproval.Needs(tool.name):
		why = entry.Setting("requireApproval") + " names it"
	case !tool.readOnly():
		why = "it may change things, its server does not say that it is read-only"
	default:
		return nil
	}
	p := newPrompt(a)
	if !p.possible() {
		return usagef("tool %q of server %q needs approval: %s; pass --yes to call it", tool.name, entry.Name, why)
	}
	fmt.Fprintf(a.stderr, "Tool %s of %s needs approval: %s.\n  arguments: %s\n",
		visible(tool.name), entry.Name, why, visible(args.Preview(maxShownArguments)))
	agreed, err := p.yes(ctx, "Call it? [y/N]: ")
	if err != nil {
		return err
	}
	if !agreed {
		return &exitError{exitProblems, errors.New("not called")}
	}
	return nil
}
