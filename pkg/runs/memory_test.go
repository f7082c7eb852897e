package runs_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestErrorsAreCutBetweenCharacters(t *testing.T) {
	e := engine(t, runs.New(runs.Limits{Count: runs.None}))
	for shift := range 3 {
		store := runs.New(runs.Limits{})
		add(store, called(t, e, "", 1), errors.New(strings.Repeat("x", shift)+strings.Repeat("€", 10_000)))
		text := store.List("")[0].Err
		if !utf8.ValidString(text) || len(text) < 16<<10-3 || len(text) > 16<<10 {
			t.Errorf("%d bytes, ending in %q", len(text), text[len(text)-3:])
		}
	}
}

func TestWhatNodesHandOnIsKeptOnce(t *testing.T) {
	store := runs.New(runs.Limits{Bytes: 3 << 20})
	e := engine(t, store)
	// The arguments are the output of the entry, and what is sent.
	args, err := value.ParseLazy(`{"n":1,"long":"` + strings.Repeat("x", 1<<20) + `"}`)
	if err != nil {
		t.Fatal(err)
	}
	result, err := e.Call(context.Background(), "count", args)
	if err != nil {
		t.Fatal(err)
	}
	run := store.List("")[0]
	if run.Truncated {
		t.Fatal("a run of two long values takes more than three of them")
	}
	text, err := run.JSON(nil)
	if err != nil || !strings.Contains(text, `"result":`+string(result.JSON())) {
		t.Errorf("the run reads otherwise, %v", err)
	}
}

func TestRunsDrawOnTheMemoryOfTheProcess(t *testing.T) {
	budget := memory.New(memory.MinLimit)
	store := runs.New(runs.Limits{Memory: budget})
	e := engine(t, store)
	call := func() {
		t.Helper()
		args := parse(t, `{"n":1,"long":"`+strings.Repeat("x", 300<<10)+`"}`)
		if _, err := e.Call(t.Context(), "count", args); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		call()
	}
	// A 32nd of the limit is 2 MiB.
	if held := budget.Held(); held < 600<<10 || held > 2<<20 {
		t.Errorf("twenty runs hold %d bytes", held)
	}
	all := budget.Account("")
	for all.Grow(64<<10) == nil {
	}
	store = runs.New(runs.Limits{Memory: budget})
	e = engine(t, store)
	call()
	if run := store.List("")[0]; !run.Truncated || run.Err != "" {
		t.Error("a run that there is no memory for is kept")
	}
}

func TestLongStringsAreKeptOnceAsTheyAre(t *testing.T) {
	long := strings.Repeat("\"quoted\"\n", 100<<10/9)
	budget := memory.New(memory.MinLimit)
	store := runs.New(runs.Limits{Memory: budget})
	e := engine(t, store)
	b := value.NewBuilder(3)
	b.Set("n", value.FromInt(2))
	b.Set("long", value.FromString(long))
	b.Set("list", value.FromArray([]value.Value{value.FromString(long), value.FromString("short"), value.FromString(long[1:])}))
	args := b.Value()
	result, err := e.Call(context.Background(), "count", args)
	if err != nil {
		t.Fatal(err)
	}
	// The server of the test answers its arguments, so the string is in three
	// executions, and half of the list is another one.
	if held := budget.Held(); held < int64(2*len(long)) || held > int64(2*len(long)+16<<10) {
		t.Errorf("two strings of %d bytes hold %d", len(long), held)
	}
	again, err := store.List("")[0].Replay()
	if err != nil {
		t.Fatal(err)
	}
	if again.Args().JSON() != args.JSON() || again.Result().JSON() != string(result.JSON()) {
		t.Errorf("the run reads otherwise: %.200s", again.Args().JSON())
	}
}

func TestRunIsKeptUpToTheLastByte(t *testing.T) {
	e := engine(t, runs.New(runs.Limits{Count: runs.None}))
	for _, piece := range []string{"x", "\"", "\n", "ä"} {
		fits := func(bytes int64) bool {
			store := runs.New(runs.Limits{Bytes: bytes})
			f := called(t, e, "caller", 0)
			b := value.NewBuilder(2)
			b.Set("long", value.FromString(strings.Repeat(piece, 5000)))
			b.Set("short", value.FromString(strings.Repeat(piece, 50)))
			f.Run = executor.NewRun(f.Run.Graph(), b.Value(), 1)
			add(store, f, nil)
			return !store.List("caller")[0].Truncated
		}
		low := int64(1)
		for high := int64(1 << 20); high-low > 1; {
			if middle := (low + high) / 2; fits(middle) {
				high = middle
			} else {
				low = middle
			}
		}
		if least := int64(5000 * len(piece)); low < least || low > least+2<<10 {
			t.Errorf("5000 of %q take %d bytes", piece, low+1)
		}
	}
}
