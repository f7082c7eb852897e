package durable

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// dense returns a text of n bytes that cannot be compressed by much.
func dense(n int) string {
	b := make([]byte, n*3/4)
	_, _ = rand.Read(b)
	return base64.StdEncoding.EncodeToString(b)
}

// replyingDense answers calls with texts of n bytes, as errors if isError is true.
func replyingDense(n int, isError bool) func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
	return func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
		v, err := value.Parse(fmt.Sprintf(`{"isError":%t,"content":[{"type":"text","text":%q}]}`, isError, dense(n)))
		return graph.ToolResult{Reply: v, Attempts: 1}, err
	}
}

// gathering makes calls and puts what they bring into one output.
const gathering = `      - {id: a, type: map, items: [1, 2, 3, 4, 5, 6], nodes: [{id: q, type: mcp, server: up, tool: do, args: {}}], next: b}`

const counted6 = gathering + `
      - {id: b, type: transform, transform: {expr: "$count($.a)"}, next: exit}`

// patient lets a run wait for the signs of life of a busy machine.
func patient(s *launch) { s.Heartbeat = time.Minute }

// TestOnAServerRecordsThatAreTooLongAreLeftOut has an output of 3 MB, which is no value that
// travels: the run succeeds, and so does everybody who looks at it.
func TestOnAServerRecordsThatAreTooLongAreLeftOut(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	source := unique(newSource(t, oneTool(counted6)))
	source.call = replyingDense(500_000, false)
	working(t, c, source)
	run, out := followed(t, c, source, started(t, c, source, `{}`, patient), `{}`)
	if err := out.Err(); err != nil || out.Value.JSON() != "6" || run.Result().JSON() != "6" {
		t.Errorf("the result is %s, of the copy %s: %v", out.Value.JSON(), run.Result().JSON(), err)
	}
	for rec := range run.Records(0) {
		if rec.Node == "a" && rec.Event == executor.Done && !strings.Contains(rec.Output.Str(), "bytes, too many to be shown") {
			t.Errorf("the output is %s", rec.Output.Preview(100))
		}
	}
}

// TestOnAServerALongListOfQuestionsIsAnswered has 1.4 MB of arguments, which 300 questions
// quote at the same time.
func TestOnAServerALongListOfQuestionsIsAnswered(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	texts := make([]value.Value, 300)
	for i := range texts {
		texts[i] = value.FromString(dense(4800))
	}
	args := value.FromEntries([]value.Entry{{Key: "list", Value: value.FromArray(texts)}})
	source := unique(newSource(t, oneTool(`      - {id: a, type: map, items: {expr: $.entry.list}, maxConcurrency: 300, nodes: [{id: q, type: ask, message: {expr: $item}, schema: {type: object, properties: {x: {type: string}}}}], next: exit}`)))
	working(t, c, source)
	id := started(t, c, source, args.JSON(), nil)
	d := described(t, c, id, func(d *runs.State) bool { return d.Status == runs.Waiting })
	asked := map[string]bool{}
	for _, q := range d.Questions {
		asked[q.ID] = true
	}
	if len(asked) != len(texts) || d.Args.JSON() != args.JSON() {
		t.Errorf("it asks %d different questions, and has %d bytes of arguments", len(asked), d.Args.TextSize())
	}
	if err := c.cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

// TestOnAServerFailuresThatAreTooLongEndTheRun lets runs fail with more than Temporal takes.
func TestOnAServerFailuresThatAreTooLongEndTheRun(t *testing.T) {
	t.Parallel()
	const (
		failing  = gathering + "\n      - {id: b, type: switch, conditions: [{rule: true, target: stop}, {target: exit}]}\n      - {id: stop, type: fail, error: gone, message: %s, data: %s}"
		detached = `
  - name: inner
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: do}
      - {id: do, type: mcp, server: up, tool: do, args: {}, next: exit}
      - {id: exit, type: exit}`
	)
	for name, test := range map[string]struct {
		file    string
		isError bool
		name    string
	}{
		"data":             {oneTool(fmt.Sprintf(failing, "no", "{all: {expr: $.a}}")), false, "gone"},
		"a message":        {oneTool(fmt.Sprintf(failing, `{expr: "$join($.a)"}`, "{}")), false, "gone"},
		"an error reply":   {oneTool(oneCall), true, graph.FailToolError},
		"that of a child":  {oneTool(`      - {id: a, type: call, tool: inner, detached: true, next: exit}`) + detached, true, graph.FailToolError},
		"of many children": {oneTool(`      - {id: a, type: map, items: [1, 2, 3], tolerateFailures: 1, nodes: [{id: c, type: call, tool: inner, detached: true}], next: exit}`) + detached, true, graph.FailTooMany},
	} {
		t.Run(name, func(t *testing.T) { // not at the same time: they are large
			c := dialed(t, nil)
			source := unique(newSource(t, test.file))
			source.call = replyingDense(1_200_000, test.isError)
			if !test.isError {
				source.call = replyingDense(500_000, false)
			}
			working(t, c, source)
			run, out := followed(t, c, source, started(t, c, source, `{}`, patient), `{}`)
			if out.Failure == nil || out.Failure.Name != test.name || out.Failure.Message == "" || len(out.Text) > 2*maxMessage {
				t.Errorf("the failure is %.300v, its text has %d bytes", out.Failure, len(out.Text))
			}
			if f := executor.FailureOf(run.Err()); f.Name != test.name {
				t.Errorf("the failure of the copy is %.300v", f)
			}
		})
	}
}

// TestAQuestionThatIsTooLongFails asks what has more bytes than a value may have.
func TestAQuestionThatIsTooLongFails(t *testing.T) {
	t.Parallel()
	source := newSource(t, oneTool(`      - {id: a, type: ask, message: {expr: "$pad('', 3000, 'x')"}, schema: {type: object, properties: {x: {type: string}}}, catch: {errors: [tooLarge], next: b}, next: exit}
      - {id: b, type: transform, transform: {expr: $.a.error.name}, next: exit}`))
	out, err := simulate(t, source, &request{Tool: "t", MaxValue: 2000}, nil)
	if err != nil || string(out.Result) != `"tooLarge"` {
		t.Errorf("the run ended with %s, %v", out.Result, err)
	}
}

// TestNobodyApprovesWhatDoesNotFit makes a call that needs approval with arguments that the
// lock file refuses.
func TestNobodyApprovesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	text := strings.Replace(oneTool(`      - {id: a, type: mcp, server: up, tool: do, args: {misfit: true}, catch: {errors: [arguments], next: b}, next: exit}
      - {id: b, type: transform, transform: {expr: $.a.error.name}, next: exit}`), "command: up", "command: up, requireApproval: ['*']", 1)
	out, err := simulate(t, newSource(t, text), &request{Tool: "t"}, nil)
	if err != nil || string(out.Result) != `"arguments"` {
		t.Errorf("the run ended with %s, %v", out.Result, err)
	}
}

// TestQueriesTellOfQuestionsInParts looks at three questions, of which two are too long for
// one answer.
func TestQueriesTellOfQuestionsInParts(t *testing.T) {
	t.Parallel()
	source := newSource(t, oneTool(`      - {id: a, type: map, items: [1, 2, 3], nodes: [{id: q, type: ask, message: {expr: "$pad($string($item), 700000, 'x')"}, timeoutMs: 5000, schema: {type: object, properties: {x: {type: string}}}}], next: exit}`))
	asked := map[string]bool{}
	_, _ = simulate(t, source, &request{Tool: "t"}, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() {
			for from := range 3 {
				var s state
				v, err := env.QueryWorkflow(queryState, from)
				if err != nil || v.Get(&s) != nil || len(s.Questions) != 1 || s.More != (from < 2) {
					t.Errorf("from %d on it asks %d questions, more %t: %v", from, len(s.Questions), s.More, err)
					continue
				}
				asked[s.Questions[0].ID] = true
			}
		}, time.Second)
	})
	if len(asked) != 3 {
		t.Errorf("it asks %v", asked)
	}
}
