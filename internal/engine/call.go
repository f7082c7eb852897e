package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

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
	// State is the run as the place has it; nil if that is not known.
	State *runs.State
}

// CallOptions change one call.
type CallOptions struct {
	// Hooks observe the call, inside those of the Engine: of a call that goes on with a run,
	// from this record on.
	Hooks []executor.Hooks
	From  int
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
	// Slot is that of a call that goes on without its caller; it may be nil.
	Slot runs.Slot
	// Gate is that of [executor.Local]; it may be nil.
	Gate func(ctx context.Context, r *executor.Run, t executor.Task) error
	// Control changes the driver of this process, and returns the port that it uses; nil changes
	// nothing.
	Control func(*executor.Local, executor.Port) executor.Port
	// Processor returns what shares processor time, for one goroutine; nil: that of
	// the process, by caller.
	Processor func() expr.Processor
}

// control returns what changes the driver, nil if nothing does.
func (o *CallOptions) control() func(*executor.Local, executor.Port) executor.Port {
	if o.Gate == nil && o.Processor == nil {
		return o.Control
	}
	return controlled(o.Gate, o.Processor, o.Control)
}

func controlled(gate func(context.Context, *executor.Run, executor.Task) error, processor func() expr.Processor, next func(*executor.Local, executor.Port) executor.Port) func(*executor.Local, executor.Port) executor.Port {
	return func(l *executor.Local, world executor.Port) executor.Port {
		l.Gate = gate
		if processor != nil {
			world = ownProcessor{world, processor}
		}
		if next != nil {
			world = next(l, world)
		}
		return world
	}
}

// AskFunc asks the client what a run wants to know: q.Value has the params of the
// request q.Method (elicitation/create, sampling/createMessage or roots/list), and what
// it returns is the result of that request. It returns soon after ctx is done.
// Questions of one run can come at the same time.
type AskFunc func(ctx context.Context, q executor.Question) (value.Value, error)

// Call runs the tool with this name. Arguments are anything that encodes to a JSON
// object, a [value.Value] as it is; nil means none. It sets the fields of info that
// are the engine's; nil is a call without a caller. If the run began there is a
// Result, even if the call failed. The error is [executor.ErrParked] if the run waits for
// answers: [Program.Resume] goes on with it.
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
			return nil, executor.Interrupted(ctx, tool, err)
		}
	} else {
		o.Claim = nil // nobody has to come back to it
	}
	c := p.newCall(info, o)
	c.Run = executor.NewRun(g, in, o.seed())
	return p.do(ctx, c)
}

// Resume goes on with a run that waits for answers, for another call of the same client,
// which o.Claim proves. The error is that of the place if the Result has no Run.
func (p *Program) Resume(ctx context.Context, info *callinfo.Info, id string, o CallOptions) (*Result, error) {
	p.prepare(info)
	c := p.newCall(info, o)
	c.ID = id
	return p.do(ctx, c)
}

// newCall returns a call for a place.
func (p *Program) newCall(info *callinfo.Info, o CallOptions) *runs.Call {
	c := &runs.Call{
		Program: p, Info: info, URI: o.URI, Claim: o.Claim, Refuses: o.Refuses, Hooks: o.Hooks, From: o.From, Slot: o.Slot, Control: o.control(),
	}
	if !o.Park {
		c.Ask = p.asker(info, o.Ask)
	}
	return c
}

// do makes a call.
func (p *Program) do(ctx context.Context, c *runs.Call) (*Result, error) {
	st, err := p.engine.place.Do(ctx, c)
	result, tool := &Result{Run: c.Run, State: st}, ""
	if c.Run != nil {
		tool = c.Run.Graph().Name
	}
	switch {
	case err != nil:
		err = forClients(c, err)
	case st.Status == runs.Waiting:
		return result, executor.ErrParked
	case st.Err != nil:
		err = st.Err
	default:
		result.Value = st.Result
		return result, nil
	}
	return result, p.redacted(c.Info, executor.Interrupted(ctx, tool, err))
}

// forClients returns what callers may know of the error of a place: others can name
// machines of the operator.
func forClients(c *runs.Call, err error) error {
	if c.Run != nil {
		if own := c.Run.Err(); own != nil {
			return own // has the place in the file
		}
	}
	var failure *graph.Failure
	if errors.Is(err, runs.ErrUnavailable) && errors.As(err, &failure) {
		return failure
	}
	return err
}

// Begin starts a call of a tool that goes on without its caller, who comes back to it with
// o.Claim. With the id of a run that waits it lets that one go on, whose tool and arguments
// do not count then.
func (p *Program) Begin(ctx context.Context, info *callinfo.Info, id, tool string, args any, o CallOptions) (*runs.State, error) {
	o.Park = true
	c := p.newCall(info, o)
	if c.ID = id; id == "" {
		ctx, g, in, done, err := p.accept(ctx, info, tool, args)
		if err != nil {
			return nil, err
		}
		defer done()
		if in, err = apart(ctx, in); err != nil {
			return nil, executor.Interrupted(ctx, tool, err)
		}
		c.Run = executor.NewRun(g, in, o.seed())
	} else {
		p.prepare(info)
	}
	st, err := p.engine.place.Start(ctx, c)
	if err != nil {
		return nil, p.redacted(info, forClients(c, err))
	}
	info.RunID = st.ID
	return st, nil
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
	p.noteArguments(info, g, in, nil)
	return in, executor.CheckArguments(ctx, g, in)
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

// Prepare implements [runs.Program].
func (p *Program) Prepare(info *callinfo.Info, g *graph.Graph, args value.Value, secrets []string) {
	p.NoteSecrets(info)
	p.noteArguments(info, g, args, secrets)
	p.log(info)
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

// Hooks implements [runs.Program]: those of telemetry first, and then those of the Engine.
func (p *Program) Hooks(info *callinfo.Info, here bool) []executor.Hooks {
	if here && p.recorder == nil && len(p.opts.HooksFunc) == 0 {
		return slices.Clip(p.opts.Hooks)
	}
	var all []executor.Hooks
	if here && p.recorder != nil {
		all = append(all, p.recorder.Hooks(info))
	}
	all = append(all, p.opts.Hooks...)
	for _, f := range p.opts.HooksFunc {
		all = append(all, f(info))
	}
	if !here { // the driver of the run tells the others
		for i, h := range all {
			all[i] = executor.Hooks{RunStart: h.RunStart, RunDone: h.RunDone}
		}
	}
	return all
}

// Traced implements [runs.Program].
func (p *Program) Traced(ctx context.Context, info *callinfo.Info) *callinfo.Info {
	if p.recorder == nil {
		return info
	}
	own := *info
	own.Trace = p.recorder.Trace(ctx, info)
	return &own
}

// Port implements [runs.Program].
func (p *Program) Port(r *executor.Run, info *callinfo.Info) executor.Port {
	r.CheckCalls(p.checkCalls(info))
	return port{p.upstreams.caller, info.Caller}
}
