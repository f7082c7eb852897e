package runs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const config = `
version: "1.0"
server: {name: t, version: "1"}
executionLimits: {maxNodeExecutions: 50}
mcpServers:
  fake: {command: none}
tools:
  - name: count
    description: Counts to n
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: add}
      - {id: add, type: transform, transform: {expr: "{'n': $executionCount('add') + 1}"}, next: more}
      - id: more
        type: switch
        conditions: [{rule: {"<": [{var: $.add.n}, {var: $.entry.n}]}, next: add}]
        next: nothing
      - {id: nothing, type: transform, transform: {expr: $.missing}, next: ask}
      - {id: ask, type: mcp, server: fake, tool: get, args: {expr: $.entry}, next: exit}
      - {id: exit, type: exit}
`

type answers func(args value.Value) (value.Value, error)

func (f answers) CallTool(_ context.Context, _ *callinfo.Info, _, _ string, args value.Value) (graph.ToolResult, error) {
	reply, err := f(args)
	return graph.ToolResult{Reply: reply, Attempts: 1}, err
}

// engine keeps its runs in store; its server answers the arguments or, if there
// is a key fail, an error.
func engine(t testing.TB, store *runs.Store) *mcpgraph.Engine {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := mcpgraph.Load(path, mcpgraph.WithRuns(store), mcpgraph.WithCaller(answers(func(args value.Value) (value.Value, error) {
		if args.Has("fail") {
			return value.Undef, errors.New("told to fail")
		}
		b := value.NewBuilder(1)
		b.Set("structuredContent", args)
		return b.Value(), nil
	})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func parse(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func TestKeptRunIsTheRunThatWas(t *testing.T) {
	store := runs.New(runs.Limits{})
	e := engine(t, store)
	var last *executor.Run
	args := parse(t, `{"n":3,"big":12345678901234567890,"z":"ä","a":null}`)
	if _, err := e.Call(context.Background(), "count", args, mcpgraph.WithCallHooks(executor.Hooks{
		RunDone: func(_ context.Context, r *executor.Run, _ error) { last = r },
	})); err != nil {
		t.Fatal(err)
	}
	kept := store.List("")
	if len(kept) != 1 || kept[0].Tool != "count" || kept[0].Err != "" || kept[0].Executions != last.Len() || kept[0].Truncated {
		t.Fatalf("%+v", kept)
	}
	again, err := kept[0].Replay()
	if err != nil {
		t.Fatal(err)
	}
	if again.Args().JSON() != args.JSON() || again.Result().JSON() != last.Result().JSON() || !again.Done() {
		t.Errorf("replayed: %s gives %s", again.Args().JSON(), again.Result().JSON())
	}
	was, is := last.History(), again.History()
	if len(was) != len(is) || len(was) != 10 {
		t.Fatalf("%d records became %d", len(was), len(is))
	}
	for i := range was {
		if fmt.Sprint(was[i].Index, was[i].Node, was[i].Kind, was[i].Edge, was[i].Attempts, was[i].Output.JSON(), was[i].Server, was[i].Tool, was[i].Arguments.JSON(), was[i].Arguments.IsUndefined(), was[i].Output.IsUndefined(), was[i].Start, was[i].End) !=
			fmt.Sprint(is[i].Index, is[i].Node, is[i].Kind, is[i].Edge, is[i].Attempts, is[i].Output.JSON(), is[i].Server, is[i].Tool, is[i].Arguments.JSON(), is[i].Arguments.IsUndefined(), is[i].Output.IsUndefined(), is[i].Start, is[i].End) {
			t.Errorf("record %d: %+v became %+v", i, was[i], is[i])
		}
	}
	if sent := is[8]; sent.Node != "ask" || sent.Server != "fake" || sent.Tool != "get" || sent.Arguments.JSON() != args.JSON() || !is[0].Arguments.IsUndefined() {
		t.Errorf("the calls are %+v and %+v", is[8], is[0])
	}
	for i := range len(was) + 2 {
		if a, b := last.ContextAt(i).JSON(), again.ContextAt(i).JSON(); a != b {
			t.Errorf("execution %d saw %s, and again %s", i, a, b)
		}
	}
	if got := again.ContextAt(4).Get("add").JSON(); got != `{"n":2}` && got != `{"n":1}` {
		t.Errorf("execution 4 saw %s", again.ContextAt(4).JSON())
	}
}

func TestRunThatFailedIsShownWithItsError(t *testing.T) {
	store := runs.New(runs.Limits{})
	e := engine(t, store)
	_, err := e.Call(context.Background(), "count", parse(t, `{"n":1,"fail":true}`))
	if err == nil {
		t.Fatal("no error")
	}
	run := store.List("")[0]
	text, jsonErr := run.JSON(nil)
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	v := parse(t, text)
	history := v.Get("history").Elems()
	failed := history[len(history)-1]
	if v.Get("status").Str() != "failed" || v.Get("error").Str() != err.Error() || v.Has("result") ||
		failed.Get("node").Str() != "ask" || failed.Get("error").Str() != err.Error() || failed.Get("server").Str() != "fake" || failed.Get("tool").Str() != "get" || failed.Get("arguments").JSON() != `{"n":1,"fail":true}` || failed.Has("output") || failed.Has("next") {
		t.Errorf("shown as %s", text)
	}
	if first := history[0]; first.Get("next").Str() != "add" || first.Get("edge").Str() != "next" || first.Get("output").JSON() != `{"n":1,"fail":true}` {
		t.Errorf("the entry is shown as %s", first.JSON())
	}
	index := parse(t, store.Index("")).Get("runs").Elems()
	if len(index) != 1 || index[0].Get("uri").Str() != "mcpgraph://runs/"+run.ID || index[0].Get("error").Str() != err.Error() ||
		index[0].Has("history") || index[0].Has("arguments") {
		t.Errorf("the index is %s", store.Index(""))
	}
	_, err = e.Call(context.Background(), "count", map[string]any{"n": 1000})
	var limit *executor.LimitError
	if !errors.As(err, &limit) {
		t.Fatal(err)
	}
	if run = store.List("")[0]; run.Executions != 50 || !strings.Contains(run.Err, "Execution limit exceeded") {
		t.Errorf("%+v", run)
	}
}

// add keeps a run that is over.
func add(store *runs.Store, c runs.Entry, err error) { store.Begin(c).End(time.Now(), err) }

// redacting takes secrets out of texts.
type redacting func(string) string

func (redacting) Note(*callinfo.Info)             {}
func (f redacting) Redactor() func(string) string { return f }

// called makes a run of the caller with that much text in it.
func called(t testing.TB, e *mcpgraph.Engine, caller string, size int) runs.Entry {
	t.Helper()
	g, err := e.Graph("count")
	if err != nil {
		t.Fatal(err)
	}
	b := value.NewBuilder(1)
	b.Set("text", value.FromString(strings.Repeat("x", size)))
	return runs.Entry{Run: executor.NewRun(g, b.Value(), 1), Caller: caller, Began: time.Now()}
}

func TestCallersSeeTheirOwnRunsOnly(t *testing.T) {
	store := runs.New(runs.Limits{Count: 1000})
	e := engine(t, store)
	const callers, each = 8, 20
	var wait sync.WaitGroup
	for i := range callers {
		wait.Go(func() {
			for range each {
				add(store, called(t, e, fmt.Sprint("caller", i), 10+i), nil)
			}
		})
	}
	wait.Wait()
	for i := range callers {
		mine := store.List(fmt.Sprint("caller", i))
		if len(mine) != each {
			t.Errorf("caller %d has %d runs", i, len(mine))
		}
		for _, r := range mine {
			for j := range callers {
				_, ok := store.Get(fmt.Sprint("caller", j), r.ID)
				if ok != (i == j) {
					t.Errorf("caller %d reads a run of caller %d: %t", j, i, ok)
				}
				if i != j && strings.Contains(store.Index(fmt.Sprint("caller", j)), r.ID) {
					t.Errorf("caller %d has a run of caller %d in its index", j, i)
				}
			}
		}
	}
	if got := store.Index(""); got != `{"runs":[]}` {
		t.Errorf("a caller without a name sees %s", got)
	}
}

func TestOldestRunsGoWhereThereAreTooManyOrTheyAreTooLarge(t *testing.T) {
	store := runs.New(runs.Limits{Count: 3, Bytes: 100_000})
	e := engine(t, store)
	sizes := func() (list []int) {
		for _, r := range store.List("") {
			run, err := r.Replay()
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, len(run.Args().Get("text").Str()))
		}
		return list
	}
	for _, step := range []struct {
		add  int
		want string
	}{
		{1, "[1]"}, {2, "[2 1]"}, {3, "[3 2 1]"}, {4, "[4 3 2]"},
		{60_000, "[60000 4 3]"}, {60_001, "[60001]"}, {5, "[5 60001]"}, {98_000, "[98000 5]"},
	} {
		add(store, called(t, e, "", step.add), nil)
		if got := fmt.Sprint(sizes()); got != step.want {
			t.Errorf("after %d there are %s, want %s", step.add, got, step.want)
		}
	}
	add(store, called(t, e, "", 200_000), nil)
	list := store.List("")
	if len(list) != 3 || !list[0].Truncated {
		t.Fatalf("a run larger than all bounds: %+v", list)
	}
	text, err := list[0].JSON(nil)
	if err != nil || !parse(t, text).Get("truncated").Bool() || strings.Contains(text, "xxx") {
		t.Errorf("%v: shown as %.200s", err, text)
	}
	none := runs.New(runs.Limits{Count: runs.None})
	add(none, called(t, e, "", 1), nil)
	if len(none.List("")) != 0 {
		t.Error("a store for no runs has one")
	}
}

func TestShownRunsHaveNoSecretsAndStayJSON(t *testing.T) {
	store := runs.New(runs.Limits{})
	e := engine(t, store)
	g, err := e.Graph("count")
	if err != nil {
		t.Fatal(err)
	}
	args := parse(t, `{"password":"hunter2","list":["a hunter2 b",4711,47,{"hunter2":true}],"n":null}`)
	add(store, runs.Entry{
		Run:     executor.NewRun(g, args, 1),
		Secrets: redacting(strings.NewReplacer("hunter2", "[redacted]", "4711", "[redacted]").Replace),
	}, errors.New("hunter2 is wrong"))
	text, err := store.List("")[0].JSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := parse(t, text)
	if got, want := v.Get("arguments").JSON(), `{"password":"[redacted]","list":["a [redacted] b","[redacted]",47,{"[redacted]":true}],"n":null}`; got != want {
		t.Errorf("shown as %s, want %s", got, want)
	}
	if strings.Contains(text+store.Index(""), "hunter2") {
		t.Errorf("a secret is shown in %s or %s", text, store.Index(""))
	}
}

// BenchmarkAdd measures what keeping a run of 10 executions costs its call.
func BenchmarkAdd(b *testing.B) {
	store := runs.New(runs.Limits{})
	e := engine(b, runs.New(runs.Limits{Count: runs.None}))
	var f runs.Entry
	if _, err := e.Call(context.Background(), "count", map[string]any{"n": 3}, mcpgraph.WithCallHooks(executor.Hooks{
		RunDone: func(_ context.Context, r *executor.Run, _ error) { f.Run = r },
	})); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		add(store, f, nil)
	}
}
