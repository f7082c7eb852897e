package runs

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of a Memory. A call beyond them fails with a *[graph.Failure] named "busy".
const (
	// MaxWaiting and MaxWaitingPerCaller bound the runs of Do that wait for answers.
	MaxWaiting          = 1000
	MaxWaitingPerCaller = 100
	// MaxStarted and MaxStartedPerCaller bound the runs of Start under way.
	MaxStarted          = 1000
	MaxStartedPerCaller = 100
	// MaxKept and MaxKeptPerCaller bound those that are kept, over or not.
	MaxKept          = 10_000
	MaxKeptPerCaller = 1000
	// MaxSessions bounds the sessions.
	MaxSessions = 64
	// maxOutcomes bounds what is kept of runs of Do that are over. Of more, the oldest of
	// the caller that has the most is forgotten.
	maxOutcomes = 1000
)

// ErrPanicked is why a run failed whose driver did not return.
var ErrPanicked = errors.New("internal error")

// ErrTooManySessions is returned by [Memory.Session] if there are as many as there can be.
var ErrTooManySessions = fmt.Errorf("%d runs are being debugged, which is as many as there can be: stop one of them", MaxSessions)

var (
	errClosed  = errors.New("the engine has been closed")
	errExpired = errors.New("the task was not over when its ttlMs was")
	errIgnored = errors.New("nobody answered in time")
)

// Do implements [Place]. A run that waits ends if nobody answers in time.
func (m *Memory) Do(ctx context.Context, c *Call) (*State, error) {
	if c.ID == "" {
		return m.drive(ctx, c, m.begin(c)), nil
	}
	for {
		k, st, busy := m.take(c)
		switch {
		case k != nil:
			return m.drive(ctx, c, k.resumed(c)), nil
		case st != nil:
			return st, nil
		case busy == nil:
			return nil, ErrNotFound
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// begin makes a new run known.
func (m *Memory) begin(c *Call) *Live {
	if c.Info == nil {
		c.Info = &callinfo.Info{}
	}
	l := &Live{call: Entry{
		ID: NewID(), Run: c.Run, Caller: c.Info.Caller, Began: time.Now(), Program: c.Program, Secrets: c.Program.Secrets(c.Run),
	}}
	if c.Claim != nil {
		l.check = c.Claim.Check
	}
	l.call.Secrets.Note(c.Info)
	m.store.begin(l)
	c.Named(l.call.ID)
	return l
}

// drive drives a run to its end, or until it waits for its caller.
func (m *Memory) drive(ctx context.Context, c *Call, l *Live) (st *State) {
	room := &struct { // one allocation
		local executor.Local
		state State
	}{local: executor.Local{Info: c.Info, Hooks: c.Program.Hooks(c.Info, true), Log: c.Info.Log, Ask: c.Ask}}
	local := &room.local
	if len(c.Hooks) > 0 {
		local.Hooks = append(local.Hooks, c.Hooks...)
	}
	port := c.Program.Port(c.Run, c.Info)
	if c.Control != nil {
		port = c.Control(local, port)
	}
	var asked []Question
	result, err := value.Undef, ErrPanicked // unless nothing panics
	defer func() {
		e, now := &l.call, time.Now()
		st = &room.state
		*st = State{
			Summary: Summary{ID: e.ID, Tool: e.Run.Graph().Name, Caller: e.Caller, Version: e.version(), Status: Waiting, Began: e.Began},
			Created: e.Began, Updated: now, Seed: e.Run.Seed(), Questions: asked, Result: result,
		}
		if asked != nil {
			return
		}
		st.Status, st.Ended, st.Err = phaseOf(err), now, err
		l.End(now, err)
		if k := l.claim.Load(); k != nil {
			k.settle(c, st)
		}
	}()
	for {
		if err = local.Run(ctx, c.Run, port); !errors.Is(err, executor.ErrParked) {
			break
		}
		err = ErrPanicked
		if asked = m.parked(ctx, c, l); asked != nil {
			return nil
		}
	}
	if err == nil {
		if err = executor.CheckResult(ctx, c.Run); err == nil {
			result, err = executor.PresentResult(c.Run.Graph(), c.Run.Result(), c.Run.Args(), c.URI)
		}
	}
	if err = executor.Interrupted(ctx, c.Run.Graph().Name, err); err != nil {
		result = value.Undef
	}
	return nil
}

// parked is called where a run waits for answers alone. It returns what the run asks if
// it waits until its caller comes back, or nothing if it goes on now.
func (m *Memory) parked(ctx context.Context, c *Call, l *Live) []Question {
	if k := l.claim.Load(); k != nil && k.stop != nil {
		k.pause(ctx, c)
		return nil
	}
	asked := c.Asked()
	if len(asked) == 0 {
		return nil // somebody was faster
	}
	if err := m.hold(c, l, asked); err != nil {
		for _, q := range asked {
			_ = c.Run.Answer(q.ID, value.Undef, err, time.Now())
		}
		return nil
	}
	return asked
}

// Start implements [Place].
func (m *Memory) Start(ctx context.Context, c *Call) (*State, error) {
	k, st, busy := (*claim)(nil), (*State)(nil), (<-chan struct{})(nil)
	if c.ID != "" {
		switch k, st, busy = m.take(c); {
		case st != nil:
			return st, nil
		case k == nil && busy == nil:
			return nil, ErrNotFound
		case k == nil: // it goes on already
			return m.Look(ctx, c.Who(), c.ID, Status)
		}
		k.resumed(c)
	} else if c.Info == nil {
		c.Info = &callinfo.Info{}
	}
	taken := k != nil
	if !taken {
		k = newClaim(m, c)
	}
	why := ""
	if err := k.account.Grow(startedBytes + sizeOf(c.Run, nil) + c.Info.Footprint()); err != nil {
		why = err.Error()
	}
	m.mu.Lock()
	if why == "" {
		why = m.full(c.Info.Caller)
	}
	if why != "" {
		m.mu.Unlock()
		return nil, k.refuse(why, taken)
	}
	if !taken {
		k.of(m.begin(c))
		m.claims[k.id] = k
	}
	ctx, k.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	k.wake, k.created = make(chan struct{}, 1), time.Now()
	k.updated = k.created
	if c.Claim != nil {
		if k.keep = c.Claim.Keep; k.keep > 0 {
			k.timer = time.AfterFunc(k.keep, k.forget)
		}
	}
	m.started.add(c.Info.Caller)
	m.kept.add(c.Info.Caller)
	st = &State{Created: k.created, Updated: k.updated, Kept: k.keep, Blocks: k.blocks}
	l := k.run
	st.Summary = l.show().listed()
	m.working.Go(func() { k.work(ctx, c, l) })
	m.mu.Unlock()
	return st, nil
}

// full returns why no further run can be started; empty: one can. The mutex is held.
func (m *Memory) full(caller string) string {
	started, own := m.started.full(caller)
	kept, ownKept := m.kept.full(caller)
	switch {
	case m.closed:
		return errClosed.Error()
	case started:
		return fmt.Sprintf("%d tasks are under way", MaxStarted)
	case own:
		return fmt.Sprintf("%d tasks of this caller are under way", MaxStartedPerCaller)
	case kept:
		return fmt.Sprintf("%d tasks are kept", MaxKept)
	case ownKept:
		return fmt.Sprintf("%d tasks of this caller are kept", MaxKeptPerCaller)
	}
	return ""
}

// refuse ends a run that cannot be started.
func (k *claim) refuse(why string, taken bool) error {
	err := &graph.Failure{Name: graph.FailBusy, Message: "the call cannot be a task: " + why}
	if taken {
		k.end(err, true)
	} else {
		k.account.Close()
		k.leave()
	}
	return err
}

// work drives a run of Start.
func (k *claim) work(ctx context.Context, c *Call, l *Live) {
	ctx, cancel := memory.WithAccount(ctx, k.account)
	defer k.stop(nil)
	defer cancel()
	defer c.leave()
	defer func() {
		if x := recover(); x != nil {
			k.memory.log.ErrorContext(ctx, "a run panicked", "run", l.call.ID, "panic", fmt.Sprint(x), "stack", string(debug.Stack()))
		}
	}()
	k.memory.drive(ctx, c, l)
}

// pause lets a run of Start wait for answers. Meanwhile it has no slot.
func (k *claim) pause(ctx context.Context, c *Call) {
	now, settled := time.Now(), false
	for _, q := range c.Run.Questions() {
		if f := c.Refuses[graph.QuestionKind(q.Method, q.Value)]; f != nil {
			settled = c.Run.Answer(q.ID, value.Undef, f, now) == nil || settled
		}
	}
	if settled || !c.Run.Parked() {
		return
	}
	k.touch()
	c.leave()
	timer := time.NewTimer(wakeAfter(c.Run))
	defer timer.Stop()
	select {
	case <-k.wake:
	case <-timer.C:
	case <-ctx.Done():
	}
	if c.Slot != nil && ctx.Err() == nil {
		_ = c.Slot.Acquire(ctx)
	}
	k.touch()
}

// maxPause is how long a run waits at most before somebody looks whether its time is over.
const maxPause = time.Hour

// wakeAfter returns after how long something happens in a run by itself.
func wakeAfter(r *executor.Run) time.Duration {
	if at, ok := r.Wake(); ok {
		return min(time.Until(at), maxPause)
	}
	return maxPause
}

// session is one that is under way.
type session struct{ _ byte }

// Session makes a run known that a debugger drives: with drive, which is to be called
// once. The context ends with the Memory. Leave is to be called afterwards, also if it did
// not come to that. The error is [ErrTooManySessions], or says that the Memory is closed.
func (m *Memory) Session(ctx context.Context, c *Call) (_ context.Context, drive func(context.Context) *State, leave func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return nil, nil, nil, errClosed
	case len(m.sessions) >= MaxSessions:
		return nil, nil, nil, ErrTooManySessions
	}
	ctx, stop := context.WithCancelCause(ctx)
	own, driven, l := &session{}, false, m.begin(c)
	m.sessions[own] = stop
	drive = func(ctx context.Context) *State {
		driven = true
		return m.drive(ctx, c, l)
	}
	return ctx, drive, func() {
		stop(nil)
		if !driven {
			l.Leave()
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.sessions, own)
	}, nil
}

// Close ends all runs but those of calls of Do under way, and waits for their ends. No
// other one can wait or be started afterwards.
func (m *Memory) Close() {
	m.mu.Lock()
	m.closed = true
	for _, stop := range m.sessions {
		stop(errClosed)
	}
	var all []*claim
	for _, k := range m.claims {
		all = append(all, k)
	}
	m.mu.Unlock()
	for _, k := range all {
		k.cancel(errClosed)
	}
	m.working.Wait()
	for _, k := range all {
		k.forget()
	}
}
