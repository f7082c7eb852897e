package ui

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// fakeDurable is a Durable in memory. Tests change its runs with change.
type fakeDurable struct {
	mu      sync.Mutex
	runs    []*fakeRun // the newest first
	down    error
	asked   map[string]int // how often each method was called
	started []DurableStart
	done    []string // commands
	refuse  error    // of commands
}

// fakeRun is a run. Its records are there in so far as Records says.
type fakeRun struct {
	DurableRun
	args     value.Value
	all      []value.Value
	outcome  *DurableOutcome
	noWorker bool
}

var _ Durable = &fakeDurable{}

func (f *fakeDurable) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

// enter counts a call; unlock ends it.
func (f *fakeDurable) enter(method string) error {
	f.mu.Lock()
	if f.asked == nil {
		f.asked = map[string]int{}
	}
	f.asked[method]++
	return f.down
}

func (f *fakeDurable) find(id string) *fakeRun {
	for _, r := range f.runs {
		if r.ID == id {
			return r
		}
	}
	return nil
}

func (f *fakeDurable) count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[method]
}

func (f *fakeDurable) Place() string { return "Temporal at nowhere:7233" }

func (f *fakeDurable) List(_ context.Context, cursor string, count int, running bool) ([]DurableRun, string, error) {
	err := f.enter("List")
	defer f.mu.Unlock()
	if err != nil {
		return nil, "", err
	}
	from, err := strconv.Atoi("0" + cursor)
	if err != nil {
		return nil, "", errors.New("the cursor is none")
	}
	var list []DurableRun
	for i := from; i < len(f.runs); i++ {
		if len(list) == count {
			return list, strconv.Itoa(i), nil
		}
		if r := f.runs[i]; !running || r.Ended.IsZero() {
			d := r.DurableRun
			d.Active, d.Questions, d.Calls, d.Records = nil, nil, nil, 0
			list = append(list, d)
		}
	}
	return list, "", nil
}

func (f *fakeDurable) Describe(_ context.Context, id string) (*DurableRun, error) {
	err := f.enter("Describe")
	defer f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	r := f.find(id)
	if r == nil {
		return nil, ErrNoRun
	}
	d := r.DurableRun
	if r.noWorker && r.Ended.IsZero() {
		return &d, ErrNoWorker
	}
	return &d, nil
}

func (f *fakeDurable) Request(_ context.Context, id string) (value.Value, uint64, error) {
	err := f.enter("Request")
	defer f.mu.Unlock()
	if r := f.find(id); r != nil {
		return r.args, 7, err
	}
	return value.Undef, 0, ErrNoRun
}

func (f *fakeDurable) Records(_ context.Context, id string, from int) ([]value.Value, error) {
	err := f.enter("Records")
	defer f.mu.Unlock()
	r := f.find(id)
	if r == nil || err != nil {
		return nil, ErrNoRun
	}
	if from >= r.DurableRun.Records {
		return nil, nil
	}
	return r.all[from:min(from+2, r.DurableRun.Records)], nil // some at a time
}

func (f *fakeDurable) Outcome(_ context.Context, id string) (*DurableOutcome, error) {
	err := f.enter("Outcome")
	defer f.mu.Unlock()
	if r := f.find(id); r != nil {
		return r.outcome, err
	}
	return nil, ErrNoRun
}

func (f *fakeDurable) Start(_ context.Context, s DurableStart) error {
	err := f.enter("Start")
	defer f.mu.Unlock()
	if err == nil {
		f.started = append(f.started, s)
		run := &fakeRun{DurableRun: DurableRun{ID: s.ID, Tool: s.Tool, Version: s.Digest, State: "running", Began: time.Now()}, args: s.Args}
		f.runs = slices.Insert(f.runs, 0, run)
	}
	return err
}

func (f *fakeDurable) Answer(_ context.Context, id, question string, answer value.Value) error {
	return f.command("answer " + id + " " + question + " " + answer.JSON())
}

func (f *fakeDurable) Cancel(_ context.Context, id string) error { return f.command("cancel " + id) }

func (f *fakeDurable) command(what string) error {
	err := f.enter("command")
	defer f.mu.Unlock()
	if err == nil {
		err = f.refuse
	}
	if err == nil {
		f.done = append(f.done, what)
	}
	return err
}

// withDurable serves a page with durable runs.
func withDurable(t *testing.T, text string) (*served, *fakeDurable) {
	t.Helper()
	f := &fakeDurable{}
	return serve(t, text, func(o *Options) { o.Durable = f }), f
}

// ran adds a run of a tool that has ended, with the records that it has in this process.
func (f *fakeDurable) ran(t *testing.T, e *mcpgraph.Engine, id, tool, args string) *fakeRun {
	t.Helper()
	in, err := value.Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	answer := func(context.Context, executor.Question) (value.Value, error) {
		return value.Parse(`{"action":"accept","content":{"a":"x"}}`)
	}
	result, failed := e.Call(t.Context(), tool, in, mcpgraph.WithAsk(answer))
	now := time.Now()
	r := &fakeRun{
		DurableRun: DurableRun{ID: id, Tool: tool, Version: e.Digest(), State: "done", Began: now.Add(-time.Second), Ended: now},
		args:       in, outcome: &DurableOutcome{},
	}
	if failed != nil {
		r.State, r.outcome.Text = "failed", failed.Error()
	} else {
		r.outcome.Result = result.Value
	}
	kept := e.Runs().All()[0]
	run, err := kept.Replay()
	if err != nil {
		t.Fatal(err)
	}
	for rec := range run.Records(0) {
		r.all = append(r.all, rec.Value())
	}
	r.Records, r.outcome.Records = len(r.all), r.all
	f.change(func() { f.runs = slices.Insert(f.runs, 0, r) })
	return r
}
