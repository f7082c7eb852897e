package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/placetest"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestTheRunsOfThisProcessAreAPlace(t *testing.T) {
	e, err := New(context.Background(), "tools.yaml", Options{
		Getenv: func(string) (string, bool) { return "", false }, Log: slog.New(slog.DiscardHandler), Runs: runs.New(runs.Limits{}),
		Read: func(string) ([]byte, error) { return []byte(placetest.File), nil },
		Lock: LockOptions{Mode: lock.Off},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	placetest.Run(t, e.Local(), e.Current())
}

// bench is a place of this process with the tools of the checks, in a bubble of virtual
// time.
type bench struct {
	*testing.T
	*Engine
}

func newBench(t *testing.T, budget *memory.Budget, hooks ...executor.Hooks) *bench {
	t.Helper()
	e, err := New(context.Background(), "tools.yaml", Options{
		Getenv: func(string) (string, bool) { return "", false }, Log: slog.New(slog.DiscardHandler), Runs: runs.New(runs.Limits{}),
		Read: func(string) ([]byte, error) { return []byte(placetest.File), nil },
		Lock: LockOptions{Mode: lock.Off}, Memory: budget, Hooks: hooks,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t, e}
}

func (b *bench) do(caller string) (string, error) {
	b.Helper()
	result, err := b.Current().Call(b.Context(), &callinfo.Info{Caller: caller}, "asks", nil, CallOptions{
		Park: true, Claim: &runs.Claim{Check: "check", Keep: time.Minute},
	})
	if errors.Is(err, executor.ErrParked) {
		return result.State.ID, nil
	}
	return "", err
}

func (b *bench) start(caller, tool string) (string, error) {
	b.Helper()
	st, err := b.Current().Begin(b.Context(), &callinfo.Info{Caller: caller}, "", tool, nil, CallOptions{
		Claim: &runs.Claim{Check: "check", Keep: time.Hour},
	})
	synctest.Wait()
	if err != nil {
		return "", err
	}
	return st.ID, nil
}

// state returns how a run is for its caller.
func (b *bench) state(caller, id string) string {
	b.Helper()
	synctest.Wait()
	st, err := b.Local().Look(b.Context(), runs.Who{Caller: caller, Check: "check"}, id, runs.Status)
	switch {
	case errors.Is(err, runs.ErrNotFound):
		return "unknown"
	case err != nil:
		b.Fatal(err)
	case st.Err != nil:
		return fmt.Sprint(st.Status, " ", st.Err)
	case st.Status.Over():
		return fmt.Sprint(st.Status, " ", st.Result.JSON())
	}
	return string(st.Status)
}

// many counts how often something can be begun.
func many(begin func() error) (n int, why error) {
	for {
		if why = begin(); why != nil {
			return n, why
		}
		n++
	}
}

func isBusy(err error) bool {
	var f *graph.Failure
	return errors.As(err, &f) && f.Name == graph.FailBusy
}

func TestRunsThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		waits := func(caller string) func() error {
			return func() error { _, err := b.do(caller); return err }
		}
		if n, why := many(waits("ann")); n != runs.MaxWaitingPerCaller || !isBusy(why) {
			t.Errorf("%d runs of ann wait: %v", n, why)
		}
		others := 0
		for i := range 20 {
			n, why := many(waits(fmt.Sprint(i)))
			if others += n; !isBusy(why) {
				t.Error(why)
			}
		}
		if all := others + runs.MaxWaitingPerCaller; all != runs.MaxWaiting || b.Local().Waiting() != all {
			t.Errorf("%d runs wait, %d are counted", all, b.Local().Waiting())
		}
		time.Sleep(time.Hour) // nobody answers
		synctest.Wait()
		if n := b.Local().Waiting(); n != 0 {
			t.Errorf("%d runs wait after their time", n)
		}
		id, err := b.do("ann")
		if err != nil {
			t.Fatal(err)
		}
		_ = b.Close()
		if got := b.state("ann", id); got != "unknown" || b.Local().Waiting() != 0 {
			t.Errorf("after the end it is %s", got)
		}
		if _, err := b.do("ann"); !isBusy(err) {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestStartedRunsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		starts := func(caller, tool string) func() error {
			return func() error { _, err := b.start(caller, tool); return err }
		}
		if n, why := many(starts("ann", "asks")); n != runs.MaxStartedPerCaller || !isBusy(why) {
			t.Errorf("%d runs of ann are under way: %v", n, why)
		}
		if n, why := many(starts("bob", "says")); n != runs.MaxKeptPerCaller || !isBusy(why) {
			t.Errorf("%d runs of bob are kept: %v", n, why)
		}
		others := 0
		for i := range 20 {
			n, _ := many(starts(fmt.Sprint(i), "asks"))
			others += n
		}
		if others+runs.MaxStartedPerCaller != runs.MaxStarted {
			t.Errorf("%d runs are under way", others+runs.MaxStartedPerCaller)
		}
		time.Sleep(time.Hour + time.Second)
		synctest.Wait()
		for _, caller := range []string{"ann", "bob"} {
			if _, err := b.start(caller, "says"); err != nil {
				t.Errorf("an hour later: %v", err)
			}
		}
		id, err := b.start("ann", "asks")
		if err != nil {
			t.Fatal(err)
		}
		_ = b.Close()
		if got := b.state("ann", id); got != "unknown" {
			t.Errorf("after the end it is %s", got)
		}
		if _, err := b.start("ann", "asks"); !isBusy(err) {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestWhatCameOfRunsIsKeptForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, memory.New(1<<30))
		defer b.Close()
		waiting, err := b.do("ann")
		started, err2 := b.start("ann", "says")
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		answer, _ := value.Parse(`{"action":"accept","content":{"why":"so"}}`)
		st, err := b.Local().Look(t.Context(), runs.Who{Caller: "ann", Check: "check"}, waiting, runs.Status)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Local().Answer(t.Context(), runs.Who{Caller: "ann", Check: "check"}, waiting, []runs.Answer{{Question: st.Questions[0].ID, Value: answer}}); err != nil {
			t.Fatal(err)
		}
		o := CallOptions{Park: true, Claim: &runs.Claim{Check: "check"}}
		var wait sync.WaitGroup
		for range 3 { // the same call again gets the same result
			wait.Go(func() {
				result, err := b.Current().Resume(t.Context(), &callinfo.Info{Caller: "ann"}, waiting, o)
				if err != nil || result.Value.JSON() != `{"why":"so"}` {
					t.Errorf("%+v, %v", result, err)
				}
			})
		}
		wait.Wait()
		time.Sleep(time.Minute - time.Second)
		if got := b.state("ann", waiting); got != `completed {"why":"so"}` {
			t.Errorf("after a while the call is %s", got)
		}
		time.Sleep(2 * time.Second)
		if got := b.state("ann", waiting); got != "unknown" {
			t.Errorf("after a minute the call is %s", got)
		}
		if got := b.state("ann", started); got != "completed {}" {
			t.Errorf("after a minute the task is %s", got)
		}
		time.Sleep(time.Hour)
		if got := b.state("ann", started); got != "unknown" {
			t.Errorf("after an hour the task is %s", got)
		}
	})
}

func TestRunsWithoutMemoryAreRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budget := memory.New(memory.MinLimit)
		b := newBench(t, budget)
		defer b.Close()
		const part = 256 << 10
		var others []*memory.Account
		for range memory.MinLimit / 2 / part { // others hold everything
			others = append(others, budget.Account(""))
			if err := others[len(others)-1].Grow(part); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.start("ann", "asks"); !isBusy(err) && !errors.As(err, new(*executor.InterruptedError)) {
			t.Errorf("a task: %v", err)
		}
		if id, err := b.do("ann"); err == nil {
			t.Errorf("run %s waits", id)
		}
		for _, other := range others {
			other.Close()
		}
		if id, err := b.start("ann", "says"); err != nil || b.state("ann", id) != "completed {}" {
			t.Errorf("when there is memory again: %v", err)
		}
	})
}

func TestAPanicEndsItsRunAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil, executor.Hooks{RunDone: func(_ context.Context, r *executor.Run, _ error) {
			if r.Graph().Name == "says" {
				panic("told to")
			}
		}})
		defer b.Close()
		id, err := b.start("ann", "says")
		if err != nil {
			t.Fatal(err)
		}
		if got := b.state("ann", id); got != "failed "+runs.ErrPanicked.Error() {
			t.Errorf("it is %s", got)
		}
		if id, err := b.start("ann", "fails"); err != nil || b.state("ann", id) != "failed no luck" {
			t.Errorf("another one is %s, %v", b.state("ann", id), err)
		}
	})
}
