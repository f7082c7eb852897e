package cli

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/audit"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry/exporters"
)

// flushTime is how long a command waits at its end to export the remaining
// telemetry.
const flushTime = 3 * time.Second

// observeOptions are the flags about what can be seen of tools.
type observeOptions struct {
	content bool
	expose  bool
	keep    int
	audit   string
}

// contentFlag is that of every command that runs tools.
func (o *observeOptions) contentFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.content, "trace-content", false,
		"include arguments and outputs in OpenTelemetry spans, up to 8 KiB each and without secrets")
}

// runFlags are those of commands that run tools for clients.
func (o *observeOptions) runFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.expose, "expose-runs", false,
		"let clients read their own runs, including all values, as the resources mcpgraph://runs and mcpgraph://runs/{id}")
	cmd.Flags().IntVar(&o.keep, "keep-runs", runs.DefaultCount, "keep the last `N` runs in memory")
}

// auditFlag is that of commands that serve clients.
func (o *observeOptions) auditFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.audit, "audit", "",
		"append one JSON line per request to this `FILE`, or stderr: caller, tool and decision; no arguments or results")
}

// openAudit opens the audit log; nil without one.
func openAudit(a *app, o observeOptions, log *slog.Logger) (*audit.Log, error) {
	switch o.audit {
	case "":
		return nil, nil
	case "stderr":
		return audit.To(a.stderr), nil
	}
	out, err := audit.Open(o.audit, a.stderr, log)
	if err != nil {
		return nil, failedf("--audit: %w", err)
	}
	return out, nil
}

// store returns the place for runs.
func (o *observeOptions) store(budget *memory.Budget) (*runs.Store, error) {
	limits := runs.Limits{Count: o.keep, Memory: budget}
	switch {
	case o.keep < 0:
		return nil, usagef("--keep-runs is %d; expected 0 or more", o.keep)
	case o.keep == 0 && o.expose:
		return nil, usagef("--expose-runs has nothing to show with --keep-runs 0")
	case o.keep == 0:
		limits.Count = runs.None
	}
	return runs.New(limits), nil
}

// observation is what the environment variables of OpenTelemetry ask for.
type observation struct {
	exporters *exporters.Exporters // nil where they ask for nothing
	log       *slog.Logger         // the one to go on with
	options   []mcpgraph.Option    // for the engine
}

// newObservation starts an observation. The error is for variables that cannot be
// obeyed.
func newObservation(a *app, o observeOptions, log *slog.Logger, to exporters.Options) (*observation, error) {
	to.Version, to.Console, to.Log = mcpgraph.Version(), a.stderr, log
	out, err := exporters.FromEnvironment(context.Background(), to)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	ob := &observation{exporters: out, log: log}
	if out != nil {
		t, err := telemetry.New(telemetry.Options{Tracers: out.Tracers, Meters: out.Meters, Logs: out.Logs, Content: o.content})
		if err != nil {
			ob.end()
			return nil, failed(err)
		}
		ob.log = t.Logger(log)
		ob.options = append(ob.options, mcpgraph.WithTelemetry(t))
	}
	ob.options = append(ob.options, mcpgraph.WithLogger(ob.log))
	return ob, nil
}

// end sends what has not been sent yet.
func (ob *observation) end() {
	if ob.exporters == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	if err := ob.exporters.Shutdown(ctx); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("no response within %v; check the address of the collector", flushTime)
		}
		ob.log.Warn("cannot send telemetry", "error", err)
	}
}
