package executor_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// replacing replaces the outputs of nodes by their paths.
func replacing(t *testing.T, outputs map[string]value.Value) executor.Hooks {
	return executor.Hooks{NodeDone: func(_ context.Context, r *executor.Run, rec executor.Record) {
		if v, ok := outputs[pathOf(rec)]; ok {
			if err := r.Replace(rec, v, genesis); err != nil {
				t.Errorf("%s: %v", pathOf(rec), err)
			}
		}
	}}
}

// pathOf returns where the node of a record stands.
func pathOf(rec executor.Record) string {
	if rec.Path == "" {
		return rec.Node
	}
	return rec.Path + "." + rec.Node
}

func TestReplacedOutputIsSeenByWhatFollows(t *testing.T) {
	for name, test := range map[string]struct {
		outputs map[string]value.Value
		want    string
	}{
		"a node of a body":   {map[string]value.Value{"each[1].one": value.FromString("new")}, `[2,"new",6]`},
		"the end of a body":  {map[string]value.Value{"each[1].end": value.FromString("new")}, `[2,"new",6]`},
		"nothing":            {map[string]value.Value{"each[1].end": value.Undef}, `[2,null,6]`},
		"what a body begins": {map[string]value.Value{"each[1].begin": value.FromString("no matter")}, `[2,4,6]`},
		"the map":            {map[string]value.Value{"each[1].one": value.NullValue, "each": value.FromString("all")}, `"all"`},
		"the exit":           {map[string]value.Value{"exit": value.FromString("result")}, `"result"`},
	} {
		r := newRun(mapOf(t, 3, oneTransform, graph.Spread{}, graph.Policy{}, false))
		if err := (&executor.Local{Hooks: []executor.Hooks{replacing(t, test.outputs)}}).Run(context.Background(), r, world{}); err != nil {
			t.Fatal(err)
		}
		if got := textOf(r.Result()); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
		again := replay(t, r.Graph(), log(r))
		if textOf(again.Result()) != test.want || !slices.Equal(log(again), log(r)) {
			t.Errorf("%s: replayed: %s, %s", name, textOf(again.Result()), difference(log(again), log(r)))
		}
	}
}

func TestHistoryHasTheReplacedOutputOnce(t *testing.T) {
	r := newRun(loop(t, 20)) // long enough for an index
	l := executor.Local{Hooks: []executor.Hooks{{NodeDone: func(_ context.Context, r *executor.Run, rec executor.Record) {
		if rec.Node != "step" {
			return
		}
		if before := r.Outputs("step"); before[len(before)-1].JSON() != rec.Output.JSON() {
			t.Errorf("before: %s", before[len(before)-1].JSON())
		}
		if err := r.Replace(rec, value.FromFloat(rec.Output.Float()*2), genesis); err != nil {
			t.Error(err)
		}
	}}}}
	if err := l.Run(context.Background(), r, world{}); err != nil {
		t.Fatal(err)
	}
	outputs := r.Outputs("step")
	for i, v := range outputs {
		if v.Float() != float64(2*i) {
			t.Errorf("output %d is %s", i, v.JSON())
		}
	}
	if len(outputs) != 11 { // the loop sees numbers twice as high
		t.Errorf("%d turns", len(outputs))
	}
}

func TestWhatIsOverCannotBeReplaced(t *testing.T) {
	r := newRun(calls(t, graph.Policy{}, graph.Policy{}))
	r.Begin(genesis)
	task, _ := r.Take()
	if err := r.Replace(executor.Record{}, value.NullValue, genesis); !errors.Is(err, executor.ErrStale) {
		t.Errorf("before it is settled: %v", err)
	}
	rec, _ := r.Settle(context.Background(), task, executor.Outcome{End: genesis})
	for _, frame := range []string{"0.0", "nonsense", "0.0/1.1"} {
		other := rec
		other.Frame = frame
		if err := r.Replace(other, value.NullValue, genesis); !errors.Is(err, executor.ErrStale) {
			t.Errorf("in walk %q: %v", frame, err)
		}
	}
	r.Release(task)
	if err := r.Replace(rec, value.FromString("later"), genesis); err != nil {
		t.Errorf("while its walk goes on: %v", err)
	}
	next, _ := r.Take()
	failed, _ := r.Settle(context.Background(), next, executor.Outcome{Err: errors.New("broken"), End: genesis})
	if err := r.Replace(failed, value.NullValue, genesis); !errors.Is(err, executor.ErrStale) {
		t.Errorf("a failure: %v", err)
	}
	if err := r.Replace(rec, value.NullValue, genesis); !errors.Is(err, executor.ErrStale) {
		t.Errorf("before a walk that ends: %v", err)
	}
	r.Release(next)
	if err := r.Replace(rec, value.NullValue, genesis); !errors.Is(err, executor.ErrStale) {
		t.Errorf("after the end: %v", err)
	}
}

func TestReplacedOutputsOfGeneratedRunsAreReplayed(t *testing.T) {
	replaced := 0
	for seed := range uint64(100) {
		g := generate(t, seed, seed%2 == 0)
		r := newRun(g)
		d := drive(t, r, seed, genesis)
		d.replaces = true
		d.finish()
		replaced += d.replaced
		records := log(r)
		again := replay(t, g, records)
		if got := log(again); !slices.Equal(got, records) || !again.Done() || textOf(again.Result()) != textOf(r.Result()) {
			t.Fatalf("graph %d: replayed, done %v: %s", seed, again.Done(), difference(got, records))
		}
		for n := 0; n < len(records); n += 1 + len(records)/5 {
			cut := replay(t, g, records[:n])
			drive(t, cut, seed+uint64(n), last(cut)).finish()
		}
	}
	if replaced < 100 {
		t.Errorf("%d outputs were replaced", replaced)
	}
}

func TestReplacementThatDoesNotFitIsRefused(t *testing.T) {
	g := mapOf(t, 3, oneTransform, graph.Spread{}, graph.Policy{}, false)
	r := newRun(g)
	hooks := replacing(t, map[string]value.Value{"entry": value.NullValue, "each[1].one": value.NullValue, "each[2].end": value.NullValue})
	if err := (&executor.Local{Hooks: []executor.Hooks{hooks}}).Run(context.Background(), r, world{}); err != nil {
		t.Fatal(err)
	}
	records := slices.Collect(r.Records(0))
	for i := range records {
		if records[i].Event != executor.Replaced {
			continue
		}
		for what, change := range map[string]func(*executor.Record){
			"node":      func(rec *executor.Record) { rec.Node = "nobody" },
			"execution": func(rec *executor.Record) { rec.Execution++ },
			"walk":      func(rec *executor.Record) { rec.Frame = "7.7" },
		} {
			if what != "walk" && records[i].Node == "end" {
				continue // the body is over; nobody knows of its executions
			}
			wrong := slices.Clone(records)
			change(&wrong[i])
			if _, err := executor.Replay(g, r.Args(), r.Seed(), slices.Values(wrong)); err == nil {
				t.Errorf("%s: a record of another %s is replayed", pathOf(records[i]), what)
			}
		}
	}
}

func TestReplacedOutputsOfThePastAreReplayed(t *testing.T) {
	g := loop(t, 40)
	r := newRun(g)
	var before value.Value // the document of the 10th execution
	gate := func(_ context.Context, r *executor.Run, task executor.Task) error {
		switch task.Execution() {
		case 10:
			before = task.Scope().Document()
		case 30:
			rec, ok := task.Scope().Last("entry")
			if !ok {
				t.Fatal("no execution of entry")
			}
			if err := r.Replace(rec, value.FromString("new"), genesis); err != nil {
				t.Error(err)
			}
			if err := r.Replace(rec, value.FromString("newer"), genesis); err != nil {
				t.Error(err)
			}
		}
		return nil
	}
	if err := (&executor.Local{Gate: gate}).Run(context.Background(), r, world{}); err != nil {
		t.Fatal(err)
	}
	if got := before.Get("entry").JSON(); got == `"newer"` {
		t.Errorf("a document of before has the new output")
	}
	if got := r.EndScope().Document().Get("entry").JSON(); got != `"newer"` {
		t.Errorf("the document of the end has %s", got)
	}
	var indexes []int
	for rec := range r.Records(0) {
		if rec.Event == executor.Replaced {
			indexes = append(indexes, rec.Index)
		}
	}
	if len(indexes) != 2 {
		t.Fatalf("%d records of replacements", len(indexes))
	}
	for _, again := range []*executor.Run{r, replay(t, g, log(r))} {
		if !slices.Equal(log(again), log(r)) {
			t.Errorf("replayed: %s", difference(log(again), log(r)))
		}
		for i, want := range []string{r.Args().JSON(), `"new"`, `"newer"`} {
			index := 3
			if i > 0 {
				index = indexes[i-1] + 1
			}
			scope, ok := again.ScopeAt(index)
			if !ok {
				t.Fatalf("no scope of record %d", index)
			}
			if got := scope.Outputs("entry"); i != 1 && (len(got) != 1 || got[0].JSON() != want) {
				t.Errorf("record %d sees %v, want %s", index, got, want)
			}
		}
	}
}
