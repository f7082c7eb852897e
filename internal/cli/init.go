package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/scaffold"
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

type initOptions struct {
	file     string
	server   string
	from     string
	tool     string
	name     string
	args     []string
	argsJSON string
	yes      bool
	logLevel string
}

func initCommand(a *app) *cobra.Command {
	o := initOptions{file: filepath.Join(defaultFolder, defaultFile)}
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a first file and its test, or add a tool",
		Long: `Write a small working file with comments, and its test beside it. Without FILE, that is
tools.yaml in the current folder, with tools.test.yaml.

If the file exists, init adds a tool to it, and a test to its test file. It shows what
changes; on a terminal it asks before it writes. Everything else in the files stays as
it is. --server is then the name of a server in the file, or a new one.

On a terminal it asks which server and which of its tools to call. --server or
--from, with --tool, answer that. If the tool is read-only and its arguments are
known, it is called once: its reply becomes the mock of the test.

Without a terminal and without flags it writes an example that counts files.`,
		Example: `  mcpgraph init
  mcpgraph init notes.yaml --server 'notes=npx -y notes-mcp' --tool list_notes
  mcpgraph init --from .cursor/mcp.json --server github --tool list_issues
  mcpgraph init tools.yaml --tool get_file_info --name file_size`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("unexpected argument %q", args[1])
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.file = args[0]
			}
			return initFile(a, o)
		},
		ValidArgsFunction: completeOne,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.server, "server", "", "the server to call, `NAME=COMMAND` or NAME=URL, or the name of one in --from or FILE")
	flags.StringVar(&o.from, "from", "", "take the server from this `FILE`, such as .cursor/mcp.json")
	_ = cmd.MarkFlagFilename("from", "json", "yaml", "yml")
	flags.StringVar(&o.tool, "tool", "", "the `TOOL` of the server to call")
	flags.StringVar(&o.name, "name", "", "the `NAME` of the new tool (default: that of the server's tool)")
	flags.StringArrayVarP(&o.args, "arg", "a", nil, "an argument for the first call and the test, `NAME=VALUE` (repeatable)")
	flags.StringVar(&o.argsJSON, "args", "", "all arguments for the first call and the test: `JSON`, @FILE or - for stdin")
	flags.BoolVarP(&o.yes, "yes", "y", false, "ask nothing")
	quietLogFlag(cmd, &o.logLevel)
	return cmd
}

func initFile(a *app, o initOptions) error {
	target, err := newTarget(o.file, o.name)
	if err != nil {
		return err
	}
	ctx, stop := a.untilSignal()
	defer stop()
	given, err := readArguments(ctx, a, o.argsJSON, o.args)
	if err != nil {
		return err
	}
	var p *prompt
	if asking := newPrompt(a); !o.yes && o.argsJSON != "-" && asking.possible() {
		p = asking
	}
	adds := target.oldConfig != nil
	if adds && p == nil && o.server == "" && o.from == "" && o.tool == "" {
		return failedf("%s exists already; add a tool to it with --tool, or give another name", o.file)
	}
	if !adds && o.server == "" && o.from == "" {
		if o.tool != "" || o.name != "" || len(o.args) > 0 || o.argsJSON != "" {
			return usagef("--tool, --name, --arg and --args need --server or --from")
		}
		if p == nil {
			return finish(a, target, scaffold.Example(target.scaffold()))
		}
	}
	origin, err := chosenOrigin(ctx, a, o, p, adds)
	if err != nil {
		return err
	}
	if origin == nil {
		return finish(a, target, scaffold.Example(target.scaffold()))
	}
	files, err := drafted(ctx, a, o, p, origin, given, target)
	if err != nil {
		return err
	}
	if adds {
		return addTool(ctx, a, p, target, files)
	}
	return finish(a, target, files)
}

// drafted connects to the server and makes the files.
func drafted(ctx context.Context, a *app, o initOptions, p *prompt, origin *serverOrigin, given arguments, target target) (_ scaffold.Files, err error) {
	var none scaffold.Files
	engine, err := loadOrigin(ctx, a, origin, target.config, o.logLevel)
	if err != nil {
		return none, err
	}
	defer closeEngine(engine, &err)
	info := &callinfo.Info{Meta: value.Undef}
	connecting := a.begin("connecting to " + origin.name)
	servers, err := askServers(ctx, engine, info, origin.name)
	connecting.end()
	if err != nil {
		return none, err
	}
	server := servers[0]
	if server.Err != nil {
		return none, &exitError{exitProblems, server.Err}
	}
	tool, err := chosenTool(ctx, a, p, server, o.tool)
	if err != nil {
		return none, err
	}
	call, err := firstCall(ctx, a, p, engine, info, server, tool, given)
	if err != nil {
		return none, err
	}
	upstream := scaffold.Upstream{
		Server: origin.name, Entry: portable(origin.entry, target.config), Tool: tool.name, Description: tool.description(),
		Input: tool.input(), Output: tool.output(), Annotations: tool.listed.Get("annotations"),
	}
	var files scaffold.Files
	if target.oldConfig == nil {
		files, err = scaffold.New(upstream, call, target.scaffold())
	} else {
		files, err = scaffold.Add(upstream, call, target.scaffold(), target.oldConfig, target.oldTest)
	}
	if err != nil {
		return none, &exitError{exitProblems, err}
	}
	return files, nil
}

// loadOrigin loads the server that the new file, target, is to call.
func loadOrigin(ctx context.Context, a *app, origin *serverOrigin, target, logLevel string) (*mcpgraph.Engine, error) {
	if origin.file != "" {
		return loadServers(ctx, a, origin.file, nil, logLevel)
	}
	log, err := a.logger(logLevel)
	if err != nil {
		return nil, err
	}
	text := value.ObjectOf("mcpServers", value.ObjectOf(origin.name, origin.entry)).Append(nil)
	engine, err := mcpgraph.LoadBytes(filepath.Join(filepath.Dir(target), "--server"), text,
		mcpgraph.WithServersOnly(), mcpgraph.WithLogger(log), mcpgraph.WithGetenv(a.getenv))
	var wrong *mcpgraph.LoadError
	if errors.As(err, &wrong) {
		return nil, usagef("%s", strings.ReplaceAll(wrong.Diagnostics[0].Message, "\n", " "))
	}
	return engine, err
}

// firstCall returns the arguments of the test, and the reply of the tool if it may
// be called: it is read-only, and its arguments are known.
func firstCall(ctx context.Context, a *app, p *prompt, engine *mcpgraph.Engine, info *callinfo.Info, server upstreamServer, tool upstreamTool, given arguments) (scaffold.Call, error) {
	call := scaffold.Call{}
	if p != nil && given.all.Len() == 0 && len(given.pairs) == 0 {
		if err := askArguments(ctx, p, tool, &given); err != nil {
			return call, err
		}
	}
	nothing := given.all.Len() == 0 && len(given.pairs) == 0
	args, err := checkedArguments(a, given, tool)
	switch {
	case err != nil && nothing:
		return call, nil // some are required; the test makes them up
	case err != nil:
		return call, err
	}
	call.Arguments = args
	if !tool.readOnly() || server.Entry.RequireApproval.Needs(tool.name) {
		return call, nil
	}
	calling := a.begin("calling " + tool.name + " of " + server.Entry.Name)
	reply, err := callUpstream(ctx, engine, info, server.Entry.Name, tool.name, args)
	calling.end()
	if interrupted(ctx) != nil {
		return call, err
	}
	if err == nil && reply.Get("isError").Bool() {
		err = errors.New(firstLine(reply.Get("content").Preview(maxDefaultBytes)))
	}
	if err != nil {
		fmt.Fprintf(a.stderr, "mcpgraph: the first call of %s failed, so the test has a made-up reply: %s\n",
			visible(tool.name), visible(textline.Clean(engine.Redact(info, err.Error()))))
		return call, nil
	}
	call.Reply = engine.RedactValue(info, reply)
	return call, nil
}

// finish writes the files.
func finish(a *app, t target, files scaffold.Files) error {
	if err := t.write(files); err != nil {
		return err
	}
	return printNext(a, t, files, "wrote")
}

// printNext says what was done with the files, and what to do next.
func printNext(a *app, t target, files scaffold.Files, done string) error {
	testDone := done
	if t.oldTest == nil {
		testDone = "wrote"
	}
	if len(testDone) < len(done) {
		testDone += strings.Repeat(" ", len(done)-len(testDone))
	}
	reply := "a test with a made-up reply"
	if files.Real {
		reply = "a test with the reply of a real call"
	}
	var args strings.Builder
	for _, e := range files.Arguments.Entries() {
		text := e.Value.JSON()
		if e.Value.Kind() == value.String {
			text = e.Value.Str()
		}
		args.WriteString(" --arg " + shellWord(visible(e.Key+"="+text)))
	}
	config, test := shellWord(t.config), shellWord(t.test)
	column := max(len(t.config), len(t.test))
	_, err := fmt.Fprintf(a.stdout, `%s %-*s  the tool %s
%s %-*s  %s

Next:
  mcpgraph validate --strict %s
  mcpgraph run %s %s%s
  mcpgraph test %s
  mcpgraph export %s --for claude    # prints the entry for Claude Code; also cursor, vscode, codex, …
`, done, column, t.config, files.Tool, testDone, column, t.test, reply, config, config, shellWord(files.Tool), args.String(), test, config)
	return failed(err)
}
