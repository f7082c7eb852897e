package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/textline"
)

type toolsOptions struct {
	config, server, tool string
	search               []string
	json                 bool
	mcpFiles             []string
	caller               caller
	logLevel             string
}

func toolsCommand(a *app) *cobra.Command {
	var o toolsOptions
	cmd := &cobra.Command{
		Use:   "tools CONFIG [SERVER [TOOL]]",
		Short: "Show the tools of upstream servers",
		Long: `Connect to the upstream servers of a file and show their tools: with CONFIG a
line for each, with SERVER also their arguments, with TOOL everything that the
server says of it.

CONFIG can also be the file of a desktop client, with the key mcpServers. The tools
of CONFIG itself are not read, so errors in its graphs do not matter.

The exit code is 1 if a server cannot be reached; the others are shown.`,
		Example: `  mcpgraph tools tools.yaml
  mcpgraph tools tools.yaml files list_directory
  mcpgraph tools .cursor/mcp.json --search "issue comment"
  mcpgraph tools tools.yaml files --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			return configArgs([]string{"CONFIG", "SERVER", "TOOL"}[:max(1, min(len(args), 3))]...)(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			o.config = args[0]
			if len(args) > 1 {
				o.server = args[1]
			}
			if len(args) > 2 {
				o.tool = args[2]
			}
			return listServers(a, o)
		},
		ValidArgsFunction: completeServer(a, &o.mcpFiles),
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&o.search, "search", nil, "show only tools with all these `WORDS` in their name, description or arguments")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	o.caller.flags(cmd)
	mcpFlag(a, cmd, &o.mcpFiles)
	quietLogFlag(cmd, &o.logLevel)
	return cmd
}

// loadServers loads the servers of a file, which may be that of a desktop client. Servers
// whose variables are not set fail alone.
func loadServers(ctx context.Context, a *app, config string, mcpFiles []string, logLevel string) (*mcpgraph.Engine, error) {
	log, err := a.logger(logLevel)
	if err != nil {
		return nil, err
	}
	return a.loadOnce(ctx, config, mcpgraph.WithServersOnly(), mcpgraph.WithUnsetVariables(), mcpgraph.WithMCPFiles(mcpFiles...), mcpgraph.WithLogger(log))
}

func listServers(a *app, o toolsOptions) (err error) {
	ctx, stop := a.untilSignal()
	defer stop()
	info, err := o.caller.info()
	if err != nil {
		return err
	}
	engine, err := loadServers(ctx, a, o.config, o.mcpFiles, o.logLevel)
	if err != nil {
		return err
	}
	defer closeEngine(engine, &err)
	number := len(engine.File().Upstreams)
	if number == 0 {
		return failedf("%s has no servers; add one under mcpServers, or pass --mcp FILE", shownName(o.config))
	}
	if o.server != "" {
		number = 1
	}
	connecting := a.begin("connecting to " + textline.Count(number, "server"))
	servers, err := askServers(ctx, engine, info, o.server)
	connecting.end()
	if err != nil {
		return err
	}
	if o.tool != "" && servers[0].Err == nil {
		one, err := servers[0].tool(o.tool)
		if err != nil {
			return err
		}
		servers[0].tools = []upstreamTool{one}
	}
	if words := strings.Fields(strings.Join(o.search, " ")); len(words) > 0 {
		for i := range servers {
			servers[i].tools = slices.DeleteFunc(servers[i].tools, func(t upstreamTool) bool { return !t.matches(words) })
		}
	}
	for _, s := range servers {
		for i, t := range s.tools {
			s.tools[i].name = engine.Redact(info, t.name)
		}
	}
	if o.json {
		_, err = fmt.Fprintf(a.stdout, "%s\n", toolsDocument(servers).AppendIndent(nil, "  "))
	} else {
		err = writeUpstreamTools(a, o, servers)
	}
	if err != nil {
		return failed(err)
	}
	if slices.ContainsFunc(servers, func(s upstreamServer) bool { return s.Err != nil }) {
		return &exitError{code: exitProblems}
	}
	return nil
}

func writeUpstreamTools(a *app, o toolsOptions, servers []upstreamServer) error {
	width := a.width(a.stdout)
	var b strings.Builder
	var failures []error
	for _, s := range servers {
		switch {
		case s.Err != nil:
			failures = append(failures, s.Err)
			continue
		case o.tool != "":
			s.tools[0].writePage(&b, o.config, o.server, width)
			continue
		case o.server == "":
			s.writeList(&b, width)
		default:
			s.writeHeading(&b, width)
			for _, t := range s.tools {
				b.WriteByte('\n')
				t.writeSummary(&b, width)
			}
		}
		b.WriteByte('\n')
	}
	if o.tool == "" && b.Len() > 0 {
		fmt.Fprintf(&b, "Show one with: mcpgraph tools %s %s TOOL\n", shellWord(o.config), orPlaceholder(o.server, "SERVER"))
	}
	if err := writeAll(a.stdout, []byte(b.String())); err != nil {
		return err
	}
	colored, _ := a.color("auto", a.stderr)
	for _, err := range failures {
		if _, err := fmt.Fprintln(a.stderr, red("mcpgraph: "+err.Error(), colored)); err != nil {
			return err
		}
	}
	return nil
}

func orPlaceholder(text, placeholder string) string {
	if text == "" {
		return placeholder
	}
	return shellWord(text)
}
