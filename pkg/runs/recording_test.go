package runs_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var _ expr.History = (*runs.Moment)(nil)

func TestRecordingShowsWhatExecutionsSaw(t *testing.T) {
	for name, args := range map[string]string{"a run that ended well": `{"n":3}`, "one that failed": `{"n":2,"fail":true}`} {
		store := runs.New(runs.Limits{})
		e := engine(t, store)
		var run *executor.Run
		var lines strings.Builder
		lines.WriteString("tools.yaml:1:1: warning: not JSON\n")
		_, _ = e.Call(context.Background(), "count", parse(t, args), mcpgraph.WithCallHooks(executor.Hooks{
			NodeDone: func(_ context.Context, r *executor.Run, rec executor.Record) {
				lines.WriteString(runs.Execution(rec).JSON() + "\n{\"level\":\"INFO\"}\n")
			},
			RunDone: func(_ context.Context, r *executor.Run, _ error) { run = r },
		}))
		kept, err := store.List("")[0].JSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		contents := `{"contents":[{"uri":"mcpgraph://runs/x","text":` + value.FromString(kept).JSON() + `}]}`
		for form, text := range map[string]string{
			"lines": lines.String(), "a kept run": kept, "a resource": contents,
			"an answer": `{"jsonrpc":"2.0","id":1,"result":` + contents + `}`,
		} {
			recording, err := runs.ReadRecording(text)
			if err != nil {
				t.Fatalf("%s, %s: %v", name, form, err)
			}
			end := run.Len()
			if run.Result().IsUndefined() {
				end-- // the execution that failed gave nothing
			}
			if recording.Len() != run.Len() || recording.End() != end {
				t.Fatalf("%s, %s: %d executions, ends at %d", name, form, recording.Len(), recording.End())
			}
			for i := range end + 1 {
				if got, want := recording.At(i).Document().JSON(), run.ContextAt(i).JSON(); got != want {
					t.Errorf("%s, %s: execution %d saw %s, want %s", name, form, i, got, want)
				}
				last, ok := recording.At(i).Previous(1)
				if ok != (i > 0) || ok && last.JSON() != run.History()[i-1].Output.JSON() {
					t.Errorf("%s, %s: before execution %d there was %s", name, form, i, last.JSON())
				}
			}
			for _, id := range []string{"entry", "add", "nothing", "none"} {
				got, want := recording.At(end).Outputs(id), run.Outputs(id)
				if value.FromArray(got).JSON() != value.FromArray(want).JSON() {
					t.Errorf("%s, %s: the outputs of %s are %v, want %v", name, form, id, got, want)
				}
			}
		}
	}
}

func TestWhatIsNoRecordingIsRefused(t *testing.T) {
	one := `{"index":0,"node":"entry","type":"entry","output":{}}`
	for text, want := range map[string]string{
		"":                                      "no executions",
		`{"a":1}`:                               "no executions",
		one + "\n" + one:                        "expected execution 1, found execution 0",
		strings.Replace(one, "0", "1", 1):       "expected execution 0, found execution 1",
		strings.Replace(one, `"entry"`, "1", 1): "the node of execution 0 is 1",
		`{"id":"x","truncated":true}`:           "too large to be kept",
		`{"history":[]}`:                        "no executions",
		`{"contents":[{"text":"{"}]}`:           "the text of the resource",
	} {
		if _, err := runs.ReadRecording(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
