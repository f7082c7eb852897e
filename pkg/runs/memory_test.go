package runs_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestErrorsAreCutBetweenCharacters(t *testing.T) {
	e := engine(t, runs.New(runs.Limits{Count: runs.None}))
	for shift := range 3 {
		store := runs.New(runs.Limits{})
		f := finished(t, e, "", 1)
		f.Err = errors.New(strings.Repeat("x", shift) + strings.Repeat("€", 10_000))
		store.Add(f)
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
	text, err := run.JSON()
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
