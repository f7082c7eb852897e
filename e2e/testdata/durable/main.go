// Command durable serves the page of a file with durable runs that live in this
// process, so that the browser tests need no Temporal. A file called unreachable or
// no-worker in the working folder makes what its name says happen.
package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/ui"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := serve(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, path string) error {
	shown, err := mcpgraph.Load(path)
	if err != nil {
		return err
	}
	defer shown.Close()
	// The page must not know the runs of the one that works.
	working, err := mcpgraph.Load(path)
	if err != nil {
		return err
	}
	defer working.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	f := &fake{life: ctx, engine: working}
	// Runs of the past: of this version of the file and of another one.
	for n := range 60 {
		args, _ := value.Parse(`{"n":` + strconv.Itoa(n) + `}`)
		version := working.Digest()
		if n == 0 {
			version = "0123456789abcdef"
		}
		if err := f.start(fmt.Sprint("old-", n), "simple", version, args); err != nil {
			return err
		}
		if _, err := f.runs[0].session.Wait(ctx); err != nil {
			return err
		}
	}
	page := ui.New(ui.Options{Path: path, Engine: shown, Place: f, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Reload: func() error { return nil }})
	defer page.Close()
	fmt.Println(page.URL(l.Addr()))
	return page.Serve(ctx, l)
}

// fake is a place whose runs are sessions of the debugger.
type fake struct {
	life   context.Context
	engine *mcpgraph.Engine

	mu   sync.Mutex
	runs []*run // the newest first
}

type run struct {
	id, tool, version string
	args              value.Value
	session           *debug.Session
	cancelled         bool
}

var _ runs.Place = &fake{}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// find returns a run, with f.mu locked in any case.
func (f *fake) find(id string) (*run, error) {
	f.mu.Lock()
	if exists("unreachable") {
		return nil, errors.New("connection refused")
	}
	i := slices.IndexFunc(f.runs, func(r *run) bool { return r.id == id })
	if i < 0 {
		return nil, runs.ErrNotFound
	}
	return f.runs[i], nil
}

func (f *fake) Name() string { return "Temporal at a test" }

func (f *fake) List(_ context.Context, _ runs.Who, filter runs.Filter) iter.Seq2[runs.Summary, error] {
	_, err := f.find("")
	defer f.mu.Unlock()
	if !errors.Is(err, runs.ErrNotFound) {
		return func(yield func(runs.Summary, error) bool) { yield(runs.Summary{}, err) }
	}
	all, passed := slices.Clone(f.runs), filter.Before == ""
	return func(yield func(runs.Summary, error) bool) {
		for _, r := range all {
			if s := r.listed(); passed && filter.Fits(&s) && !yield(s, nil) {
				return
			}
			passed = passed || r.id == filter.Before
		}
	}
}

// phases are those of the states of sessions.
var phases = map[debug.Status]runs.Phase{
	"running": runs.Running, "paused": runs.Running, "waiting": runs.Waiting, "done": runs.Completed, "failed": runs.Failed,
	"stopped": runs.Terminated, "cancelled": runs.Canceled,
}

func (r *run) listed() runs.Summary {
	s := r.session.State()
	d := runs.Summary{ID: r.id, Tool: r.tool, Version: r.version, Status: phases[s.Status], Began: s.Began, Ended: s.Ended}
	if r.id == "old-58" {
		d.Parent = "old-1" // which is not among the first ones of the list
	}
	if r.cancelled && !d.Ended.IsZero() {
		d.Status = runs.Canceled
	}
	return d
}

func (f *fake) Look(ctx context.Context, _ runs.Who, id string, _ runs.Detail) (*runs.State, error) {
	r, err := f.find(id)
	defer f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	d := &runs.State{Summary: r.listed(), Args: r.args, Seed: r.session.Run().Seed()}
	if d.Status.Over() {
		d.Result, d.Err = r.session.Wait(ctx)
		return d, nil
	}
	if exists("no-worker") {
		return d, runs.ErrNoWorker
	}
	d.Count, d.Active = r.session.Run().NextIndex(), r.session.State().Active
	for _, a := range d.Active {
		if a.Server != "" {
			progress, _ := value.Parse(`{"progress":2,"total":5,"message":"two of five"}`)
			d.Calls = append(d.Calls, runs.Upstream{ID: fmt.Sprintf("%s:%d#%d", a.Frame, a.Execution, a.Try), Worker: "worker-1@test", Progress: progress})
		}
	}
	for _, q := range r.session.Questions() {
		d.Questions = append(d.Questions, runs.QuestionOf(q))
	}
	return d, nil
}

func (f *fake) Follow(ctx context.Context, w runs.Who, id string, from int) iter.Seq2[runs.Event, error] {
	return func(yield func(runs.Event, error) bool) {
		r, err := f.find(id)
		f.mu.Unlock()
		if err != nil {
			yield(runs.Event{}, err)
			return
		}
		for _, v := range texts(r.session.Records(from)) {
			if !yield(runs.Event{Record: v}, nil) {
				return
			}
		}
		if s, err := f.Look(ctx, w, id, runs.Whole); err != nil || s.Status.Over() {
			yield(runs.Event{Over: s}, err)
		}
	}
}

// texts returns records as they come over a wire.
func texts(records iter.Seq[executor.Record]) []value.Value {
	list := []value.Value{}
	for rec := range records {
		v, _ := value.Parse(rec.Value().JSON())
		list = append(list, v)
	}
	return list
}

func (f *fake) Do(context.Context, *runs.Call) (*runs.State, error) {
	return nil, errors.ErrUnsupported // pages start runs
}

func (f *fake) Use(context.Context, runs.Who, string, string, string) error {
	return errors.ErrUnsupported // pages answer as operators
}

func (f *fake) Start(ctx context.Context, call *runs.Call) (*runs.State, error) {
	id := runs.NewID()
	if err := f.start(id, call.Run.Graph().Name, call.Program.Digest(), call.Run.Args()); err != nil {
		return nil, err
	}
	return f.Look(ctx, runs.Who{Operator: true}, id, runs.Brief)
}

func (f *fake) start(id, tool, version string, args value.Value) error {
	if exists("unreachable") {
		return errors.New("connection refused")
	}
	session, err := f.engine.Debug(f.life, tool, args)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runs = slices.Insert(f.runs, 0, &run{id: id, tool: tool, version: version, args: args, session: session})
	return nil
}

func (f *fake) Answer(_ context.Context, _ runs.Who, id string, answers []runs.Answer) error {
	r, err := f.find(id)
	f.mu.Unlock()
	if err != nil {
		return err
	}
	if _, err := r.session.Question(answers[0].Question); err != nil {
		return runs.ErrNotAsked
	}
	return r.session.Answer(answers[0].Question, answers[0].Value)
}

func (f *fake) Cancel(_ context.Context, _ runs.Who, id string) error {
	r, err := f.find(id)
	defer f.mu.Unlock()
	if err != nil {
		return err
	}
	r.cancelled = true
	return r.session.Stop()
}
