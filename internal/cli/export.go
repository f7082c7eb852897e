package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Values of --approval.
const (
	approveAlways = "always"
	approveWrites = "writes"
	approveNever  = "never"
)

var approvals = []string{approveAlways, approveWrites, approveNever}

// exported is the server that an entry is printed for.
type exported struct {
	name, description string
	command           string
	args              []string
	env               []exportedVariable
	url               string
	headers           http.Header
	tools             []string
	readOnly          []string // of the tools, those with readOnlyHint
	approval          string
	connection        string
}

// exportTarget is the form of a program's entry.
type exportTarget struct {
	// hosted is a program whose provider calls the server at an address. The others
	// start the server themselves or connect to its url.
	hosted bool
	entry  func(*exported) (value.Value, error)
	// encode writes the entry; nil is JSON.
	encode func(value.Value) []byte
	// fill tells what a person does with the variables that the file needs; it has
	// %s for their names.
	fill string
}

const (
	fillEnvironment = "set %s in the environment of that program"
	fillPlaceholder = "replace the placeholders of %s in the entry by their values"
)

var exportTargets = map[string]exportTarget{
	"claude":         {entry: claudeEntry, fill: fillEnvironment},
	"claude-desktop": {entry: claudeDesktopEntry, fill: fillPlaceholder},
	"codex":          {entry: codexEntry, encode: tomlOf, fill: fillEnvironment},
	"continue":       {entry: continueEntry, encode: yamlOf, fill: "write %s, each as NAME=VALUE, into .continue/.env"},
	"copilot":        {entry: copilotEntry, fill: fillEnvironment},
	"cursor":         {entry: cursorEntry, fill: fillEnvironment},
	"gemini":         {entry: geminiEntry, fill: fillEnvironment},
	"goose":          {entry: gooseEntry, encode: yamlOf, fill: "store %s with goose configure, or set it in the environment of goose"},
	"lmstudio":       {entry: lmstudioEntry, fill: fillPlaceholder},
	"opencode":       {entry: opencodeEntry, fill: fillEnvironment},
	"vscode":         {entry: vscodeEntry, fill: fillEnvironment},
	"windsurf":       {entry: windsurfEntry, fill: fillEnvironment},
	"zed":            {entry: zedEntry, fill: fillPlaceholder},
	"openai":         {hosted: true, entry: openaiTool},
	"azure":          {hosted: true, entry: azureTool},
	"anthropic":      {hosted: true, entry: anthropicRequest},
}

func exportNames() []string {
	var names []string
	for name := range exportTargets {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

type exportOptions struct {
	config, target, name, url, command, approval, connection string
	headers, tools, mcpFiles                                 []string
	toolkit                                                  bool
}

// toolkitFlag registers the toolkit in the place of the server.
const toolkitFlag = "toolkit"

func exportCommand(a *app) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export CONFIG --for PROGRAM",
		Short: "Print the entry that registers a file's server in a program",
		Long: `Print the entry that registers the server of a file in another program.

claude (Claude Code), claude-desktop, codex, continue, copilot (Copilot CLI), cursor,
gemini (Gemini CLI), goose, lmstudio, opencode, vscode, windsurf and zed get the
command that starts the server, or its URL with --url. The paths in it are absolute,
and it passes on the environment variables that the file needs: stderr names those
that you have to set.

With --toolkit, the entry starts mcpgraph toolkit, with which an agent builds the tools
of the file, beside or instead of the server.

openai (Responses API), azure (Azure OpenAI and Foundry agents) and anthropic
(Messages API) call the server themselves, at --url. They get the tool object of
a request, with headers, allowed tools and approval mode.`,
		Example: `  mcpgraph export tools.yaml --for claude > .mcp.json
  mcpgraph export tools.yaml --for vscode > .vscode/mcp.json
  mcpgraph export tools.yaml --for codex >> ~/.codex/config.toml
  mcpgraph export tools.yaml --for claude --toolkit
  mcpgraph export tools.yaml --for openai --url https://tools.example.com/mcp`,
		Args:              configArgs("CONFIG"),
		ValidArgsFunction: completeOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.config = args[0]
			return exportServer(a, o, cmd.Flags().Changed)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.target, "for", "", "print the entry of this `PROGRAM`: "+strings.Join(exportNames(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("for", cobra.FixedCompletions(exportNames(), cobra.ShellCompDirectiveNoFileComp))
	flags.StringVar(&o.name, "name", "", "register it under this `NAME` (default: the server's own)")
	flags.BoolVar(&o.toolkit, toolkitFlag, false, "register mcpgraph toolkit, which builds the tools of the file")
	flags.StringVar(&o.url, "url", "", "the `URL` at which the server is reached")
	flags.StringArrayVar(&o.headers, "header", nil, "send this header to the url, `\"NAME: VALUE\"` (repeatable)")
	flags.StringVar(&o.command, "command", "", "the `PROGRAM` that starts the server (default: the absolute path of this one)")
	flags.StringSliceVar(&o.tools, "tools", nil, "allow only these `TOOLS` of the file (default: all)")
	_ = cmd.RegisterFlagCompletionFunc("tools", func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return toolNames(a, args[0], o.mcpFiles), cobra.ShellCompDirectiveNoFileComp
	})
	flags.StringVar(&o.approval, "approval", approveAlways, "when to ask before a call; `MODE` is always, writes (only tools without readOnlyHint) or never")
	_ = cmd.RegisterFlagCompletionFunc("approval", cobra.FixedCompletions(approvals, cobra.ShellCompDirectiveNoFileComp))
	flags.StringVar(&o.connection, "connection", "", "for azure: the `ID` of the project connection with the credentials")
	mcpFlag(a, cmd, &o.mcpFiles)
	return cmd
}

func exportServer(a *app, o exportOptions, given func(flag string) bool) (err error) {
	if err := a.needsFiles("export", o.config); err != nil {
		return err
	}
	target, ok := exportTargets[o.target]
	if !ok {
		if o.target == "" {
			return usagef("missing --for; expected %s", diag.List(exportNames()))
		}
		return usagef("--for is %q; expected %s", o.target, diag.List(exportNames()))
	}
	if err := o.check(target.hosted, given); err != nil {
		return err
	}
	headers, err := parseHeaders(o.headers)
	if err != nil {
		return err
	}
	// The warnings are for the person who exports: the entry is used in other folders.
	engine, err := a.load(context.Background(), o.config, mcpgraph.WithMCPFiles(o.mcpFiles...), mcpgraph.WithUnsetVariables())
	if err != nil {
		return err
	}
	defer closeEngine(engine, &err)
	info := engine.File().Server
	x := &exported{
		name: o.name, description: info.Instructions, command: o.command, url: o.url, headers: headers,
		approval: o.approval, connection: o.connection,
	}
	if o.toolkit {
		x.description = fmt.Sprintf("Builds, tests and saves the tools of %s.", filepath.Base(o.config))
	}
	if x.name == "" {
		x.name = serverLabel(info.Name)
		if o.toolkit {
			x.name += "-toolkit" // the server may stand beside it
		}
	}
	if err := x.choose(published(engine), o.tools); err != nil {
		return err
	}
	if o.url == "" {
		if err := startedBy(a, x, o, engine.File()); err != nil {
			return err
		}
	}
	entry, err := target.entry(x)
	if err != nil {
		return err
	}
	if names := x.unfilled(); len(names) > 0 {
		fmt.Fprintf(a.stderr, "mcpgraph: "+target.fill+"\n", strings.Join(names, ", "))
	}
	encode := target.encode
	if encode == nil {
		encode = func(v value.Value) []byte { return append(v.AppendIndent(nil, "  "), '\n') }
	}
	return failed(writeAll(a.stdout, encode(entry)))
}

// check refuses options that would do nothing for the target.
func (o exportOptions) check(hosted bool, given func(string) bool) error {
	if !slices.Contains(approvals, o.approval) {
		return usagef("--approval is %q; expected %s", o.approval, diag.List(approvals))
	}
	needless := []string{"tools", "approval", "connection"}
	switch {
	case hosted && o.url == "":
		return usagef("--for %s needs --url URL: the provider calls the server over the network", o.target)
	case hosted:
		needless = []string{"command", toolkitFlag}
		if o.target != "azure" {
			needless = append(needless, "connection")
		}
		if o.target == "anthropic" {
			needless = append(needless, "approval")
		}
	case o.url == "":
		needless = append(needless, "header")
	default:
		needless = append(needless, "command", toolkitFlag)
	}
	if o.url != "" {
		u, err := url.Parse(o.url)
		switch {
		case err == nil && u.User != nil, err != nil && strings.Contains(o.url, "@"):
			return usagef("--url has a user or password, which would stand in the entry; leave it out, and pass --header \"NAME: VALUE\" if the server needs a credential")
		case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
			return usagef("--url is %q; expected an address that begins with https://", o.url)
		}
	}
	for _, flag := range needless {
		if given(flag) {
			return usagef("--%s has no effect for this %s entry", flag, o.target)
		}
	}
	return nil
}

// choose picks the tools that are allowed.
func (x *exported) choose(tools []mcpgraph.Tool, wanted []string) error {
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
		if len(wanted) > 0 && !slices.Contains(wanted, t.Name) {
			continue
		}
		x.tools = append(x.tools, t.Name)
		if t.Annotations.Get("readOnlyHint").Bool() {
			x.readOnly = append(x.readOnly, t.Name)
		}
	}
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			return usagef("--tools names the unknown tool %q; expected %s", name, diag.List(names))
		}
	}
	return nil
}

var unusableInLabels = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// serverLabel makes a name that all programs take: letters, digits, _ and -.
func serverLabel(name string) string {
	if s := strings.Trim(unusableInLabels.ReplaceAllString(name, "-"), "-"); s != "" {
		return s
	}
	return "mcpgraph"
}
