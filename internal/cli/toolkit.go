package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/toolkit"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

type toolkitOptions struct {
	graph    string
	mcpFiles []string
	tools    string
	logLevel string
	memory   memoryOption
	http     httpOptions
}

// Values of toolkit --tools.
const (
	allToolkitTools  = "all"
	coreToolkitTools = "core"
)

// toolkitProgram is the name under which the program is the toolkit, as the
// TypeScript mcpGraph has it.
const toolkitProgram = "mcpgraphtoolkit"

// Program returns the command line of the program that was started as name.
func Program(name string, args []string) []string {
	name = strings.TrimSuffix(filepath.Base(name), ".exe")
	if name == toolkitProgram {
		return append([]string{"toolkit"}, args...)
	}
	return args
}

func toolkitCommand(a *app) *cobra.Command {
	var o toolkitOptions
	cmd := &cobra.Command{
		Use:   "toolkit -g FILE",
		Short: "Serve tools with which agents build the tools of a file",
		Long: `Serve an MCP server with which an agent builds graph tools: it finds tools of upstream
servers, tries calls and expressions, and runs, checks, tests and saves the tools of
FILE. Edits change nothing else in the file, and nothing invalid is saved.

It serves one client on stdio, or with --http any number of clients. It ends with
stdin. The skill (see mcpgraph skill --help) explains to an agent how to use it.

Each call reads the file as it is then. Over HTTP, and at SIGHUP, a changed file or
tokens file (tokensFile, --auth-tokens) is read without a call, so that removed tokens
are refused at once.

Under the name mcpgraphtoolkit, the program is this command.`,
		Example: `  mcpgraph toolkit -g tools.yaml
  mcpgraph toolkit -g tools.yaml -m mcp.json
  mcpgraph toolkit -g tools.yaml --tools core
  mcpgraph toolkit -g tools.yaml --http 127.0.0.1:8090`,
		Args: func(_ *cobra.Command, args []string) error {
			if o.graph == "" && len(args) == 1 {
				o.graph = args[0]
				return nil
			}
			return configArgs()(nil, args)
		},
		ValidArgsFunction: completeOne,
		RunE:              func(*cobra.Command, []string) error { return serveToolkit(a, o) },
	}
	cmd.Flags().StringVarP(&o.graph, "graph", "g", "", "edit this `FILE`")
	cmd.Flags().StringVar(&o.tools, "tools", allToolkitTools, "serve these `TOOLS`: all, or core (those of the TypeScript toolkit)")
	_ = cmd.RegisterFlagCompletionFunc("tools", cobra.FixedCompletions([]string{allToolkitTools, coreToolkitTools}, cobra.ShellCompDirectiveNoFileComp))
	mcpFlag(a, cmd, &o.mcpFiles)
	logFlagFrom(cmd, &o.logLevel, "warn")
	o.memory.flag(cmd)
	o.http.flags(cmd)
	for _, name := range []string{"metrics", "status", "error-details"} { // of serve alone
		_ = cmd.Flags().MarkHidden(name)
	}
	return cmd
}

func serveToolkit(a *app, o toolkitOptions) (err error) {
	if err := a.needsFiles("toolkit", o.graph); err != nil {
		return err
	}
	switch {
	case o.graph == "":
		return usagef("missing -g FILE")
	case o.tools != allToolkitTools && o.tools != coreToolkitTools:
		return usagef("--tools is %q; expected all or core", o.tools)
	case o.http.metrics || o.http.status || o.http.details:
		return usagef("the toolkit has no --metrics, no --status and no --error-details")
	}
	log, err := a.logger(o.logLevel)
	if err != nil {
		return err
	}
	if err := o.http.check(); err != nil {
		return err
	}
	if _, err := os.Stat(o.graph); errors.Is(err, os.ErrNotExist) {
		return failedf("%s does not exist; `mcpgraph init %s` writes a first file", o.graph, o.graph)
	}
	again, err := newReloader(a, reloadOptions{path: o.graph, others: o.http.readAgain(o.mcpFiles), watch: o.http.address != ""})
	if err != nil {
		return err
	}
	defer again.close()
	t, err := toolkit.New(toolkit.Options{
		Path: o.graph, MCPFiles: o.mcpFiles, Getenv: a.getenv, Inputs: a.inputs, Log: log, Core: o.tools == coreToolkitTools,
		HTTP:   o.http.address != "",
		Memory: o.memory.budget(log),
	})
	var broken *toolkit.LoadError
	if errors.As(err, &broken) {
		return a.refused(o.graph, (*mcpgraph.LoadError)(broken))
	}
	if err != nil {
		return failed(err)
	}
	defer func() {
		if closeErr := t.Close(); err == nil {
			err = failed(closeErr)
		}
	}()
	endpoint, err := openEndpoint(a, o.http, t, log)
	if err != nil {
		return err
	}
	defer endpoint.close()
	again.of, again.log, again.tokens = toolkitFile{t}, t.Log(), endpoint.tokens()
	ctx, stop := a.whileServing(os.Interrupt, syscall.SIGTERM)
	var reloading sync.WaitGroup
	reloading.Go(func() { again.run(ctx) })
	defer reloading.Wait()
	defer stop()
	if endpoint != nil {
		log.Info("serving the toolkit over HTTP", "url", endpoint.url)
		err = t.ServeHTTP(ctx, endpoint.listener, endpoint.options)
	} else {
		err = t.ServeStdio(ctx, a.stdin, mcpOnly(a))
	}
	return failed(err)
}

// toolkitFile lets a reloader read the file of a toolkit.
type toolkitFile struct{ *toolkit.Toolkit }

// Diagnostics returns none: agents ask for them.
func (t toolkitFile) Diagnostics() ([]diag.Diagnostic, diag.Sources) { return nil, nil }

func (t toolkitFile) ReloadContext(ctx context.Context) (*mcpgraph.Changes, error) {
	changes, err := t.Reload(ctx)
	var broken *toolkit.LoadError
	if errors.As(err, &broken) {
		err = (*mcpgraph.LoadError)(broken)
	}
	return (*mcpgraph.Changes)(changes), err
}
