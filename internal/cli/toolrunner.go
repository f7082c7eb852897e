package cli

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/cassette"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry/exporters"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// toolRunner calls a tool, or runs one of its nodes, once or again and again.
type toolRunner struct {
	*app
	runOptions
	log      *slog.Logger
	observed *observation     // nil until the file was read
	source   *mcpgraph.Source // nil until the file was read, and when it has been loaded
	engine   *mcpgraph.Engine // nil until the file has been loaded
	recorder *cassette.Recorder
	client   DurableRuns // of Temporal; nil for local runs
}

func newToolRunner(a *app, o runOptions) (*toolRunner, error) {
	log, err := a.logger(o.logLevel)
	if err != nil {
		return nil, err
	}
	if o.record != "" {
		if err := checkRecord(o.record); err != nil {
			return nil, err
		}
	}
	return &toolRunner{app: a, runOptions: o, log: log}, nil
}

// end ends what the runner has opened.
func (r *toolRunner) end(err *error) {
	if r.engine != nil {
		closeEngine(r.engine, err)
	}
	if r.client != nil {
		r.client.Close()
	}
	if r.observed != nil {
		r.observed.end()
	}
}

// readFile reads the file for the first time, and connects to what drives its runs.
func (r *toolRunner) readFile(ctx context.Context) (err error) {
	reading := []mcpgraph.Option{mcpgraph.WithMCPFiles(r.mcpFiles...), mcpgraph.WithMemory(r.memory.budget(r.log))}
	var durable bool
	if r.here() {
		r.source, err = r.read(ctx, r.config, reading...)
		err = failed(err)
	} else if r.source, durable, err = readFor(ctx, r.app, &r.temporal, r.drivenBy, r.config, reading...); err == nil && r.detach && !durable {
		err = errDetach
	}
	if err == nil && r.observed == nil {
		r.observed, err = newObservation(r.app, r.runOptions.observe, r.log, exporters.Options{})
	}
	if err == nil && durable && r.client == nil {
		r.client, err = dialTemporal(ctx, r.app, r.temporal.of(r.source.File()), r.log)
	}
	return err
}

// load loads what readFile has read, or reads it again.
func (r *toolRunner) load(ctx context.Context) error {
	if r.engine != nil {
		return r.reload(ctx)
	}
	opts := slices.Concat(r.observed.options, r.runOptions.lock.options)
	if r.record != "" {
		r.recorder = &cassette.Recorder{}
		opts = append(opts, mcpgraph.WithIntercept(r.recorder.Intercept))
	}
	if r.client != nil {
		opts = append(opts, mcpgraph.WithPlace(r.client, false))
	}
	source := r.source
	r.source = nil
	engine, err := r.loadRead(ctx, r.config, source, r.showOnce(r.config), opts...)
	if err == nil {
		r.engine = engine
	}
	return err
}

// prepared is what a call needs: its caller, arguments and answers.
type prepared struct {
	info      *callinfo.Info
	args      value.Value
	document  value.Value // of --context
	questions *answers
	graph     *graph.Graph
}

// prepare reads what the command line gives, and loads the file.
func (r *toolRunner) prepare(ctx context.Context) (p prepared, err error) {
	if p.info, err = r.caller.info(); err != nil {
		return p, err
	}
	if r.engine == nil {
		if err := r.readFile(ctx); err != nil {
			return p, err
		}
	}
	given, err := readArguments(ctx, r.app, r.argsJSON, r.args)
	if err != nil {
		return p, err
	}
	if p.document, err = readContext(ctx, r.app, r.context); err != nil {
		return p, err
	}
	if p.questions, err = readAnswers(r.app, r.answers); err != nil {
		return p, err
	}
	if err := r.load(ctx); err != nil {
		return p, err
	}
	if p.graph, err = r.engine.Graph(r.tool); err != nil {
		return p, &exitError{exitUsage, err}
	}
	if err := p.questions.check(p.graph); err != nil {
		return p, err
	}
	if p.args, err = given.typed(p.graph.Input); err != nil || r.node != "" || p.graph.Input == nil {
		return p, err
	}
	if err := p.graph.Input.ValidateContext(ctx, p.args); err != nil {
		schema, _ := value.ParseLazy(p.graph.Input.Raw())
		return p, usagef("invalid arguments of %s: %s%s", graph.Quoted(r.tool), err, misspelt(schema, p.args))
	}
	return p, nil
}

// run loads the file, runs the tool or the node, and returns what to print.
func (r *toolRunner) run(ctx context.Context) (value.Value, error) {
	p, err := r.prepare(ctx)
	if err != nil {
		return value.Undef, err
	}
	info, args, document, questions, g := p.info, p.args, p.document, p.questions, p.graph
	opts := []mcpgraph.CallOption{mcpgraph.WithCallInfo(info), mcpgraph.WithAsk(questions.ask)}
	if r.detach {
		return r.start(ctx, p)
	}
	var running *activity
	if r.trace != "" {
		hooks, err := newTracer(r.app, r.trace, r.engine, info, g)
		if err != nil {
			return value.Undef, err
		}
		opts = append(opts, mcpgraph.WithCallHooks(hooks))
	} else {
		running = r.begin("calling " + r.tool)
		questions.asking = running.end
		opts = append(opts, mcpgraph.WithCallHooks(running.hooks(r.tool)))
		defer running.end()
	}
	if r.node != "" {
		if document, err = withEntry(document, g, args); err != nil {
			return value.Undef, err
		}
		v, err := runNode(ctx, r, document, opts)
		running.end()
		return v, r.explained(ctx, err)
	}
	result, err := r.engine.Call(ctx, r.tool, args, opts...)
	running.end()
	err = r.explained(ctx, err)
	if r.recorder != nil && ctx.Err() == nil && result != nil {
		if wrong := keepRecording(ctx, r, info, args); wrong != nil {
			return value.Undef, wrong
		}
	}
	if err != nil {
		return value.Undef, err
	}
	return result.Value, nil
}

// start starts a durable run and returns its id.
func (r *toolRunner) start(ctx context.Context, p prepared) (value.Value, error) {
	program, release := r.engine.Program()
	defer release()
	s, err := r.client.Start(ctx, &runs.Call{Run: executor.NewRun(p.graph, p.args, rand.Uint64()), Program: program, Info: p.info})
	if err != nil {
		return value.Undef, failed(err)
	}
	return value.FromString(s.ID), nil
}

// explained is [explain]; nil if there is no error.
func (r *toolRunner) explained(ctx context.Context, err error) error {
	var usage *exitError
	if err == nil || errors.As(err, &usage) {
		return err
	}
	return explain(ctx, r.app, r.engine, err)
}
