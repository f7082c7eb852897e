package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry/exporters"
	"github.com/mcpgraph/mcpgraph/pkg/ui"
)

type serveOptions struct {
	programOptions
	http     httpOptions
	calls    callOptions
	watch    bool
	page     pageOptions
	drivenBy string
}

func serveCommand(a *app) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve CONFIG",
		Short: "Serve the tools of a file to MCP clients, on stdio or over HTTP",
		Long: `Serve the tools of a file to an MCP client on stdin and stdout, or with --http to
any number of clients over streamable HTTP.

stdout carries MCP messages only; warnings and logs go to stderr. Upstream
servers start when they are first needed, and end with this server. It stops at
the end of stdin, and at SIGINT or SIGTERM.

SIGHUP reloads the file. --watch reloads it whenever the file, its lock file, a file
of --mcp or a tokens file (tokensFile, --auth-tokens) changes. Running calls finish with the
version they started with, and clients are told if their tools changed. A file
with errors is reported, and the previous version stays in use.

--engine temporal lets workers run the tools (mcpgraph worker). Runs survive this
process; a client that cancels its call, or disconnects, cancels the run.`,
		Example: `  mcpgraph serve tools.yaml
  mcpgraph serve tools.yaml --http 127.0.0.1:8080 --watch
  mcpgraph serve tools.yaml --mcp ~/.cursor/mcp.json --log-level debug`,
		Args:              configArgs("CONFIG"),
		ValidArgsFunction: completeOne,
		RunE: func(_ *cobra.Command, args []string) error {
			o.config = args[0]
			return serveFile(a, o)
		},
	}
	o.flags(a, cmd)
	o.observe.runFlags(cmd)
	o.observe.auditFlag(cmd)
	o.http.flags(cmd)
	o.calls.flags(cmd)
	o.lock.annotations(cmd)
	o.page.serveFlags(cmd)
	engineFlag(cmd, &o.drivenBy)
	cmd.Flags().BoolVar(&o.watch, "watch", false, "reload when the file, its lock file, a file of --mcp or a tokens file changes")
	return cmd
}

func serveFile(a *app, o serveOptions) (err error) {
	if err := a.needsFiles("serve", o.config); err != nil {
		return err
	}
	log, err := a.logger(o.logLevel)
	if err != nil {
		return err
	}
	budget := o.memory.budget(log)
	store, err := o.observe.store(budget)
	if err != nil {
		return err
	}
	if err := o.http.check(); err != nil {
		return err
	}
	again, err := newReloader(a, reloadOptions{path: o.config, lock: o.lock.path, others: o.http.readAgain(o.mcpFiles), watch: o.watch, page: o.page.address != ""})
	if err != nil {
		return err
	}
	defer again.close()
	source, durable, err := readFor(context.Background(), a, &o.temporal, o.drivenBy, o.config, mcpgraph.WithMCPFiles(o.mcpFiles...), mcpgraph.WithMemory(budget))
	if err != nil {
		return err
	}
	listener, err := listenBeside(a, o.page, o.observe)
	if err != nil {
		return err
	}
	if listener != nil {
		defer listener.Close()
	}
	ob, err := newObservation(a, o.observe, log, exporters.Options{Prometheus: o.http.metrics})
	if err != nil {
		return err
	}
	defer ob.end()
	options := append(ob.options, mcpgraph.WithRuns(store))
	options = append(options, o.calls...)
	options = append(options, o.lock.options...)
	records, err := openAudit(a, o.observe, ob.log)
	if err != nil {
		return err
	}
	if records != nil {
		defer records.Close()
		options = append(options, mcpgraph.WithAudit(records))
	}
	if o.http.details {
		options = append(options, mcpgraph.WithErrorDetails())
	}
	if o.observe.expose {
		options = append(options, mcpgraph.WithExposedRuns())
	}
	var ending atomic.Bool
	var place runs.Place
	if durable {
		temporal := o.temporal.of(source.File())
		temporal.leave = ending.Load
		client, err := dialTemporal(context.Background(), a, temporal, ob.log)
		if err != nil {
			return err
		}
		defer client.Close()
		options = append(options, mcpgraph.WithPlace(client, listener != nil || o.observe.expose))
		place = client
	}
	engine, err := a.loadRead(context.Background(), o.config, source, showAll, options...)
	if err != nil {
		return err
	}
	defer closeEngine(engine, &err)
	endpoint, err := openEndpoint(a, o.http, engine, ob.log)
	if err != nil {
		return err
	}
	defer endpoint.close()
	again.of, again.log, again.audit, again.tokens = engine, ob.log, records, endpoint.tokens()
	defer serveRuns(a, o.config, engine.File(), engine.Place(), ob.log)()
	ctx, stop := a.whileServing(os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { ending.Store(true) })
	var beside sync.WaitGroup
	if listener != nil {
		page := newPage(a, o.page, ui.Options{
			Path: o.config, Engine: engine, Reload: func() error { return again.reload(ctx) }, Serve: true,
			MCPFiles: o.mcpFiles, LockPath: o.lock.path, Memory: budget, Log: ob.log, Place: place,
		})
		again.page = page
		fmt.Fprintf(a.stderr, "mcpgraph: the page of %s is at %s\n", o.config, page.URL(listener.Addr()))
		beside.Go(func() {
			if err := page.Serve(ctx, listener); err != nil {
				ob.log.Error("the page has ended", "error", err)
			}
			page.Close()
		})
	}
	beside.Go(func() { again.run(ctx) })
	defer beside.Wait()
	defer stop()
	if endpoint != nil {
		if o.http.metrics {
			endpoint.options.Metrics = ob.exporters.Page
		}
		if o.http.status {
			endpoint.options.Status = engine.StatusPage()
		}
		ob.log.Info("serving MCP over HTTP", "url", endpoint.url)
		err = engine.ServeHTTP(ctx, endpoint.listener, endpoint.options)
	} else {
		greet(a, o.config, engine)
		err = engine.ServeStdio(ctx, a.stdin, mcpOnly(a))
	}
	return failed(err)
}

// closeEngine ends the servers behind an engine; that they did not end is the
// command's error where it has no other.
func closeEngine(engine *mcpgraph.Engine, err *error) {
	if closeErr := engine.Close(); *err == nil {
		*err = failed(closeErr)
	}
}

// greet explains to a user who started a server on a terminal what it waits
// for.
func greet(a *app, config string, engine *mcpgraph.Engine) {
	f, ok := a.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return
	}
	fmt.Fprintf(a.stderr, "mcpgraph: serving %s of %s; waiting for MCP messages on stdin (Ctrl-C ends it). "+
		"MCP clients start this command themselves: see mcpgraph export --help.\n", textline.Count(len(published(engine)), "tool"), config)
}

// mcpOnly returns the stream for MCP messages, and sees to it that whatever
// else the process prints to its standard output lands on stderr.
func mcpOnly(a *app) io.Writer {
	if a.stdout == io.Writer(os.Stdout) {
		os.Stdout = os.Stderr
	}
	return a.stdout
}
