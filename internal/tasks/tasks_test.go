package tasks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var ann, bob = &callinfo.Info{Caller: "ann"}, &callinfo.Info{Caller: "bob"}

func newStore() *Store { return New(nil, slog.New(slog.DiscardHandler)) }

func parse(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// state returns the status of ann's task and what it asks.
func state(t *testing.T, s *Store, id string) string {
	t.Helper()
	synctest.Wait()
	task, err := s.Get(t.Context(), ann, id)
	if err != nil {
		return "unknown"
	}
	text := string(task.Status)
	if !task.Requests.IsUndefined() {
		text += " " + task.Requests.JSON()
	}
	if task.Status.Over() && task.Status != server.TaskCancelled {
		text += fmt.Sprintf(" %s %v", task.Value.JSON(), task.Err)
	}
	return text
}

func TestTaskAsksAndEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		defer s.Close()
		questions := parse(t, `{"a":1,"b":2}`)
		task, err := s.Start(t.Context(), "ann", 0, true, func(ctx context.Context, task *Task) (value.Value, error) {
			time.Sleep(time.Second)
			given := task.Ask(ctx, questions, time.Now().Add(time.Minute))
			time.Sleep(time.Second)
			return value.FromString(given["a"].JSON() + given["b"].JSON()), nil
		})
		if err != nil || task.Status != server.TaskWorking || !task.Blocks || task.TTL != TTL {
			t.Fatalf("%+v, %v", task, err)
		}
		want := func(what, want string) {
			t.Helper()
			if got := state(t, s, task.ID); got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		want("at the start", "working")
		if _ = s.Update(t.Context(), ann, task.ID, parse(t, `{"a":9}`)); state(t, s, task.ID) != "working" {
			t.Error("an answer came before its question")
		}
		time.Sleep(time.Second)
		want("asked", `input_required {"a":1,"b":2}`)
		for _, err := range []error{
			s.Update(t.Context(), bob, task.ID, questions), s.Cancel(t.Context(), bob, task.ID), s.Update(t.Context(), ann, "x", questions), s.Cancel(t.Context(), ann, "x"),
		} {
			if !errors.Is(err, server.ErrUnknownTask) {
				t.Errorf("another caller, or another id, has the task: %v", err)
			}
		}
		if _, err := s.Get(t.Context(), bob, task.ID); !errors.Is(err, server.ErrUnknownTask) {
			t.Error("another caller sees the task")
		}
		_ = s.Update(t.Context(), ann, task.ID, parse(t, `{"a":"x","c":1}`))
		want("half answered", `input_required {"b":2}`)
		refused := new(server.InvalidParamsError)
		err = s.Update(t.Context(), ann, task.ID, parse(t, `{"a":"y","b":"`+strings.Repeat("z", MaxInput)+`"}`))
		if !errors.As(err, &refused) || refused.Message != "inputResponses have 1048593 bytes; at most 1048576 are accepted" {
			t.Errorf("a long answer: %v", err)
		}
		want("a long answer", `input_required {"b":2}`)
		_ = s.Update(t.Context(), ann, task.ID, parse(t, `{"a":"y","b":"z"}`))
		want("answered", "working")
		time.Sleep(time.Second)
		want("at the end", `completed "\"x\"\"z\"" <nil>`)
		_ = s.Cancel(t.Context(), ann, task.ID)
		_ = s.Update(t.Context(), ann, task.ID, questions)
		want("after the end", `completed "\"x\"\"z\"" <nil>`)
		time.Sleep(TTL - 4*time.Second)
		want("before its time is over", `completed "\"x\"\"z\"" <nil>`)
		time.Sleep(2 * time.Second)
		want("after it", "unknown")
		if len(s.tasks) != 0 || len(s.perCaller) != 0 || s.all != (count{}) {
			t.Errorf("something is left: %v, %v, %v", s.tasks, s.perCaller, s.all)
		}
	})
}

func TestAnswersWithoutMemoryAreRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(memory.New(memory.MinLimit), slog.New(slog.DiscardHandler))
		defer s.Close()
		questions := parse(t, `{"a":1,"b":2}`)
		task, err := s.Start(t.Context(), "ann", 0, true, func(ctx context.Context, task *Task) (value.Value, error) {
			given := task.Ask(ctx, questions, time.Now().Add(time.Minute))
			return value.FromString(given["a"].JSON() + given["b"].JSON()), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		other := s.budget.Account("ann")
		for other.TryGrow(64 << 10) {
		}
		full := new(graph.Failure)
		err = s.Update(t.Context(), ann, task.ID, parse(t, `{"a":"x","b":"`+strings.Repeat("z", MaxInput/2)+`"}`))
		if !errors.As(err, &full) || full.Name != graph.FailBusy {
			t.Errorf("there is no memory: %v", err)
		}
		if got := state(t, s, task.ID); got != `input_required {"a":1,"b":2}` {
			t.Errorf("some is kept: %s", got)
		}
		other.Close()
		if err := s.Update(t.Context(), ann, task.ID, parse(t, `{"a":"x","b":"y"}`)); err != nil {
			t.Error(err)
		}
		if got := state(t, s, task.ID); got != `completed "\"x\"\"y\"" <nil>` {
			t.Error(got)
		}
	})
}

func TestCallsOfTasksDrawOnTheMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(memory.New(memory.MinLimit), slog.New(slog.DiscardHandler))
		defer s.Close()
		run := func(ctx context.Context, _ *Task) (value.Value, error) {
			<-ctx.Done()
			return value.Undef, nil
		}
		started := 0
		for ; started < MaxPerCaller; started++ {
			full := new(graph.Failure)
			if _, err := s.Start(t.Context(), "ann", 1<<20, false, run); errors.As(err, &full) && full.Name == graph.FailBusy {
				break
			}
		}
		if held := s.budget.Held(); started == MaxPerCaller || started == 0 || held < int64(started)<<20 {
			t.Errorf("%d tasks that hold 1 MiB each count %d bytes", started, held)
		}
	})
}

func TestQuestionsOfATaskEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		defer s.Close()
		task, _ := s.Start(t.Context(), "ann", 0, false, func(ctx context.Context, task *Task) (value.Value, error) {
			given := task.Ask(ctx, parse(t, `{"a":1,"b":2}`), time.Now().Add(time.Minute))
			return value.FromInt(int64(len(given))), nil
		})
		synctest.Wait()
		_ = s.Update(t.Context(), ann, task.ID, parse(t, `{"b":2}`))
		time.Sleep(2 * time.Minute)
		if got := state(t, s, task.ID); got != "completed 1 <nil>" {
			t.Error(got)
		}
	})
}

func TestTasksEndEarly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		var causes []error
		hang := func(ctx context.Context, _ *Task) (value.Value, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			causes = append(causes, context.Cause(ctx))
			return value.True, nil
		}
		wait := func(ctx context.Context, task *Task) (value.Value, error) {
			task.Ask(ctx, value.FromEntries([]value.Entry{{Key: "a", Value: value.True}}), time.Now().Add(2*TTL))
			return hang(ctx, task)
		}
		over := func(context.Context, *Task) (value.Value, error) { panic("told to") }
		parent, gone := context.WithCancel(t.Context())
		var ids []string
		for _, run := range []RunFunc{hang, wait, over} {
			task, err := s.Start(parent, "ann", 0, false, run)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, task.ID)
		}
		gone() // the request is answered
		time.Sleep(time.Second)
		if got := state(t, s, ids[0]); got != "working" {
			t.Errorf("after its request: %s", got)
		}
		if got := state(t, s, ids[2]); got != "failed null internal error" {
			t.Errorf("after a panic: %s", got)
		}
		_ = s.Cancel(t.Context(), ann, ids[0])
		if got := state(t, s, ids[0]); got != "cancelled" {
			t.Errorf("cancelled: %s", got)
		}
		time.Sleep(TTL + time.Minute)
		if got := state(t, s, ids[1]); got != "unknown" {
			t.Errorf("after its time: %s", got)
		}
		if _, err := s.Start(t.Context(), "ann", 0, false, wait); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.Close()
		if _, err := s.Start(t.Context(), "ann", 0, false, wait); err == nil {
			t.Error("a task began after the end")
		}
		if len(causes) != 3 || !errors.Is(causes[0], ErrCancelled) || !errors.Is(causes[1], ErrExpired) || !errors.Is(causes[2], errClosed) {
			t.Errorf("causes %v", causes)
		}
		if len(s.tasks) != 0 || len(s.perCaller) != 0 || s.all != (count{}) {
			t.Errorf("something is left: %v, %v, %v", s.tasks, s.perCaller, s.all)
		}
	})
}

func TestTasksAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		defer s.Close()
		hang := func(ctx context.Context, _ *Task) (value.Value, error) { <-ctx.Done(); return value.True, nil }
		end := func(context.Context, *Task) (value.Value, error) { return value.True, nil }
		start := func(caller string, run RunFunc) error {
			defer synctest.Wait()
			_, err := s.Start(t.Context(), caller, 0, false, run)
			return err
		}
		many := func(caller string, run RunFunc) (n int) {
			for start(caller, run) == nil {
				n++
			}
			return n
		}
		if n := many("ann", hang); n != MaxPerCaller {
			t.Errorf("ann has %d tasks under way", n)
		}
		if n := many("bob", end); n != MaxKeptPerCaller {
			t.Errorf("bob has %d tasks", n)
		}
		if err := start("bob", end); err == nil || !strings.Contains(err.Error(), "1000 tasks of this caller are kept, each for 1h0m0s") {
			t.Error(err)
		}
		others := 0
		for i := range 20 {
			others += many(fmt.Sprint(i), hang)
		}
		if others+MaxPerCaller != MaxTasks {
			t.Errorf("%d tasks under way", others+MaxPerCaller)
		}
		time.Sleep(TTL + time.Second)
		synctest.Wait()
		if s.Len() != 0 || start("ann", end) != nil {
			t.Errorf("%d tasks are left", s.Len())
		}
	})
}

// A result that is a part of a long reply keeps nothing else of it.
func TestResultsKeepNoReplies(t *testing.T) {
	const tasks, padding = 8, 4 << 20
	s := newStore()
	defer s.Close()
	before := testscale.Heap()
	for range tasks {
		started, err := s.Start(t.Context(), "ann", 0, false, func(context.Context, *Task) (value.Value, error) {
			reply, err := value.ParseLazy(`{"part":{"text":"` + strings.Repeat("y", 1000) + `"},"other":"` + strings.Repeat("x", padding) + `"}`)
			return reply.Get("part"), err
		})
		if err != nil {
			t.Fatal(err)
		}
		for {
			if task, _ := s.Get(t.Context(), ann, started.ID); task.Status == server.TaskCompleted {
				break
			}
			runtime.Gosched()
		}
	}
	if held := testscale.Heap() - before; held > padding {
		t.Errorf("%d results of 1000 bytes hold %d bytes", tasks, held)
	}
}
