package cli

import (
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
	url               string
	headers           http.Header
	tools             []string
	readOnly          []string // of the tools, those with readOnlyHint
	approval          string
	connection        string
}

// exportTargets holds the form of each program's entry. Those that are not
// hosted start the server themselves or connect to a url; to the others the
// server is an address that their provider calls.
var exportTargets = map[string]struct {
	hosted bool
	entry  func(*exported) (value.Value, error)
}{
	"claude":    {false, claudeEntry},
	"cursor":    {false, cursorEntry},
	"vscode":    {false, vscodeEntry},
	"windsurf":  {false, windsurfEntry},
	"gemini":    {false, geminiEntry},
	"zed":       {false, zedEntry},
	"openai":    {true, openaiTool},
	"azure":     {true, azureTool},
	"anthropic": {true, anthropicRequest},
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
}

func (a *app) exportCommand() *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export CONFIG --for PROGRAM",
		Short: "Print the entry that registers a file's server in a program",
		Long: `Print the JSON entry that registers the server of a file in another program.

claude (Claude Desktop and Claude Code), cursor, gemini (Gemini CLI), vscode,
windsurf and zed get the command that starts the server, or its URL with --url.

openai (Responses API), azure (Azure OpenAI and Foundry agents) and anthropic
(Messages API) call the server themselves, at --url. They get the tool object of
a request, with headers, allowed tools and approval mode.`,
		Example: `  mcpgraph export tools.yaml --for claude
  mcpgraph export tools.yaml --for vscode > .vscode/mcp.json
  mcpgraph export tools.yaml --for openai --url https://tools.example.com/mcp`,
		Args:              configArgs("CONFIG"),
		ValidArgsFunction: completeOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.config = args[0]
			return a.export(o, cmd.Flags().Changed)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.target, "for", "", "print the entry of this `PROGRAM`: claude, cursor, gemini, vscode, windsurf, zed, openai, azure or anthropic")
	_ = cmd.RegisterFlagCompletionFunc("for", cobra.FixedCompletions(exportNames(), cobra.ShellCompDirectiveNoFileComp))
	flags.StringVar(&o.name, "name", "", "register it under this `NAME` (default: the server's own)")
	flags.StringVar(&o.url, "url", "", "the `URL` at which the server is reached")
	flags.StringArrayVar(&o.headers, "header", nil, "send this header to the url, `\"NAME: VALUE\"` (repeatable)")
	flags.StringVar(&o.command, "command", "mcpgraph", "the `PROGRAM` that starts the server")
	flags.StringSliceVar(&o.tools, "tools", nil, "allow only these `TOOLS` of the file (default: all)")
	_ = cmd.RegisterFlagCompletionFunc("tools", func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.toolNames(args[0], o.mcpFiles), cobra.ShellCompDirectiveNoFileComp
	})
	flags.StringVar(&o.approval, "approval", approveAlways, "when to ask before a call; `MODE` is always, writes (only tools without readOnlyHint) or never")
	_ = cmd.RegisterFlagCompletionFunc("approval", cobra.FixedCompletions(approvals, cobra.ShellCompDirectiveNoFileComp))
	flags.StringVar(&o.connection, "connection", "", "for azure: the `ID` of the project connection with the credentials")
	a.mcpFlag(cmd, &o.mcpFiles)
	return cmd
}

func (a *app) export(o exportOptions, given func(flag string) bool) (err error) {
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
	engine, err := a.loadOnce(o.config, mcpgraph.WithMCPFiles(o.mcpFiles...))
	if err != nil {
		return err
	}
	defer closeEngine(engine, &err)
	info := engine.File().Server
	x := &exported{
		name: o.name, description: info.Instructions, command: o.command, url: o.url, headers: headers,
		approval: o.approval, connection: o.connection,
	}
	if x.name == "" {
		x.name = serverLabel(info.Name)
	}
	if err := x.choose(published(engine), o.tools); err != nil {
		return err
	}
	// Programs start servers in folders of their own.
	for i, path := range append([]string{o.config}, o.mcpFiles...) {
		if path, err = filepath.Abs(path); err != nil {
			return failed(err)
		}
		if i == 0 {
			x.args = []string{"serve", path}
		} else {
			x.args = append(x.args, "--mcp", path)
		}
	}
	entry, err := target.entry(x)
	if err != nil {
		return err
	}
	return failed(writeAll(a.stdout, append(entry.AppendIndent(nil, "  "), '\n')))
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
		needless = []string{"command"}
		if o.target != "azure" {
			needless = append(needless, "connection")
		}
		if o.target == "anthropic" {
			needless = append(needless, "approval")
		}
	case o.url == "":
		needless = append(needless, "header")
	default:
		needless = append(needless, "command")
	}
	if o.url != "" {
		if u, err := url.Parse(o.url); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
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
