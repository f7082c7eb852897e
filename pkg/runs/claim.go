package runs

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// claim is a run that its caller can come back to.
type claim struct {
	memory  *Memory
	owner   Who
	program Program
	release func()                  // of the program; may be nil
	stop    context.CancelCauseFunc // of a run of Start; nil: it is one of Do
	wake    chan struct{}           // tells that one that it has changed
	account *memory.Account         // of what is held of it
	id      string
	blocks  bool

	// What follows is guarded by the mutex of the Memory.
	run              *Live          // nil once it is over
	info             *callinfo.Info // of the latest request: its caller and secrets
	busy             chan struct{}  // closed when who drives the run leaves it; nil: nobody does
	timer            *time.Timer    // what ends it by itself; may be nil
	created, updated time.Time
	keep             time.Duration
	canceled         bool
	uses             []Use
	over             *State        // what came of the run, as its caller gets it
	outcome          *list.Element // of Memory.outcomes
}

// Sizes in bytes, roughly: of a run that waits, that is started, and of what came of one,
// each beside its values.
const (
	waitingBytes = 16 << 10
	startedBytes = 16 << 10
	overBytes    = 2 << 10
	// maxSize is where the size of one value stops to be counted.
	maxSize = 1 << 40
)

// sizeOf returns roughly how many bytes a run and what it asks hold.
func sizeOf(r *executor.Run, asked []Question) int64 {
	size := r.Args().Footprint(maxSize)
	for _, q := range asked {
		size += q.Params.Footprint(maxSize)
	}
	for rec := range r.Records(0) {
		size += 256 + rec.Output.Footprint(maxSize) + rec.Reply.Footprint(maxSize)
		for _, v := range rec.Results {
			size += v.Footprint(maxSize)
		}
	}
	return size
}

// newClaim returns the claim of a run that somebody is going to drive.
func newClaim(m *Memory, c *Call) *claim {
	now := time.Now()
	k := &claim{
		memory: m, owner: c.Who(), program: c.Program, release: c.Program.Retain(), account: m.budget.Account(c.Info.Caller),
		info: &callinfo.Info{Caller: c.Info.Caller, Secrets: c.Info.Secrets}, busy: make(chan struct{}), created: now, updated: now,
	}
	if c.Claim != nil {
		k.blocks, k.keep = c.Claim.Blocks, c.Claim.Keep
		if !c.Claim.Created.IsZero() {
			k.created = c.Claim.Created
		}
	}
	return k
}

// of makes the claim that of a run.
func (k *claim) of(l *Live) {
	k.id, k.run = l.call.ID, l
	l.claim.Store(k)
}

// claimed returns the run that is that of who asks, nil if there is none.
func (m *Memory) claimed(w Who, id string) *claim {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.claims[id]; k != nil && !w.Operator && w.Owns(k.owner.Caller, k.owner.Check) {
		return k
	}
	return nil
}

// hold lets a run of Do wait until its caller comes back. The error says why it cannot.
func (m *Memory) hold(c *Call, l *Live, asked []Question) error {
	k := l.claim.Load()
	if k == nil {
		k = newClaim(m, c)
		k.of(l)
	}
	why, now := "", time.Now()
	if err := k.account.Grow(waitingBytes + sizeOf(c.Run, asked)); err != nil {
		why = err.Error()
	}
	expires := now.Add(maxPause)
	for i, q := range asked {
		if i == 0 || q.Until.After(expires) {
			expires = q.Until
		}
	}
	m.mu.Lock()
	all, own := m.waiting.full(k.owner.Caller)
	switch {
	case why != "":
	case m.closed:
		why = "the server is shutting down"
	case all:
		why = fmt.Sprintf("%d runs already wait for answers", MaxWaiting)
	case own:
		why = fmt.Sprintf("%d runs of this caller already wait for answers", MaxWaitingPerCaller)
	}
	if why != "" {
		m.mu.Unlock()
		return &graph.Failure{Name: graph.FailBusy, Message: "the run cannot wait for an answer: " + why}
	}
	c.Run.CheckCalls(nil) // nothing of the request is kept
	m.waiting.add(k.owner.Caller)
	m.claims[k.id] = k
	k.timer = time.AfterFunc(expires.Sub(now), func() { k.end(errIgnored, false) })
	k.idle()
	m.mu.Unlock()
	if err := c.Run.Stopped(); err != nil { // meanwhile
		k.end(err, false)
	}
	return nil
}

// idle notes that nobody drives the run any more; the mutex is held.
func (k *claim) idle() {
	close(k.busy)
	k.busy = nil
}

// take lets a call go on with the run that it names. Otherwise the run is over: st, or
// somebody drives it until busy is closed; or there is none.
func (m *Memory) take(c *Call) (k *claim, st *State, busy <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, w := m.claims[c.ID], c.Who()
	switch {
	case k == nil || !w.Owns(k.owner.Caller, k.owner.Check):
		return nil, nil, nil
	case k.over != nil:
		own := *k.over
		return nil, &own, nil
	case k.busy != nil:
		return nil, nil, k.busy
	}
	k.timer.Stop()
	m.waiting.remove(k.owner.Caller)
	k.busy = make(chan struct{})
	return k, nil, nil
}

// resumed readies a call that has taken the run to go on with it.
func (k *claim) resumed(c *Call) *Live {
	k.memory.mu.Lock()
	l := k.run
	k.info = &callinfo.Info{Caller: c.Info.Caller, Secrets: c.Info.Secrets}
	k.memory.mu.Unlock()
	k.account.Reset(0) // the next wait counts it anew
	c.Run, c.Program = l.call.Run, k.program
	c.Program.Prepare(c.Info, c.Run.Graph(), c.Run.Args(), nil)
	l.call.Secrets.Note(c.Info)
	c.Named(l.call.ID)
	return l
}

// live returns the run while it is under way.
func (k *claim) live() *Live {
	k.memory.mu.Lock()
	defer k.memory.mu.Unlock()
	return k.run
}

// state returns the run as its caller sees it, nil if it is not known any more.
func (k *claim) state(d Detail) *State {
	k.memory.mu.Lock()
	if k.over != nil {
		own := *k.over
		k.memory.mu.Unlock()
		return &own
	}
	l, info := k.run, k.info
	st := &State{Created: k.created, Updated: k.updated, Blocks: k.blocks, Ending: k.canceled}
	if k.stop != nil {
		st.Kept = k.keep
	}
	k.memory.mu.Unlock()
	if l == nil {
		return nil
	}
	st.Summary = l.show().listed()
	run := l.call.Run
	st.Seed, st.Count = run.Seed(), run.NextIndex()
	if d != Brief && st.Status == Waiting {
		st.Questions = (&Call{Run: run, Program: k.program, Info: info}).Asked()
	}
	if d == Whole {
		st.Args, st.Active = run.Args(), run.Active(maxActive)
	}
	return st
}

// touch notes that the run begins or ends to wait.
func (k *claim) touch() {
	k.memory.mu.Lock()
	defer k.memory.mu.Unlock()
	k.updated = time.Now()
}

// changed lets a run of Start go on that waits.
func (k *claim) changed() {
	k.memory.mu.Lock()
	defer k.memory.mu.Unlock()
	if k.stop != nil {
		select {
		case k.wake <- struct{}{}:
		default:
		}
	}
}

// cancel ends the run if it is under way.
func (k *claim) cancel(why error) {
	k.memory.mu.Lock()
	k.canceled = k.canceled || k.over == nil
	stop := k.stop
	k.memory.mu.Unlock()
	if stop != nil {
		stop(why)
		return
	}
	k.end(why, false)
}

// end ends a run of Do that waits, or that was taken and does not go on.
func (k *claim) end(why error, taken bool) {
	m := k.memory
	m.mu.Lock()
	l := k.run
	if l == nil || k.stop != nil || m.claims[k.id] != k || taken != (k.busy != nil) {
		m.mu.Unlock()
		return
	}
	if taken {
		k.idle()
	} else {
		m.waiting.remove(k.owner.Caller)
	}
	k.run = nil
	m.remove(k)
	m.mu.Unlock()
	l.call.Run.Stop(why)
	l.End(time.Now(), why)
	k.leave()
}

// leave releases the program of a run that is over.
func (k *claim) leave() {
	if k.release != nil {
		k.release()
	}
}

// settle keeps what came of the run for its caller, if there is memory for it.
func (k *claim) settle(c *Call, st *State) {
	m, over := k.memory, *st
	over.Result = st.Result.Apart() // without what else the replies had that it is from
	if st.Err != nil && !errors.Is(st.Err, ErrPanicked) {
		over.Err = &RunError{Failure: graph.FailureFrom(k.program.Failure(c.Info, st.Err)), Text: errorText(st.Err, k.run.call.redactor())}
	}
	defer k.leave()
	m.mu.Lock()
	defer m.mu.Unlock()
	args := k.run.call.Run.Args()
	k.run = nil
	k.idle()
	k.account.Reset(0)
	over.Created, over.Blocks, over.Ending = k.created, k.blocks, k.canceled
	if k.canceled {
		over.Status, over.Result, over.Err = Canceled, value.Undef, nil
	}
	if k.stop != nil {
		m.started.remove(k.owner.Caller)
		over.Kept = k.keep
	} else {
		over.Args = args
	}
	switch {
	case m.claims[k.id] != k:
		if k.stop != nil {
			m.kept.remove(k.owner.Caller)
		}
		k.account.Close()
	case k.keep == 0 || m.closed:
		m.remove(k)
	default:
		m.keep(k, &over)
	}
}

// keep keeps what came of a run; the mutex is held.
func (m *Memory) keep(k *claim, over *State) {
	short := k.account.Grow(overBytes + over.Result.Footprint(maxSize) + over.Args.Footprint(maxSize))
	switch {
	case k.stop != nil:
		if short != nil && over.Err == nil {
			over.Result, over.Status, over.Err = value.Undef, Failed, &graph.Failure{Name: graph.FailBusy, Message: short.Error()}
		}
	case short != nil:
		m.remove(k)
		return
	default:
		if all, _ := m.ended.full(k.owner.Caller); all {
			m.remove(m.oldest(m.ended.most()))
		}
		m.ended.add(k.owner.Caller)
		k.outcome = m.outcomes.PushBack(k)
		k.timer = time.AfterFunc(k.keep, k.forget)
	}
	k.over = over
}

// oldest returns the oldest outcome of a caller that has one; the mutex is held.
func (m *Memory) oldest(caller string) *claim {
	for at := m.outcomes.Front(); ; at = at.Next() {
		if k := at.Value.(*claim); k.owner.Caller == caller {
			return k
		}
	}
}

// forget forgets what is kept of the run for its caller, and ends it if it is a run of
// Start under way.
func (k *claim) forget() {
	k.memory.mu.Lock()
	defer k.memory.mu.Unlock()
	if k.memory.claims[k.id] == k {
		k.memory.remove(k)
		if k.run != nil && k.stop != nil {
			k.stop(errExpired)
		}
	}
}

// remove forgets a claim; the mutex is held. A run of Start that goes on is counted until
// its end.
func (m *Memory) remove(k *claim) {
	delete(m.claims, k.id)
	if k.timer != nil {
		k.timer.Stop()
	}
	if k.outcome != nil {
		m.outcomes.Remove(k.outcome)
		m.ended.remove(k.owner.Caller)
		k.outcome = nil
	}
	if k.run != nil {
		return
	}
	if k.stop != nil {
		m.kept.remove(k.owner.Caller)
	}
	k.account.Close()
}

// Use implements [Place].
func (m *Memory) Use(_ context.Context, w Who, id, asked, given string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.claims[id]
	if k == nil || !w.Owns(k.owner.Caller, k.owner.Check) {
		return ErrNotFound
	}
	all, ok := Used(k.uses, Use{asked, given})
	if k.uses = all; !ok {
		return ErrUsed
	}
	return nil
}

// Waiting returns how many runs of Do wait for answers.
func (m *Memory) Waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waiting.all
}
