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
	"github.com/mcpgraph/mcpgraph/pkg/durable"
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
	observed *observation
	engine   *mcpgraph.Engine // nil until the file has been loaded
	recorder *cassette.Recorder
	client   *durable.Client // of Temporal; nil for local runs
}

func (a *app) newToolRunner(o runOptions) (*toolRunner, error) {
	log, err := a.logger(o.logLevel)
	if err != nil {
		return nil, err
	}
	if o.record != "" {
		if err := checkRecord(o.record); err != nil {
			return nil, err
		}
	}
	ob, err := a.observe(o.observe, log, exporters.Options{})
	if err != nil {
		return nil, err
	}
	return &toolRunner{app: a, runOptions: o, log: log, observed: ob}, nil
}

// end ends what the runner has opened.
func (r *toolRunner) end(err *error) {
	if r.engine != nil {
		closeEngine(r.engine, err)
	}
	if r.client != nil {
		r.client.Close()
	}
	r.observed.end()
}

// load loads the file, or reads it again.
func (r *toolRunner) load(ctx context.Context) error {
	if r.engine != nil {
		return r.reload(ctx)
	}
	opts := append(slices.Concat(r.observed.options, r.runOptions.lock.options), mcpgraph.WithMCPFiles(r.mcpFiles...), mcpgraph.WithMemory(r.memory.budget(r.log)))
	if r.record != "" {
		r.recorder = &cassette.Recorder{}
		opts = append(opts, mcpgraph.WithIntercept(r.recorder.Intercept))
	}
	if r.client != nil {
		opts = append(opts, mcpgraph.WithPlace(r.client, false))
	}
	engine, err := r.loadOnce(ctx, r.config, opts...)
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
	given, err := r.readArguments(ctx, r.argsJSON, r.args)
	if err != nil {
		return p, err
	}
	if p.document, err = r.readContext(ctx, r.context); err != nil {
		return p, err
	}
	if p.questions, err = r.readAnswers(r.answers); err != nil {
		return p, err
	}
	if r.client == nil && r.durable {
		if r.client, err = r.dial(ctx, r.temporal.of(r.file), r.log); err != nil {
			return p, err
		}
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
		hooks, err := r.tracer(r.trace, r.engine, info, g)
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
		v, err := r.runNode(ctx, document, opts)
		running.end()
		return v, r.explained(ctx, err)
	}
	result, err := r.engine.Call(ctx, r.tool, args, opts...)
	running.end()
	err = r.explained(ctx, err)
	if r.recorder != nil && ctx.Err() == nil && result != nil {
		if wrong := r.keepRecording(ctx, info, args); wrong != nil {
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
	s, err := r.client.Start(ctx, &runs.Call{Run: executor.NewRun(p.graph, p.args, rand.Uint64()), Program: r.engine, Info: p.info})
	if err != nil {
		return value.Undef, failed(err)
	}
	return value.FromString(s.ID), nil
}

// explained is [app.explain]; nil if there is no error.
func (r *toolRunner) explained(ctx context.Context, err error) error {
	var usage *exitError
	if err == nil || errors.As(err, &usage) {
		return err
	}
	return r.explain(ctx, r.engine, err)
}
