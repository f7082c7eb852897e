package ui

import (
	"context"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// fakeDurable is a place in memory. Tests change its runs with change.
type fakeDurable struct {
	mu      sync.Mutex
	runs    []*fakeRun // the newest first
	down    error
	asked   map[string]int // how often each method was called
	started []*runs.Call
	done    []string // commands
	refuse  error    // of commands
}

// fakeRun is a run. Its records are there in so far as Count says.
type fakeRun struct {
	runs.State
	all      []value.Value
	noWorker bool
}

var _ runs.Place = &fakeDurable{}

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

func (f *fakeDurable) Name() string { return "Temporal at nowhere:7233" }

func (f *fakeDurable) List(_ context.Context, _ runs.Who, filter runs.Filter) iter.Seq2[runs.Summary, error] {
	err := f.enter("List")
	defer f.mu.Unlock()
	var list []runs.Summary
	for _, r := range f.runs {
		if s := r.Summary; filter.Fits(&s) {
			list = append(list, s)
		}
	}
	if filter.Before != "" {
		list = list[1+slices.IndexFunc(list, func(s runs.Summary) bool { return s.ID == filter.Before }):]
	}
	return func(yield func(runs.Summary, error) bool) {
		if err != nil {
			yield(runs.Summary{}, err)
			return
		}
		for _, s := range list {
			if !yield(s, nil) {
				return
			}
		}
	}
}

func (f *fakeDurable) Look(_ context.Context, _ runs.Who, id string, _ runs.Detail) (*runs.State, error) {
	err := f.enter("Look")
	defer f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	r := f.find(id)
	if r == nil {
		return nil, runs.ErrNotFound
	}
	s := r.State
	if r.noWorker && r.Ended.IsZero() {
		return &s, runs.ErrNoWorker
	}
	return &s, nil
}

func (f *fakeDurable) Follow(_ context.Context, _ runs.Who, id string, from int) iter.Seq2[runs.Event, error] {
	err := f.enter("Follow")
	defer f.mu.Unlock()
	r := f.find(id)
	return func(yield func(runs.Event, error) bool) {
		if r == nil || err != nil {
			yield(runs.Event{}, runs.ErrNotFound)
			return
		}
		for {
			f.mu.Lock()
			s := r.State
			var rec value.Value
			if from < s.Count {
				rec = r.all[from]
			}
			f.mu.Unlock()
			switch {
			case !rec.IsUndefined():
				from++
				if !yield(runs.Event{Record: rec}, nil) {
					return
				}
			case s.Status.Over():
				yield(runs.Event{Over: &s}, nil)
				return
			default:
				panic("the page waits for records in a look")
			}
		}
	}
}

func (f *fakeDurable) Do(context.Context, *runs.Call) (*runs.State, error) {
	panic("pages start runs")
}

func (f *fakeDurable) Use(context.Context, runs.Who, string, string, string) error {
	panic("pages answer as operators")
}

func (f *fakeDurable) Start(_ context.Context, call *runs.Call) (*runs.State, error) {
	err := f.enter("Start")
	defer f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	f.started = append(f.started, call)
	run := &fakeRun{State: runs.State{
		Summary: runs.Summary{ID: runs.NewID(), Tool: call.Run.Graph().Name, Version: call.Program.Digest(), Status: runs.Running, Began: time.Now()}, Args: call.Run.Args(), Seed: 7,
	}}
	f.runs = slices.Insert(f.runs, 0, run)
	return &run.State, nil
}

func (f *fakeDurable) Answer(_ context.Context, _ runs.Who, id string, answers []runs.Answer) error {
	return f.command("answer " + id + " " + answers[0].Question + " " + answers[0].Value.JSON())
}

func (f *fakeDurable) Cancel(_ context.Context, _ runs.Who, id string) error {
	return f.command("cancel " + id)
}

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
	return serve(t, text, func(o *Options) { o.Place = f }), f
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
	r := &fakeRun{State: runs.State{
		Summary: runs.Summary{ID: id, Tool: tool, Version: e.Digest(), Status: runs.Completed, Began: now.Add(-time.Second), Ended: now},
		Args:    in, Seed: 7, Err: failed,
	}}
	if failed != nil {
		r.Status = runs.Failed
	} else {
		r.Result = result.Value
	}
	kept := e.Runs().All()[0]
	run, err := kept.Replay()
	if err != nil {
		t.Fatal(err)
	}
	for rec := range run.Records(0) {
		r.all = append(r.all, rec.Value())
	}
	r.Count = len(r.all)
	f.change(func() { f.runs = slices.Insert(f.runs, 0, r) })
	return r
}
