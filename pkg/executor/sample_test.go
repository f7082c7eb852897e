package executor_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const sampleTool = `
version: "1.0"
server: {name: test, version: "1"}
tools:
  - name: t
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: think}
      - {id: think, type: sample, prompt: A number, schema: {type: number}, next: exit}
      - {id: exit, type: exit}
`

// said is the result of sampling/createMessage.
func said(text string) value.Value {
	v, _ := value.Parse(`{"content":{"type":"text","text":` + value.FromString(text).JSON() + `}}`)
	return v
}

// TestSecondPromptOutlivesTheProcess parks a run at its second prompt. Each run that is
// made of the records so far, after the first answer, asks the same.
func TestSecondPromptOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	g := compile(t, sampleTool, nil)
	park := func(r *executor.Run) executor.Question {
		t.Helper()
		if err := (&executor.Local{}).Run(context.Background(), r, world{}); !errors.Is(err, executor.ErrParked) {
			t.Fatal(err)
		}
		return r.Questions()[0]
	}
	r := newRun(g)
	first := park(r)
	if first.Method != graph.AskModel || strings.Contains(first.Value.JSON(), "cannot be used") {
		t.Errorf("%s %s", first.Method, first.Value.JSON())
	}
	if err := r.Answer(first.ID, said("seven"), nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	second := park(r)
	want := second.Value.JSON()
	if second.ID != first.ID || !strings.Contains(want, `"text":"seven"`) || !strings.Contains(want, "This answer cannot be used: the answer of the model: not JSON") {
		t.Errorf("the second prompt of %s is %s", second.ID, want)
	}
	lines := log(r)
	for n := len(lines); n > 0 && !strings.Contains(lines[n-1], `"event":"answered"`); n-- {
		if got := park(replay(t, g, lines[:n])).Value.JSON(); got != want {
			t.Errorf("after %d of %d records: %s", n, len(lines), got)
		}
	}
	again := replay(t, g, lines)
	if err := again.Answer(first.ID, said("7"), nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := (&executor.Local{}).Run(context.Background(), again, world{}); err != nil || again.Result().JSON() != "7" {
		t.Errorf("%v, %v", again.Result(), err)
	}
}
