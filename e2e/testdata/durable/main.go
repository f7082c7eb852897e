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
		start := ui.DurableStart{ID: fmt.Sprint("old-", n), Tool: "simple", Digest: working.Digest(), Args: args}
		if n == 0 {
			start.Digest = "0123456789abcdef"
		}
		if err := f.Start(ctx, start); err != nil {
			return err
		}
		if _, err := f.runs[0].session.Wait(ctx); err != nil {
			return err
		}
	}
	page := ui.New(ui.Options{Path: path, Engine: shown, Durable: f, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Reload: func() error { return nil }})
	defer page.Close()
	fmt.Println(page.URL(l.Addr()))
	return page.Serve(ctx, l)
}

// fake is a ui.Durable whose runs are sessions of the debugger.
type fake struct {
	life   context.Context
	engine *mcpgraph.Engine

	mu   sync.Mutex
	runs []*run // the newest first
}

type run struct {
	ui.DurableStart
	session   *debug.Session
	cancelled bool
}

var _ ui.Durable = &fake{}

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
	i := slices.IndexFunc(f.runs, func(r *run) bool { return r.ID == id })
	if i < 0 {
		return nil, ui.ErrNoRun
	}
	return f.runs[i], nil
}

func (f *fake) Place() string { return "Temporal at a test" }

func (f *fake) List(_ context.Context, cursor string, count int, running bool) ([]ui.DurableRun, string, error) {
	_, err := f.find("")
	defer f.mu.Unlock()
	if !errors.Is(err, ui.ErrNoRun) {
		return nil, "", err
	}
	from, _ := strconv.Atoi(cursor)
	var list []ui.DurableRun
	for i, r := range f.runs[min(from, len(f.runs)):] {
		if len(list) == count {
			return list, strconv.Itoa(from + i), nil
		}
		if d := r.listed(); !running || d.Ended.IsZero() {
			list = append(list, d)
		}
	}
	return list, "", nil
}

func (r *run) listed() ui.DurableRun {
	s := r.session.State()
	d := ui.DurableRun{ID: r.ID, Tool: r.Tool, Version: r.Digest, State: string(s.Status), Began: s.Began, Ended: s.Ended}
	if r.ID == "old-58" {
		d.Parent = "old-1" // which is not among the first ones of the list
	}
	if r.cancelled && !d.Ended.IsZero() {
		d.State = "cancelled"
	}
	return d
}

func (f *fake) Describe(_ context.Context, id string) (*ui.DurableRun, error) {
	r, err := f.find(id)
	defer f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	d := r.listed()
	if !d.Ended.IsZero() {
		return &d, nil
	}
	if exists("no-worker") {
		return &d, ui.ErrNoWorker
	}
	d.Records, d.Active = r.session.Run().NextIndex(), r.session.State().Active
	for _, a := range d.Active {
		if a.Server != "" {
			progress, _ := value.Parse(`{"progress":2,"total":5,"message":"two of five"}`)
			d.Calls = append(d.Calls, ui.DurableCall{ID: fmt.Sprintf("%s:%d#%d", a.Frame, a.Execution, a.Try), Worker: "worker-1@test", Progress: progress})
		}
	}
	for _, q := range r.session.Questions() {
		d.Questions = append(d.Questions, ui.DurableQuestion{ID: q.ID, Path: q.Path, Method: q.Method, Params: q.Value, Until: q.Until})
	}
	return &d, nil
}

func (f *fake) Request(_ context.Context, id string) (value.Value, uint64, error) {
	r, err := f.find(id)
	defer f.mu.Unlock()
	if err != nil {
		return value.Undef, 0, err
	}
	return r.Args, r.session.Run().Seed(), nil
}

func (f *fake) Records(_ context.Context, id string, from int) ([]value.Value, error) {
	r, err := f.find(id)
	defer f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return texts(r.session.Records(from)), nil
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

func (f *fake) Outcome(ctx context.Context, id string) (*ui.DurableOutcome, error) {
	r, err := f.find(id)
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	v, failed := r.session.Wait(ctx)
	out := &ui.DurableOutcome{Result: v, Records: texts(r.session.Records(0))}
	if failed != nil {
		out.Failure, out.Text = executor.FailureOf(failed), failed.Error()
	}
	return out, nil
}

func (f *fake) Start(_ context.Context, s ui.DurableStart) error {
	if exists("unreachable") {
		return errors.New("connection refused")
	}
	session, err := f.engine.Debug(f.life, s.Tool, s.Args)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runs = slices.Insert(f.runs, 0, &run{DurableStart: s, session: session})
	return nil
}

func (f *fake) Answer(_ context.Context, id, question string, answer value.Value) error {
	r, err := f.find(id)
	f.mu.Unlock()
	if err != nil {
		return err
	}
	if _, err := r.session.Question(question); err != nil {
		return ui.ErrNotAsked
	}
	return r.session.Answer(question, answer)
}

func (f *fake) Cancel(_ context.Context, id string) error {
	r, err := f.find(id)
	defer f.mu.Unlock()
	if err != nil {
		return err
	}
	r.cancelled = true
	return r.session.Stop()
}
