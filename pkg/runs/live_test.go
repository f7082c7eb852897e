package runs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestRunUnderWayIsReadAsItIsNow(t *testing.T) {
	store := runs.New(runs.Limits{})
	e := engine(t, store)
	secrets := []string{"first-secret", "[redacted]"}
	redactor := func(text string) string { return strings.NewReplacer(secrets...).Replace(text) }
	g, err := e.Graph("count")
	if err != nil {
		t.Fatal(err)
	}
	args, err := value.ParseLazy(`{"n":1,"a":"first-secret","b":"second-secret \"quoted\"","long":"` + strings.Repeat("x", 2000) + `"}`)
	if err != nil {
		t.Fatal(err)
	}
	r := executor.NewRun(g, args, 1)
	live := store.Begin(runs.Entry{Run: r, Caller: "ann", Began: time.Now(), Secrets: redacting(redactor)})
	run := store.List("ann")[0]
	if !run.Running || run.Executions != 0 || len(store.List("bob")) != 0 {
		t.Fatalf("%+v", run)
	}
	if _, ok := store.Get("bob", run.ID); ok {
		t.Error("another caller reads it")
	}
	show := func() value.Value {
		t.Helper()
		text, err := run.JSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		return parse(t, text)
	}
	if v := show(); v.Get("status").Str() != "running" || v.Get("arguments").Get("a").Str() != "[redacted]" || v.Get("history").Len() != 0 ||
		v.Get("active").JSON() != `[{"path":"entry","type":"entry","state":"ready"}]` {
		t.Errorf("before it begins it is %s", v.JSON())
	}
	secrets = append(secrets, "second-secret", "[redacted]") // it meets another one
	reading := make(chan error)
	var during value.Value
	_, err = driven(r, func() {
		during = show()
		go func() { // readers do not disturb it
			for range 100 {
				if _, err := run.Replay(); err != nil {
					reading <- err
				}
			}
			reading <- nil
		}()
	})
	live.End(time.Now(), err)
	if err := <-reading; err != nil {
		t.Error(err)
	}
	if during.Get("history").Len() == 0 || strings.Contains(during.JSON(), "second-secret") || during.Get("active").Elems()[0].Get("state").Str() != "running" {
		t.Errorf("under way it is %s", during.JSON())
	}
	kept, ok := store.Get("ann", run.ID)
	if !ok || kept.Running || kept.Ended.IsZero() || len(store.List("ann")) != 1 {
		t.Fatalf("at its end it is %+v", kept)
	}
	text, err := kept.JSON(nil)
	if err != nil || strings.Contains(text, "secret") || !strings.Contains(text, `"status":"ok"`) {
		t.Errorf("%v: %s", err, text)
	}
}

// driven drives a run by hand to its end; in the midst of it f is called.
func driven(r *executor.Run, f func()) (value.Value, error) {
	r.Begin(time.Now())
	for {
		task, ok := r.Take()
		if !ok {
			return r.Result(), r.Err()
		}
		if task.Node().ID == "ask" {
			f()
		}
		a, err := task.Begin(context.Background())
		o := executor.Outcome{Err: err, End: time.Now()}
		if err == nil {
			o.Output, o.Err = task.End(context.Background(), a, a.Value)
		}
		if _, err := r.Settle(context.Background(), task, o); err != nil {
			return value.Undef, err
		}
		r.Release(task)
	}
}

// What is known of runs under way does not grow with them, and reading them counts
// on the account of the reader.
func TestRunsUnderWayOfManyCallersAreBounded(t *testing.T) {
	const callers, each = 50, 20
	budget := memory.New(memory.MinLimit)
	store := runs.New(runs.Limits{Memory: budget})
	e := engine(t, runs.New(runs.Limits{Count: runs.None}))
	var (
		mu    sync.Mutex
		lives []*runs.Live
		wait  sync.WaitGroup
	)
	for i := range callers {
		wait.Go(func() {
			for range each {
				l := store.Begin(called(t, e, fmt.Sprint(i), 8<<10))
				mu.Lock()
				lives = append(lives, l)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if held := budget.Held(); held > callers*each*300 {
		t.Errorf("%d runs under way hold %d bytes", callers*each, held)
	}
	for i := range callers {
		if list := store.List(fmt.Sprint(i)); len(list) != each || !list[0].Running {
			t.Fatalf("caller %d has %d runs", i, len(list))
		}
	}
	reader := budget.Account("reader")
	before := budget.Held()
	run := store.List("7")[0]
	text, err := run.JSON(reader)
	if err != nil || budget.Held()-before < int64(len(text)) {
		t.Errorf("%v: reading %d bytes counts %d", err, len(text), budget.Held()-before)
	}
	for reader.Grow(64<<10) == nil {
	}
	var refused *memory.Error
	if _, err := run.JSON(reader); !errors.As(err, &refused) {
		t.Errorf("without memory the run is read: %v", err)
	}
	reader.Close()
	for _, l := range lives {
		wait.Go(func() { l.End(time.Now(), nil) })
	}
	wait.Wait()
	if held := budget.Held(); held > 2<<20+16<<10 { // a 32nd of the limit, and what an account has not yet booked
		t.Errorf("the runs that are kept hold %d bytes", held)
	}
	kept := 0
	for i := range callers {
		for _, r := range store.List(fmt.Sprint(i)) {
			if r.Running {
				t.Fatal("a run that is over is still under way")
			}
			kept++
		}
	}
	if kept == 0 || kept > runs.DefaultCount {
		t.Errorf("%d runs are kept", kept)
	}
}

func TestStoreForNoRunsKnowsNoneUnderWay(t *testing.T) {
	store := runs.New(runs.Limits{Count: runs.None})
	l := store.Begin(called(t, engine(t, store), "", 1))
	if len(store.List("")) != 0 {
		t.Error("it knows one")
	}
	l.End(time.Now(), nil)
	if len(store.List("")) != 0 {
		t.Error("it keeps one")
	}
}
