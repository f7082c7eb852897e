package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry/exporters"
	"github.com/mcpgraph/mcpgraph/pkg/ui"
)

// pageOptions say where a page listens and what it may do.
type pageOptions struct {
	address  string // empty: there is no page
	insecure bool
	readOnly bool
}

// serveFlags are those of a command that serves something else, too.
func (o *pageOptions) serveFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.address, "ui", "", "serve the page of mcpgraph ui at this `HOST:PORT`, which shows the runs of all callers; its URL goes to stderr")
	f.BoolVar(&o.insecure, "ui-insecure", false, "allow an address for --ui that other machines can reach; the token goes over the network unencrypted")
	f.BoolVar(&o.readOnly, "ui-read-only", false, "do not let the page of --ui run, control or change anything")
}

type uiOptions struct {
	config   string
	page     pageOptions
	open     bool
	mcpFiles []string
	logLevel string
	observe  observeOptions
	memory   memoryOption
	lock     lockOptions
	drivenBy string
	temporal temporalOptions
}

func uiCommand(a *app) *cobra.Command {
	var o uiOptions
	cmd := &cobra.Command{
		Use:   "ui CONFIG",
		Short: "Open a page to see, run, debug and edit the tools of a file",
		Long: `Serve a page that shows the tools of a file as graphs, runs them, debugs them step
by step, and edits the file. The URL is printed once; it contains a random token
that only this process knows.

The page listens on this machine only. Upstream servers start when a run first
needs them; one whose variables ${NAME} are not set is not started, and says which
are missing. The file is reloaded whenever it changes, also by other editors: if it has
errors, the page shows them, and the previous version stays in use.

With --engine temporal, or engine in the file, the page also shows durable runs, starts
them, answers their questions and cancels them. Temporal need not be reachable at once.

It stops at SIGINT (Ctrl-C), SIGTERM or SIGHUP.`,
		Example: `  mcpgraph ui tools.yaml
  mcpgraph ui tools.yaml --open
  mcpgraph ui tools.yaml --addr 127.0.0.1:7000 --read-only
  mcpgraph ui tools.yaml --engine temporal --temporal localhost:7233`,
		Args:              configArgs("CONFIG"),
		ValidArgsFunction: completeOne,
		RunE: func(_ *cobra.Command, args []string) error {
			o.config = args[0]
			return serveUI(a, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.page.address, "addr", "127.0.0.1:0", "listen at this `HOST:PORT`; port 0 is a free one")
	f.BoolVar(&o.page.insecure, "insecure", false, "allow an address that other machines can reach; the token goes over the network unencrypted")
	f.BoolVar(&o.open, "open", false, "open the page in a browser")
	f.BoolVar(&o.page.readOnly, "read-only", false, "do not let the page run, control or change anything")
	f.IntVar(&o.observe.keep, "keep-runs", defaultUIRuns, "keep the last `N` runs in memory")
	mcpFlag(a, cmd, &o.mcpFiles)
	quietLogFlag(cmd, &o.logLevel)
	o.observe.contentFlag(cmd)
	o.memory.flag(cmd)
	o.lock.flags(cmd)
	engineFlag(cmd, &o.drivenBy)
	o.temporal.flags(cmd)
	return cmd
}

const defaultUIRuns = 200

func serveUI(a *app, o uiOptions) (err error) {
	if err := a.needsFiles("ui", o.config); err != nil {
		return err
	}
	log, err := a.logger(o.logLevel)
	if err != nil {
		return err
	}
	budget := o.memory.budget(log)
	again, err := newReloader(a, reloadOptions{path: o.config, lock: o.lock.path, others: o.mcpFiles, watch: true, page: true})
	if err != nil {
		return err
	}
	defer again.close()
	reading := []mcpgraph.Option{mcpgraph.WithMCPFiles(o.mcpFiles...), mcpgraph.WithMemory(budget), mcpgraph.WithUnsetVariables()}
	source, durable, err := readFor(context.Background(), a, &o.temporal, o.drivenBy, o.config, reading...)
	if err != nil {
		return err
	}
	listener, err := listenPage("--addr", "--insecure", o.page, o.observe)
	if err != nil {
		return err
	}
	defer listener.Close()
	store, err := o.observe.store(budget)
	if err != nil {
		return err
	}
	ob, err := newObservation(a, o.observe, log, exporters.Options{})
	if err != nil {
		return err
	}
	defer ob.end()
	options := append(ob.options, mcpgraph.WithRuns(store))
	options = append(options, o.lock.options...)
	again.log, again.load = ob.log, func(ctx context.Context) (*mcpgraph.Engine, error) {
		source, err := a.read(ctx, o.config, reading...)
		if err != nil {
			return nil, err
		}
		return compile(ctx, source, options...)
	}
	engine, err := a.loadRead(context.Background(), o.config, source, showAll, options...)
	var exit *exitError
	switch {
	case err == nil:
		again.of = engine
	case errors.As(err, &exit) && exit.code == exitProblems:
		// The page shows the errors, and the file can be corrected there.
	default:
		return err
	}
	defer func() {
		if engine, ok := again.of.(*mcpgraph.Engine); ok {
			closeEngine(engine, &err)
		}
	}()
	ctx, stop := a.whileServing(stopSignals...)
	defer stop()
	opts := ui.Options{
		Path: o.config, Engine: engine, Reload: func() error { return again.reload(ctx) }, MCPFiles: o.mcpFiles, LockPath: o.lock.path, Memory: budget, Log: ob.log,
	}
	if durable {
		temporal := o.temporal.of(source.File())
		temporal.lazy = true // it need not be reachable yet
		client, err := dialTemporal(context.Background(), a, temporal, ob.log)
		if err != nil {
			return err
		}
		defer client.Close()
		opts.Place = client
	}
	page := newPage(a, o.page, opts)
	defer page.Close()
	var view runs.View = runs.NewMemory(store, budget, ob.log)
	if opts.Place != nil {
		view = opts.Place
	}
	defer serveRuns(a, o.config, source.File(), view, ob.log)()
	again.page = page
	var reloading sync.WaitGroup
	reloading.Go(func() { again.run(ctx) })
	defer func() {
		stop()
		reloading.Wait()
	}()
	address := page.URL(listener.Addr())
	if _, err := fmt.Fprintln(a.stdout, address); err != nil {
		return failed(err)
	}
	if o.open {
		openBrowser(a, address)
	}
	return failed(page.Serve(ctx, listener))
}

// newPage returns a page with what all pages have.
func newPage(a *app, o pageOptions, opts ui.Options) *ui.Page {
	opts.ReadOnly, opts.Inputs, opts.Getenv = o.readOnly, a.inputs, a.getenv
	return ui.New(opts)
}

// listenPage listens for a page. The flags are that of the address, and the one that
// allows any.
func listenPage(flag, allow string, o pageOptions, observe observeOptions) (net.Listener, error) {
	if observe.keep < 1 {
		return nil, usagef("--keep-runs is %d; expected 1 or more, as the page shows runs", observe.keep)
	}
	return listen(address{flag, o.address}, func() error {
		if o.insecure {
			return nil
		}
		return usagef("%s %s: other machines can reach this address: the token goes over the network unencrypted, and who reads it can run the tools of the file and change it; "+
			"use a loopback address such as 127.0.0.1:0, or allow it with %s", flag, o.address, allow)
	})
}

// listenBeside is listenPage for a command that need not have a page; it returns nil
// without one.
func listenBeside(a *app, o pageOptions, observe observeOptions) (net.Listener, error) {
	if o.address != "" {
		return listenPage("--ui", "--ui-insecure", o, observe)
	}
	if o.insecure || o.readOnly {
		return nil, usagef("--ui-insecure and --ui-read-only need --ui HOST:PORT")
	}
	return nil, nil
}
