package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Result is the outcome of one call.
type Result struct {
	Value value.Value // undefined if the call failed
	Run   *executor.Run
	// Parked is not nil if the run waits for answers. The error of the call is then
	// [executor.ErrParked].
	Parked *Parked
}

// CallOptions change one call.
type CallOptions struct {
	// Hooks observe the call, inside those of the Engine.
	Hooks []executor.Hooks
	// Ask asks the client, and returns the result of the request. Without it questions
	// fail with cannotAsk, unless Park is true.
	Ask AskFunc
	// URI is what a client asked for if the call is of a resource; empty: that of
	// the resource.
	URI string
	// Park lets the call return while the run waits for nothing but answers.
	Park bool
	// Seed is what the randomness of the run derives from; nil: the machine's.
	Seed *uint64
	// Claim lets the caller come back to a run of the Place, and Refuses has the failures
	// of questions that its client cannot answer, by [graph.QuestionKind]; both may be nil.
	Claim   *runs.Claim
	Refuses map[string]*graph.Failure
	// Gate is that of [executor.Local]; it may be nil.
	Gate func(ctx context.Context, r *executor.Run, t executor.Task) error
	// Control changes the driver, and returns the port that it uses; nil changes
	// nothing.
	Control func(*executor.Local, executor.Port) executor.Port
	// Processor returns what shares processor time, for one goroutine; nil: that of
	// the process, by caller.
	Processor func() expr.Processor
}

// AskFunc asks the client what a run wants to know: q.Value has the params of the
// request q.Method (elicitation/create, sampling/createMessage or roots/list), and what
// it returns is the result of that request. It returns soon after ctx is done.
// Questions of one run can come at the same time.
type AskFunc func(ctx context.Context, q executor.Question) (value.Value, error)

// Call runs the tool with this name. Arguments are anything that encodes to a JSON
// object, a [value.Value] as it is; nil means none. It sets the fields of info that
// are the engine's; nil is a call without a caller. If the run began there is a
// Result, even if the call failed.
func (p *Program) Call(ctx context.Context, info *callinfo.Info, tool string, args any, o CallOptions) (*Result, error) {
	if info == nil {
		info = &callinfo.Info{}
	}
	ctx, g, in, done, err := p.accept(ctx, info, tool, args)
	if err != nil {
		return nil, err
	}
	defer done()
	if o.Park && g.Asks() {
		if in, err = apart(ctx, in); err != nil {
			return nil, interrupted(ctx, tool, err)
		}
	} else {
		o.Claim = nil // nobody has to come back to it
	}
	c := p.newCall(info, g, in, o)
	if p.opts.Place == nil {
		info.RunID = runs.NewID()
		c.begin(info.RunID, info.Caller, time.Now())
	}
	return c.drive(ctx, info, o)
}

// accept returns what is called with its arguments, if they fit it. What follows counts
// on an account in the context, until done is called.
func (p *Program) accept(ctx context.Context, info *callinfo.Info, tool string, args any) (_ context.Context, g *graph.Graph, in value.Value, done func(), err error) {
	p.NoteSecrets(info)
	defer p.log(info) // which knows the secrets among the arguments
	if g, err = p.Graph(tool); err != nil {
		return ctx, nil, in, nil, err
	}
	ctx, held, cancel := p.account(ctx)
	done = func() {
		cancel()
		held.Close()
	}
	if in, err = p.arguments(ctx, info, g, args, held); err != nil {
		done()
		return ctx, nil, in, nil, err
	}
	return ctx, g, in, done, nil
}

// newCall returns a call whose run has not begun.
func (p *Program) newCall(info *callinfo.Info, g *graph.Graph, in value.Value, o CallOptions) *call {
	c := &call{program: p, run: p.masking(executor.NewRun(g, in, o.seed()))}
	c.note(info)
	return c
}

// begin makes the run known under its id.
func (c *call) begin(id, caller string, began time.Time) {
	c.id = id
	c.live = c.program.opts.Runs.Begin(runs.Entry{
		ID: id, Run: c.run, Caller: caller, Began: began, Version: c.program.version, Redactor: c.redactor,
	})
}

// arguments returns those of a call as the run gets them, if they fit the tool. They
// count on held, which may be nil. info learns the secrets among them.
func (p *Program) arguments(ctx context.Context, info *callinfo.Info, g *graph.Graph, args any, held *memory.Account) (value.Value, error) {
	in, err := value.FromAny(args)
	if err != nil {
		return in, fmt.Errorf("%s: the arguments are not JSON: %w", graph.Quoted(g.Name), err)
	}
	if in.IsNull() || in.IsUndefined() {
		in = value.FromEntries(nil)
	}
	if held != nil {
		in = in.Metered(held)
	}
	p.noteArguments(info, g, in)
	if err := checkArguments(ctx, g, in); err != nil {
		return in, interrupted(ctx, g.Name, checkError(g.Name, graph.FailArguments, "invalid arguments", err))
	}
	return in, nil
}

func (o *CallOptions) seed() uint64 {
	if o.Seed != nil {
		return *o.Seed
	}
	return rand.Uint64()
}

// account returns a context whose work counts on an account. held is the account if
// it is new; nil if ctx had one, or if nothing is counted. The caller closes it after
// cancel.
func (p *Program) account(ctx context.Context) (_ context.Context, held *memory.Account, cancel func()) {
	if memory.AccountOf(ctx) != nil {
		return ctx, nil, func() {}
	}
	held = p.opts.Memory.Account("")
	ctx, cancel = memory.WithAccount(ctx, held)
	return ctx, held, cancel
}

// call is a call under way.
type call struct {
	program *Program
	run     *executor.Run
	id      string     // of the run; empty before it has begun
	live    *runs.Live // nil before it has begun
	known   int        // how many of its records another call has reported

	mu      sync.Mutex
	first   [1]secretsOfRequest // room for what most calls have
	secrets []secretsOfRequest  // of the requests that drove it; nothing else of them is kept
}

// secretsOfRequest is what of the Info of a request says which secrets it had.
type secretsOfRequest struct {
	caller  string
	secrets callinfo.Secrets
}

// note lets what is kept of the call be without the secrets of a request.
func (c *call) note(info *callinfo.Info) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.secrets == nil {
		c.secrets = c.first[:0]
	}
	c.secrets = append(c.secrets, secretsOfRequest{info.Caller, info.Secrets})
}

// redactor returns what takes the secrets of all requests that drove the call out
// of texts, nil where there are none.
func (c *call) redactor() func(string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var redact func(string) string
	for i, one := range c.secrets {
		if i > 0 && one.secrets == nil {
			continue // it has those of the file alone, as the first one
		}
		f := c.program.redactor(&callinfo.Info{Caller: one.caller, Secrets: one.secrets})
		if before := redact; before != nil && f != nil {
			redact = func(text string) string { return f(before(text)) }
		} else if f != nil {
			redact = f
		}
	}
	return redact
}

// drive drives the run to its end, or until it is parked.
func (c *call) drive(ctx context.Context, info *callinfo.Info, o CallOptions) (*Result, error) {
	p, g := c.program, c.run.Graph()
	driver := &executor.Local{Info: info, Hooks: p.hooksOf(info, o.Hooks), Log: info.Log, Gate: o.Gate}
	if !o.Park {
		driver.Ask = p.asker(info, o.Ask)
	}
	failure := errPanicked // unless nothing panics
	parked := false
	defer func() {
		if !parked && c.live != nil {
			c.live.End(time.Now(), failure)
		}
	}()
	var err error
	if p.opts.Place != nil && o.Control == nil {
		err = c.driveRemote(ctx, info, o, driver.Ask)
	} else {
		var world executor.Port = port{p.upstreams.caller, info.Caller, o.Processor}
		if o.Control != nil {
			world = o.Control(driver, world)
		}
		c.run.CheckCalls(p.checkCalls(info))
		err = driver.Run(ctx, c.run, world)
	}
	result := &Result{Run: c.run}
	if parked = errors.Is(err, executor.ErrParked); parked {
		result.Parked = &Parked{c}
		return result, err
	}
	if err == nil {
		result.Value, err = checked(ctx, c.run, o.URI)
	}
	if err = interrupted(ctx, g.Name, err); err != nil {
		result.Value = value.Undef
	}
	failure = err
	return result, p.redacted(info, err)
}

// checkCalls returns what checks calls of upstream tools for a caller before people are
// asked to approve them; nil if nothing is known of the tools.
func (p *Program) checkCalls(info *callinfo.Info) executor.CheckFunc {
	pool := p.upstreams.pool
	if pool == nil {
		return nil
	}
	return func(ctx context.Context, server, tool string, args value.Value) error {
		return pool.CheckCall(ctx, info, server, tool, args)
	}
}

// CheckLocked returns why a call of an upstream tool would send nothing, as far as the file
// and its lock file say.
func (p *Program) CheckLocked(ctx context.Context, server, tool string, args value.Value) error {
	if check := p.checkCalls(nil); check != nil {
		return check(ctx, server, tool, args)
	}
	return nil
}

// errPanicked is why a call failed that did not return.
var errPanicked = errors.New("internal error")

// prepare lets a call with info note secrets, and log.
func (p *Program) prepare(info *callinfo.Info) {
	p.NoteSecrets(info)
	p.log(info)
}

// log lets a call with info log.
func (p *Program) log(info *callinfo.Info) {
	if info.Log == nil {
		info.Log = p.engine.logOf(info)
	}
}

// hooksOf returns the hooks of a call: those of the Engine, telemetry first, and
// then its own.
func (p *Program) hooksOf(info *callinfo.Info, own []executor.Hooks) []executor.Hooks {
	if p.recorder == nil {
		return p.ownHooks(info, own)
	}
	return append([]executor.Hooks{p.recorder.Hooks(info)}, p.ownHooks(info, own)...)
}

// ownHooks is hooksOf without telemetry.
func (p *Program) ownHooks(info *callinfo.Info, own []executor.Hooks) []executor.Hooks {
	all := slices.Clip(p.opts.Hooks)
	for _, f := range p.opts.HooksFunc {
		all = append(all, f(info))
	}
	return append(all, own...)
}

// interrupted returns err, or if there was too little memory for the call, that:
// what came of it then means nothing.
func interrupted(ctx context.Context, tool string, err error) error {
	short := memory.AccountOf(ctx).Err()
	if short == nil {
		return err
	}
	var already *executor.InterruptedError
	if errors.As(err, &already) {
		return err
	}
	return &executor.InterruptedError{Tool: tool, Err: short}
}

// checked returns the result of a run if it fits the tool's outputSchema; of a prompt
// or resource, the result as clients get it.
func checked(ctx context.Context, run *executor.Run, uri string) (value.Value, error) {
	result, g := run.Result(), run.Graph()
	if g.Offer != nil {
		out, err := g.Result(result, run.Args(), uri)
		if err != nil {
			return value.Undef, checkError(g.Name, graph.FailResult, "", err)
		}
		return out, nil
	}
	if g.Output != nil {
		if err := g.Output.ValidateContext(ctx, result); err != nil {
			failed := checkError(g.Name, graph.FailResult, "the result does not fit its outputSchema", err)
			var wrong *graph.SchemaError
			if errors.As(err, &wrong) {
				return value.Undef, &rejectedError{graph.FailResult, fmt.Errorf("%w: %s", failed, run.ResultAdvice())}
			}
			return value.Undef, failed
		}
	}
	return result, nil
}

// checkError is returned if a check found a problem or was cancelled.
func checkError(tool, name, wrong string, err error) error {
	var found *graph.SchemaError
	var failure *graph.Failure
	switch {
	case errors.As(err, &failure):
		return &rejectedError{failure.Name, err}
	case !errors.As(err, &found):
		name, wrong = graph.FailCancelled, "stopped while it was checked"
	}
	return &rejectedError{name, fmt.Errorf("%s: %s: %w", graph.Quoted(tool), wrong, err)}
}

// rejectedError is an error of a check, with the name that the failure has.
type rejectedError struct {
	name string
	error
}

// Unwrap returns the error beneath.
func (e *rejectedError) Unwrap() error { return e.error }

// FailureName returns the name of the failure.
func (e *rejectedError) FailureName() string { return e.name }

// checkArguments checks arguments against the tool's schema. They must be an
// object even if the schema does not require it.
func checkArguments(ctx context.Context, g *graph.Graph, args value.Value) error {
	if args.Kind() != value.Object {
		return &graph.SchemaError{Problems: []graph.SchemaProblem{{Expected: "an object", Found: graph.Describe(args)}}}
	}
	return g.Input.ValidateContext(ctx, args)
}
