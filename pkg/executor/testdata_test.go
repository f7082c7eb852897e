package executor_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var update = flag.Bool("update", os.Getenv("UPDATE") != "", "rewrite the expectations of testdata/run")

// TestRunsRenderAsExpected walks every graph of testdata/run. An archive holds
//
//	config.yaml  the file, with one tool
//	args.json    the arguments of the call; {} where it is absent
//	replies      the upstream calls in their order: SERVER TOOL ARGS => REPLY,
//	             or => error: TEXT for a call that brings no reply, or
//	             => failure: JSON where it has a name
//	result       the result as JSON, or the error
//	history      the executions: NODE OUTPUT -> NEXT
func TestRunsRenderAsExpected(t *testing.T) {
	files, err := filepath.Glob("../../testdata/run/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { testRun(t, file) })
	}
}

func testRun(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	section := map[string]string{"args.json": "{}"}
	for _, f := range archive.Files {
		section[f.Name] = string(f.Data)
	}
	g := build(t, section["config.yaml"]).Graphs[0]
	args, err := value.Parse(section["args.json"])
	if err != nil {
		t.Fatalf("args.json: %v", err)
	}
	port := &script{t: t, calls: lines(section["replies"]), inOrder: true}
	run := executor.NewRun(g, args, 1)
	var failure error
	synctest.Test(t, func(*testing.T) { failure = (&executor.Local{}).Run(context.Background(), run, port) })
	if left := port.left(); len(left) > 0 {
		t.Errorf("calls that did not happen: %q", left)
	}
	result := run.Result().JSON()
	if failure != nil {
		result = "error: " + failure.Error()
	}
	expect(t, file, archive, "result", result)
	expect(t, file, archive, "history", strings.Join(history(run), "\n"))
}

func history(run *executor.Run) []string {
	var out []string
	for _, rec := range run.History() {
		line := rec.Node + " " + show(rec.Output)
		if rec.Path != "" {
			line = rec.Path + " " + line
		}
		if rec.Err != nil && rec.Edge == graph.NoEdge {
			line = strings.TrimSuffix(line, show(rec.Output)) + "failed"
		}
		if rec.Next != "" {
			line += " -> " + rec.Next
		}
		out = append(out, line)
	}
	return out
}

func show(v value.Value) string {
	if v.IsUndefined() {
		return "undefined"
	}
	return v.JSON()
}

// expect compares a section of an archive, or rewrites it.
func expect(t *testing.T, file string, archive *txtar.Archive, name, got string) {
	t.Helper()
	for i := range archive.Files {
		f := &archive.Files[i]
		if f.Name != name {
			continue
		}
		if want := strings.TrimSpace(string(f.Data)); want == got {
			return
		} else if !*update {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
			return
		}
		f.Data = []byte(got + "\n")
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Error(err)
		}
		return
	}
	t.Errorf("the archive has no section %q", name)
}

func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}

// build compiles a configuration that has no errors.
func build(t testing.TB, source string) *graph.Set {
	t.Helper()
	file, ds := config.Parse("test.yaml", []byte(source), config.Options{})
	if file == nil || diag.HasErrors(ds) {
		t.Fatalf("config: %v", ds)
	}
	set, ds := graph.Build(file, nodes.All)
	if diag.HasErrors(ds) {
		t.Fatalf("graph: %v", ds)
	}
	return set
}

// script is a port that knows the calls to come and their answers. Its clock and its
// randomness stand still.
type script struct {
	t  testing.TB
	mu sync.Mutex

	calls []string // empty: made already
	// inOrder lets calls at the same time be answered in the order of the script,
	// whichever was made first. The port then belongs to a bubble of virtual time.
	inOrder bool
}

// left returns the calls that were not made.
func (s *script) left() []string {
	return slices.DeleteFunc(slices.Clone(s.calls), func(c string) bool { return c == "" })
}

func (s *script) CallTool(_ context.Context, _ *callinfo.Info, server, tool string, args value.Value) (graph.ToolResult, error) {
	call := fmt.Sprintf("%s %s %s", server, tool, args.JSON())
	s.mu.Lock()
	at := slices.IndexFunc(s.calls, func(c string) bool { return strings.HasPrefix(c, call+" => ") })
	if at < 0 {
		s.mu.Unlock()
		s.t.Errorf("call %s, which is not expected; the script goes on with %q", call, s.calls)
		return graph.ToolResult{}, fmt.Errorf("unexpected call")
	}
	_, answer, _ := strings.Cut(s.calls[at], " => ")
	s.calls[at] = ""
	s.mu.Unlock()
	if s.inOrder {
		time.Sleep(time.Duration(at+1) * time.Microsecond)
	}
	if text, failed := strings.CutPrefix(answer, "error: "); failed {
		return graph.ToolResult{Attempts: 1}, fmt.Errorf("%s", text)
	}
	if text, failed := strings.CutPrefix(answer, "failure: "); failed {
		v, err := value.Parse(text)
		if err != nil {
			s.t.Errorf("the failure %s: %v", text, err)
		}
		return graph.ToolResult{Attempts: 1}, graph.FailureFrom(v)
	}
	reply, err := value.Parse(answer)
	if err != nil {
		s.t.Errorf("the reply %s: %v", answer, err)
	}
	return graph.ToolResult{Reply: reply, Attempts: 1}, nil
}

func (s *script) Now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func (s *script) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

func (s *script) Processor() expr.Processor { return nil }
