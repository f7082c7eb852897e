package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Port is everything of a run that is not a function of the file and the
// arguments. Given the same answers, a run takes the same way.
type Port interface {
	graph.Caller
	// Now gives the time for records, limits and expressions.
	Now() time.Time
	// Random gives a number from 0 up to but not including 1.
	Random() float64
	// Processor gives what shares processor time between runs, nil where
	// nothing does. When a run goes on changes no result. The other methods are
	// called while the run may still have processor time, but for CallTool.
	Processor() expr.Processor
	// NodeDone is told of every record as it enters the history.
	NodeDone(Record)
}

// Hooks observe runs; any field may be nil. Start hooks are called in the order
// of Executor.Hooks, each with the context that the one before gave, and may
// block or refuse. Done hooks are called in the reverse order, once for each of
// the Hooks whose start succeeded or is nil, whatever happened in between.
type Hooks struct {
	RunStart  func(ctx context.Context, r *Run) (context.Context, error)
	RunDone   func(ctx context.Context, r *Run, err error)
	NodeStart func(ctx context.Context, r *Run, n *graph.Node, index int) (context.Context, error)
	NodeDone  func(ctx context.Context, r *Run, rec Record)
}

// Executor drives runs in this process. It is safe for concurrent use; its
// fields must not change while it is used. The zero Executor has no observers.
type Executor struct {
	Hooks []Hooks
	// Log gets what the JSON Logic operator `log` writes, and panics that were
	// survived; nil means nothing does.
	Log *slog.Logger
}

// Run walks r to its end, or until a node fails, a limit is exceeded or ctx is
// done. Failures of nodes and exceeded limits are *NodeError; beneath them
// errors.As finds a *LimitError and errors.Is the cause of ctx.
func (e *Executor) Run(ctx context.Context, r *Run, port Port) (err error) {
	w := &walk{Executor: e, run: r, port: port, started: port.Now()}
	if limit := r.graph.Limits.MaxExecutionTime; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errTime)
		defer cancel()
	}
	w.processor = port.Processor()
	w.env = &expr.Env{History: r, Now: port.Now, Random: port.Random, Processor: w.processor}
	w.caller = port
	if w.processor != nil {
		w.caller = releasingCaller{port, w.processor}
		defer w.processor.Release()
	}
	if e.Log != nil {
		w.env.Log = w.log
	}
	ctx, done, err := w.runStart(ctx)
	defer func() { done(err) }()
	for err == nil && !r.Done() {
		err = w.step(ctx)
	}
	return err
}

// errTime is the cause of a context that the time limit of its run ended.
var errTime = errors.New("the time limit of the run is exceeded")

// walk is one Executor driving one Run.
type walk struct {
	*Executor
	run     *Run
	port    Port
	env     *expr.Env
	started time.Time
	node    *graph.Node     // under way
	ctx     context.Context // of the node under way

	processor expr.Processor // nil where processor time is not shared
	caller    graph.Caller
}

// shortRun is the number of executions that take too little processor time
// to be shared, but for expressions.
const shortRun = 64

// yield lets others compute, in a run that is long.
func (w *walk) yield(ctx context.Context, index int) {
	if w.processor != nil && index >= shortRun {
		w.processor.Yield(ctx)
	}
}

// release gives the processor free before hooks, which may block.
func (w *walk) release() {
	if w.processor != nil && len(w.Hooks) > 0 {
		w.processor.Release()
	}
}

// releasingCaller gives the processor free for the time of a call.
type releasingCaller struct {
	graph.Caller
	processor expr.Processor
}

func (c releasingCaller) CallTool(ctx context.Context, server, tool string, args value.Value) (graph.ToolResult, error) {
	c.processor.Release()
	return c.Caller.CallTool(ctx, server, tool, args)
}

func (w *walk) log(v value.Value) {
	w.Log.InfoContext(w.ctx, "log", "tool", w.run.graph.Name, "node", w.node.ID, "value", v.JSON())
}

// runStart calls the start hooks and gives what calls the done hooks.
func (w *walk) runStart(ctx context.Context) (context.Context, func(error), error) {
	var undo []func(error)
	done := func(err error) {
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i](err)
		}
	}
	for _, h := range w.Hooks {
		if h.RunStart != nil {
			next, err := h.RunStart(ctx, w.run)
			if err != nil {
				return ctx, done, err
			}
			ctx = next
		}
		if h.RunDone != nil {
			at := ctx
			undo = append(undo, func(err error) { h.RunDone(at, w.run, err) })
		}
	}
	return ctx, done, nil
}

// step executes one node.
func (w *walk) step(ctx context.Context) error {
	node, err := w.run.Next()
	if node == nil {
		return err
	}
	w.node = node
	if short := memory.AccountOf(ctx).Err(); short != nil {
		return &InterruptedError{Tool: w.run.graph.Name, Err: short}
	}
	if err == nil {
		err = w.timeLeft(ctx)
	}
	if err != nil {
		return newNodeError(w.run.graph, node, err)
	}
	index := w.run.Len()
	rec := Record{
		Index: index, Node: node.ID, Kind: node.Kind.Name, Server: node.Server, Tool: node.Tool,
		Edge: graph.NoEdge, Start: w.port.Now(),
	}
	ctx, done, err := w.nodeStart(ctx, node, index)
	if err == nil {
		w.ctx = ctx
		w.yield(ctx, index)
		var out graph.Output
		if out, err = w.execute(ctx, node); err == nil {
			err = checkEdge(node, out.Edge)
		}
		rec.Arguments, rec.Attempts, rec.FromCache = out.Arguments, out.Attempts, out.FromCache
		if err == nil {
			rec.Output, rec.Edge = counted(ctx, out.Value), out.Edge
		}
	}
	rec.End = w.port.Now()
	if short := memory.AccountOf(ctx).Err(); short != nil {
		// What the node made of it means nothing, and is nobody's failure.
		rec.Output, rec.Edge = value.Undef, graph.NoEdge
		rec.Err = &InterruptedError{Tool: w.run.graph.Name, Err: short}
		done(rec)
		return rec.Err
	}
	if err != nil {
		failure := newNodeError(w.run.graph, node, w.ended(ctx, err))
		failure.Arguments = rec.Arguments
		rec.Err = failure
	}
	w.release()
	done(rec)
	if err := w.run.Advance(rec); err != nil {
		return newNodeError(w.run.graph, node, err)
	}
	w.port.NodeDone(rec)
	return rec.Err
}

// counted gives a value so that what is decoded of it counts on the account of the
// call.
func counted(ctx context.Context, v value.Value) value.Value {
	if held := memory.AccountOf(ctx); held != nil {
		return v.Metered(held)
	}
	return v
}

// nodeStart calls the start hooks and gives what calls the done hooks.
func (w *walk) nodeStart(ctx context.Context, n *graph.Node, index int) (context.Context, func(Record), error) {
	if len(w.Hooks) == 0 {
		return ctx, func(Record) {}, nil
	}
	var undo []func(Record)
	done := func(rec Record) {
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i](rec)
		}
	}
	for _, h := range w.Hooks {
		if h.NodeStart != nil {
			next, err := h.NodeStart(ctx, w.run, n, index)
			if err != nil {
				return ctx, done, err
			}
			ctx = next
		}
		if h.NodeDone != nil {
			at := ctx
			undo = append(undo, func(rec Record) { h.NodeDone(at, w.run, rec) })
		}
	}
	return ctx, done, nil
}

// execute runs a step. A panic, which is a mistake in the program, is an error
// of the node; where it happened is in the log.
func (w *walk) execute(ctx context.Context, n *graph.Node) (out graph.Output, err error) {
	defer func() {
		if p := recover(); p != nil {
			if w.Log != nil {
				w.Log.ErrorContext(w.ctx, "a node panicked", "tool", w.run.graph.Name, "node", n.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			}
			out, err = graph.Output{}, &PanicError{p}
		}
	}()
	previous, _ := w.run.Previous(1)
	return n.Step.Run(ctx, &graph.Input{
		Args: w.run.args, Previous: previous, Env: w.env, Caller: w.caller,
	})
}

// timeLeft gives the error of a run whose time is over or that was cancelled.
func (w *walk) timeLeft(ctx context.Context) error {
	limit := w.run.graph.Limits.MaxExecutionTime
	if elapsed := w.port.Now().Sub(w.started); limit > 0 && elapsed >= limit {
		return &LimitError{MaxTime: limit, Elapsed: elapsed}
	}
	if ctx.Err() != nil {
		return w.ended(ctx, context.Cause(ctx))
	}
	return nil
}

// ended says what ended a step that failed: the run's limit or the caller,
// where ctx is done, whatever the step itself made of that.
func (w *walk) ended(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, errTime) {
		limit := w.run.graph.Limits.MaxExecutionTime
		cause = &LimitError{MaxTime: limit, Elapsed: max(limit, w.port.Now().Sub(w.started))}
	}
	if errors.Is(err, cause) {
		return err
	}
	var at *graph.PosError
	if errors.As(err, &at) {
		return &graph.PosError{Pos: at.Pos, End: at.End, Err: cause}
	}
	return cause
}
