package toolkit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/internal/serving"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func runTools() []*tool {
	return []*tool{
		{core: true, handle: runGraphTool, Tool: define("runGraphTool", "Runs a saved tool, or a definition that is not saved. A failed run answers with its error and history.", callsOut,
			`"toolName":{"type":"string"},"toolDefinition":{"type":["object","string"],"description":"as tool of addGraphTool"},"arguments":{"type":"object"},"logging":{"type":"boolean"},"mocks":{"type":"array","items":{"type":"object"},"description":"answer upstream calls: {server, tool, arguments?, reply: {structured | text | error}}"},"from":{"type":"object","properties":{"runId":{"type":"string"},"step":{"type":"integer","minimum":0},"set":{"type":"object","description":"other outputs, by node"}},"required":["runId","step"],"additionalProperties":false,"description":"keep the first step executions of a run and go on from there"},"calls":{"enum":["all","none"],"default":"all","description":"none: a call fails with what it would have sent"},"detail":{"enum":["summary","nodes","full"],"default":"full"},"timeoutMs":{"type":"integer","minimum":1,"maximum":600000},"maxBytes":{"type":"integer","minimum":100,"default":20000}`, `"arguments"`,
			`{"type":"object","properties":{"runId":{"type":"string"},"result":{},"error":{"type":"object"},"executionHistory":{"type":"array","items":{"type":"object"}},"logging":{"type":"array","items":{"type":"object"}},"truncated":{"type":"boolean"},"diagnostics":{"type":"array"}}}`)},
	}
}

func runGraphTool(ctx context.Context, c *call) (value.Value, error) {
	name := c.text("toolName")
	inline := !c.args.Get("toolDefinition").IsUndefined()
	if (name == "") != inline {
		return value.Undef, errors.New("give toolName, the name of a saved tool, or toolDefinition")
	}
	var program *engine.Program
	var release func()
	var err error
	if inline {
		definition, err := c.definition("toolDefinition")
		if err != nil {
			return value.Undef, err
		}
		name = definition.Get("name").Str()
		s, err := c.file.now(ctx)
		if err != nil {
			return value.Undef, err
		}
		text, err := c.drafted(ctx, s, definition)
		if err != nil {
			return value.Undef, err
		}
		program, release, err = c.file.compiled(ctx, text)
		var broken *engine.LoadError
		if errors.As(err, &broken) {
			return value.ObjectOf("error", value.ObjectOf("name", "invalid", "message", "the definition has errors"), "executionHistory", []value.Value{},
				"diagnostics", diagnose(c.Toolkit, text, true).list(broken.Diagnostics, "")), nil
		}
		if err != nil {
			return value.Undef, err
		}
	} else if program, release, err = c.file.use(ctx); err != nil {
		return value.Undef, err
	}
	defer release()
	if !program.Has(name) {
		_, err := program.Graph(name)
		return value.Undef, err
	}
	stage, err := newStage(c, name)
	if err != nil {
		return value.Undef, err
	}
	if stage != nil {
		fork := program.Fork(engine.Options{
			Getenv: c.opts.Getenv, Log: c.engine.Log(), Runs: c.runs, Memory: c.opts.Memory,
			Intercept: func(ctx context.Context, x exchange, next next) (value.Value, error) {
				return c.tapes.intercept(ctx, x, func(ctx context.Context) (value.Value, error) { return stage.answer(ctx, x) })
			},
		})
		defer fork.Close()
		program = fork.Current()
	}
	return c.run(ctx, program, name)
}

// run runs a tool of a program and answers with what came of it.
func (c *call) run(ctx context.Context, program *engine.Program, name string) (value.Value, error) {
	limit := maxRunTime
	if ms := c.args.Get("timeoutMs"); ms.Kind() == value.Number {
		limit = time.Duration(whole(ms)) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	info := c.carry()
	var logs *logs
	if c.args.Get("logging").Bool() {
		logs = newLogs(c.engine.Log().Handler())
		info.Log = slog.New(logs)
	}
	var o engine.CallOptions
	if !c.request.Stateless() && c.request.CanAsk() {
		o.Ask = serving.Ask(c.request)
	}
	result, err := c.start(ctx, program, info, name, o)
	var usage *fromError
	if errors.As(err, &usage) {
		return value.Undef, err
	}
	out := value.ObjectOf("runId", optional(info.RunID))
	if err != nil {
		out = with(out, "error", cutMembers(program.Failure(info, err), maxBytes(c)))
	} else {
		v, isCut := cut(result.Value, maxBytes(c))
		out = with(out, "result", v)
		if isCut {
			out = with(out, "truncated", true)
		}
	}
	detail := c.text("detail")
	if result != nil && detail != "summary" {
		list, isCut := c.executions(result.Run, detail != "nodes")
		out = with(out, "executionHistory", list)
		if isCut {
			out = with(out, "truncated", true)
		}
	} else if detail != "summary" {
		out = with(out, "executionHistory", []value.Value{})
	}
	if logs != nil {
		out = with(out, "logging", c.logging(logs))
	}
	return out, nil
}

// fromError says why a run cannot go on from another one.
type fromError struct{ error }

// start runs a tool: from its beginning, or from a step of a kept run.
func (c *call) start(ctx context.Context, program *engine.Program, info *callinfo.Info, name string, o engine.CallOptions) (*engine.Result, error) {
	from := c.args.Get("from")
	if from.IsUndefined() {
		return program.Call(ctx, info, name, c.args.Get("arguments"), o)
	}
	kept, ok := c.runs.Get(ownerOf(c), from.Get("runId").Str())
	switch {
	case !ok:
		return nil, &fromError{fmt.Errorf("there is no run %q; the last %d are kept", from.Get("runId").Str(), keptRuns)}
	case kept.Tool != name:
		return nil, &fromError{fmt.Errorf("run %q is of tool %q, not of %q", kept.ID, kept.Tool, name)}
	}
	before, err := kept.Replay()
	if err != nil {
		return nil, &fromError{err}
	}
	at, err := recordOf(before, whole(from.Get("step")))
	if err != nil {
		return nil, &fromError{err}
	}
	set := map[string]value.Value{}
	for _, e := range from.Get("set").Entries() {
		set[e.Key] = e.Value
	}
	session, err := program.Debug(ctx, info, name, nil, debug.Options{From: &debug.From{Run: before, Before: at, Set: set}}, o)
	if err != nil {
		return nil, &fromError{err}
	}
	v, err := session.Wait(ctx)
	return &engine.Result{Value: v, Run: session.Run()}, err
}

// recordOf returns the index of the first record that is left out if the first n
// executions of a run are kept.
func recordOf(r *executor.Run, n int) (int, error) {
	all := r.History()
	if n > len(all) {
		return 0, fmt.Errorf("step is %d, but the run has %d executions", n, len(all))
	}
	if n == 0 {
		return 0, nil
	}
	return all[n-1].Index + 1, nil
}

// Bounds of the history in an answer; getRun has all executions.
const (
	maxExecutions = 500
	manyShares    = 100 // outputs get no less than this part of maxBytes each
)

// executions returns the history of a run: all of it or, if that takes more than twice
// maxBytes, as many of the first and of the last executions as fit.
func (c *call) executions(r *executor.Run, outputs bool) (list value.Value, isCut bool) {
	all := r.History()
	share := max(maxBytes(c)/max(1, min(len(all), manyShares)), 200)
	var first, last []value.Value
	left := 2 * maxBytes(c)
	for n := range all {
		i := n / 2
		if n%2 == 1 {
			i = len(all) - 1 - n/2
		}
		one, short := execution(all[i], i, outputs, share)
		if left -= len(one.JSON()); left < 0 && n > 1 || n == maxExecutions {
			isCut = true
			break
		}
		isCut = isCut || short
		if n%2 == 0 {
			first = append(first, one)
		} else {
			last = append(last, one)
		}
	}
	slices.Reverse(last)
	return value.FromArray(append(first, last...)), isCut
}

// execution returns one element of the history; short is true if its output was cut.
func execution(rec executor.Record, i int, outputs bool, share int) (one value.Value, short bool) {
	one = value.ObjectOf("executionIndex", i, "nodeId", rec.Node, "nodeType", rec.Kind,
		"startTime", float64(rec.Start.UnixMicro())/1000, "endTime", float64(rec.End.UnixMicro())/1000, "duration", milliseconds(rec.End.Sub(rec.Start)))
	if rec.Path != "" {
		one = with(one, "path", rec.NodePath())
	}
	if rec.Next != "" {
		one = with(one, "next", rec.Next)
	}
	if outputs {
		var v value.Value
		v, short = cut(rec.Output, share)
		one = with(one, "output", v)
	}
	if rec.Err != nil {
		one = with(one, "error", cutMembers(executor.FailureOf(rec.Err).Value(), share))
	}
	return one, short
}

// Bounds of the log records of a run.
const (
	maxLogs = 500
	maxLog  = 2000 // bytes of a member of one
)

// logs is a slog.Handler that keeps the records of one run, and hands them on.
type logs struct {
	slog.Handler
	kept  *keptLogs
	attrs []slog.Attr
}

type keptLogs struct {
	mu      sync.Mutex
	records []value.Value
	dropped int
}

func newLogs(h slog.Handler) *logs { return &logs{Handler: h, kept: &keptLogs{}} }

// Enabled reports true: the client gets all records.
func (l *logs) Enabled(context.Context, slog.Level) bool { return true }

// Handle keeps a record.
func (l *logs) Handle(ctx context.Context, r slog.Record) error {
	b := value.ObjectOf("level", r.Level.String(), "message", r.Message, "time", r.Time.UTC().Format(time.RFC3339Nano))
	add := func(a slog.Attr) bool {
		b = with(b, a.Key, fmt.Sprint(a.Value.Resolve()))
		return true
	}
	for _, a := range l.attrs {
		add(a)
	}
	r.Attrs(add)
	b = cutMembers(b, maxLog)
	l.kept.mu.Lock()
	if len(l.kept.records) < maxLogs {
		l.kept.records = append(l.kept.records, b)
	} else {
		l.kept.dropped++
	}
	l.kept.mu.Unlock()
	if l.Handler.Enabled(ctx, r.Level) {
		return l.Handler.Handle(ctx, r)
	}
	return nil
}

// WithAttrs returns a handler of the same records.
func (l *logs) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logs{l.Handler.WithAttrs(attrs), l.kept, append(l.attrs[:len(l.attrs):len(l.attrs)], attrs...)}
}

// WithGroup returns a handler of the same records.
func (l *logs) WithGroup(name string) slog.Handler {
	return &logs{l.Handler.WithGroup(name), l.kept, l.attrs}
}

// logging returns the records of a run, as many as maxBytes has room for.
func (c *call) logging(l *logs) value.Value {
	l.kept.mu.Lock()
	defer l.kept.mu.Unlock()
	all, left := []value.Value{}, maxBytes(c)
	for _, record := range l.kept.records {
		if left -= record.TextSize(); left < 0 && len(all) > 0 {
			break
		}
		all = append(all, record)
	}
	if dropped := l.kept.dropped + len(l.kept.records) - len(all); dropped > 0 {
		all = append(all, value.ObjectOf("level", "WARN", "message", fmt.Sprintf("%d more records were dropped", dropped)))
	}
	return value.FromArray(all)
}
