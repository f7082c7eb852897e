package durable

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// oneTool is a file with a tool of these nodes, which begin at "a".
func oneTool(nodes string) string {
	return `
version: "1.0"
server: {name: test, version: "1"}
mcpServers: {up: {command: up}}
tools:
  - name: t
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: a}
` + nodes + `
      - {id: exit, type: exit}
`
}

const oneCall = `      - {id: a, type: mcp, server: up, tool: do, args: {n: 1}, next: exit}`

func text(s string) graph.ToolResult {
	v, err := value.Parse(`{"content":[{"type":"text","text":` + value.FromString(s).JSON() + `}]}`)
	if err != nil {
		panic(err)
	}
	return graph.ToolResult{Reply: v, Attempts: 1}
}

// keys notes the idempotency keys of calls.
type keys struct {
	mu   sync.Mutex
	list []string
}

func (k *keys) add(info *callinfo.Info) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = append(k.list, info.IdempotencyKey)
	return len(k.list)
}

// noting notes the keys of the calls.
func noting(k *keys) func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
	return func(_ context.Context, info *callinfo.Info, _, _ string, _ value.Value) (graph.ToolResult, error) {
		k.add(info)
		return text("done"), nil
	}
}

func TestCallsOfLostWorkersAreMadeAgainOnlyWhereThatIsSafe(t *testing.T) {
	const retried = `      - {id: a, type: mcp, server: up, tool: do, args: {n: 1}, retry: {initialDelayMs: 1}, next: exit}`
	const caught = `      - {id: a, type: mcp, server: up, tool: do, args: {n: 1}, catch: {errors: [unknown], next: b}, next: exit}
      - {id: b, type: transform, transform: {expr: "$.a.error.name"}, next: exit}`
	for name, test := range map[string]struct {
		nodes  string
		safe   bool
		lost   int
		result string // empty: it fails with unknown
		made   int
	}{
		"a tool that may be repeated":    {oneCall, true, 1, `"done"`, 1},
		"a tool that may not":            {oneCall, false, 1, "", 0},
		"a node that is retried":         {retried, false, 1, `"done"`, 1},
		"a failure that is caught":       {caught, false, 1, `"unknown"`, 0},
		"a call that takes all down":     {oneCall, true, maxLost + 1, "", 0},
		"a call that takes several down": {oneCall, true, maxLost, `"done"`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, k := newSource(t, oneTool(test.nodes)), &keys{}
			source.call = noting(k)
			source.repeat = func(string) bool { return test.safe }
			run := simulatedLosing(t, source, test.lost)
			if len(k.list) != test.made {
				t.Errorf("%d calls were made, want %d", len(k.list), test.made)
			}
			for _, key := range k.list {
				if len(key) != 32 {
					t.Errorf("the key is %q", key)
				}
			}
			if test.result == "" {
				if err := run.Err(); err == nil || executor.FailureOf(err).Name != graph.FailUnknown {
					t.Errorf("the run ended with %v", err)
				}
			} else if got := run.Result().JSON(); got != test.result {
				t.Errorf("the result is %s, want %s: %v", got, test.result, run.Err())
			}
		})
	}
}

func TestLargeValuesAreFailuresThatAreNotRetried(t *testing.T) {
	t.Parallel()
	for name, nodes := range map[string]string{
		"a reply":   `      - {id: a, type: mcp, server: up, tool: do, args: {n: 1}, retry: {}, next: exit}`,
		"arguments": `      - {id: a, type: mcp, server: up, tool: do, args: {n: {expr: "$pad('', 3000, 'x')"}}, retry: {}, next: exit}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, k := newSource(t, oneTool(nodes)), &keys{}
			source.call = func(_ context.Context, info *callinfo.Info, _, _ string, _ value.Value) (graph.ToolResult, error) {
				k.add(info)
				return text(strings.Repeat("x", 3000)), nil
			}
			run := simulated(t, source, &request{Tool: "t", MaxValue: 2000, Seed: 1}, nil)
			if err := run.Err(); err == nil || executor.FailureOf(err).Name != graph.FailTooLarge {
				t.Errorf("the run ended with %v", err)
			}
			if n := len(k.list); n > 1 {
				t.Errorf("the tool was called %d times", n)
			}
		})
	}
}

func TestLargeResultsFailTheRun(t *testing.T) {
	t.Parallel()
	source := newSource(t, oneTool(`      - {id: a, type: transform, transform: {expr: "$pad('', 3000, 'x')"}, next: exit}`))
	out, err := simulate(t, source, &request{Tool: "t", MaxValue: 2000, Seed: 1}, nil)
	if err == nil || !strings.Contains(out.Text, "the result has 3002 bytes") {
		t.Errorf("%v, %q", err, out.Text)
	}
}

func TestFailuresHaveNoSecrets(t *testing.T) {
	t.Parallel()
	source := newSource(t, oneTool(oneCall))
	source.secret = "hunter2"
	source.call = func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
		return graph.ToolResult{Attempts: 1}, &graph.Failure{Name: graph.FailToolError, Message: "not hunter2", Reply: value.FromString("hunter2")}
	}
	out, err := simulate(t, source, &request{Tool: "t", Seed: 1}, nil)
	all := out.Text + string(out.Failure) + err.Error()
	for _, rec := range out.Records {
		all += string(rec)
	}
	if strings.Contains(all, "hunter2") || !strings.Contains(all, "not [redacted]") {
		t.Error(all)
	}
}

func TestInvalidRequestsFail(t *testing.T) {
	t.Parallel()
	source := newSource(t, strings.Replace(oneTool(oneCall), "inputSchema: {type: object}", "inputSchema: {type: object, required: [x]}", 1))
	for name, test := range map[string]struct {
		in   *request
		want string
	}{
		"another tool":              {&request{Tool: "other"}, "unknown tool"},
		"another version":           {&request{Tool: "t", Digest: "ffff"}, "version ffff"},
		"arguments that are a list": {&request{Tool: "t", Args: []byte(`[]`)}, "expected an object"},
		"arguments that do not fit": {&request{Tool: "t", Args: []byte(`{}`)}, "missing required property"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := simulate(t, source, test.in, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func TestARunContinuesAsANewWorkflow(t *testing.T) {
	t.Parallel()
	source := newSource(t, oneTool(`      - {id: a, type: map, items: [1, 2, 3], maxConcurrency: 1, nodes: [{id: c, type: mcp, server: up, tool: do, args: {n: {expr: $item}}}], next: exit}`))
	source.call = func(_ context.Context, _ *callinfo.Info, _, _ string, args value.Value) (graph.ToolResult, error) {
		return text(args.Get("n").JSON()), nil
	}
	in, steps := &request{Tool: "t", Seed: 7}, 0
	want := source.local(t, "t", value.FromEntries(nil), 7)
	for ; ; steps++ {
		env := environment(t, source)
		env.SetContinueAsNewSuggested(true)
		register(env, source, nil, WorkerOptions{Log: slog.New(slog.DiscardHandler)})
		env.ExecuteWorkflow(WorkflowType, in)
		next, ok := continued(t, env)
		if !ok {
			out := &outcome{}
			if err := env.GetWorkflowResult(out); err != nil {
				t.Fatal(err)
			}
			var bad error
			run, err := executor.Replay(source.graphs[0], value.FromEntries(nil), 7, recordsOf(source.graphs[0], out.Records, &bad))
			if err = errors.Join(err, bad); err != nil {
				t.Fatal(err)
			}
			compare(t, want, run)
			break
		}
		in = next
	}
	if steps < 3 {
		t.Errorf("it continued %d times", steps)
	}
}

func TestOnAServerRunsAreSealed(t *testing.T) {
	t.Parallel()
	const key, secret = "0123456789abcdef0123", "the-secret-value"
	c := dialed(t, func(o *Options) { o.Key = []byte(key) })
	source := unique(newSource(t, oneTool(`      - {id: a, type: mcp, server: up, tool: do, args: {text: {expr: "$.entry.text"}}, next: exit}`)))
	var got atomic.Value
	source.call = func(_ context.Context, info *callinfo.Info, _, _ string, args value.Value) (graph.ToolResult, error) {
		got.Store(info.Header.Get("X-Token") + " " + info.Header.Get("X-Other"))
		if strings.Contains(args.JSON(), "fail") {
			return graph.ToolResult{}, &graph.Failure{Name: graph.FailToolError, Message: secret}
		}
		return text(secret), nil
	}
	working(t, c, source)
	for _, what := range []string{"fail", "well"} {
		args := `{"text": "` + secret + what + `"}`
		id := started(t, c, source, args, func(s *launch) {
			s.Info = &callinfo.Info{Caller: "anna", Header: http.Header{"X-Token": {secret}, "X-Other": {"no"}}}
			s.Forwarded = func(name string) bool { return name == "X-Token" }
		})
		followed(t, c, source, id, args)
		if got.Load() != secret+" " {
			t.Errorf("the call has the headers %q", got.Load())
		}
		if h := historyOf(t, c, id).String(); strings.Contains(h, secret) || strings.Contains(h, "anna") {
			t.Error("the history has a secret")
		}
		other := dialed(t, func(o *Options) { o.Key = []byte("another key that is long") })
		if _, err := other.resultOf(t.Context(), id); err == nil {
			t.Error("another key opens the result")
		}
		if s, err := dialed(t, nil).summarize(t.Context(), id); err != nil || s.Tool != "" || s.Caller != "" {
			t.Errorf("without the key the run is %+v, %v", s, err)
		}
	}
}

func TestOnAServerWithoutAKeyNothingOfCallersTravels(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	source := unique(newSource(t, oneTool(oneCall)))
	source.call = func(_ context.Context, info *callinfo.Info, _, _ string, _ value.Value) (graph.ToolResult, error) {
		if len(info.Header) > 0 || !info.Meta.IsUndefined() || info.Caller != "anna" {
			return graph.ToolResult{}, errors.New("it travelled")
		}
		return text("ok"), nil
	}
	working(t, c, source)
	id := started(t, c, source, "{}", func(s *launch) {
		s.Info = &callinfo.Info{Caller: "anna", Header: http.Header{"X-Token": {"secret"}}, Meta: value.FromString("meta")}
		s.Forwarded = func(string) bool { return true }
	})
	if run, _ := followed(t, c, source, id, "{}"); run.Result().JSON() != `"ok"` {
		t.Error(run.Err())
	}
}

func TestOnAServerLargeValuesAreFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	c := dialed(t, func(o *Options) { o.Storage = folder })
	source := unique(newSource(t, oneTool(oneCall)))
	large := strings.Repeat("0123456789abcdef", 4<<16) // 4 MiB
	var mixed strings.Builder                          // does not compress to nothing
	for i := range len(large) / 64 {
		mixed.WriteString(value.FromInt(int64(i)*2654435761%1_000_000_007).JSON() + ",")
	}
	large += mixed.String()
	source.call = func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
		return text(large), nil
	}
	working(t, c, source)
	id := started(t, c, source, "{}", nil)
	run, out := followed(t, c, source, id, "{}")
	if run.Result().Str() != large || out.Value.Str() != large {
		t.Errorf("the result has %d bytes, %v", len(out.Value.Str()), run.Err())
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) == 0 {
		t.Errorf("the folder has %d files, %v", len(files), err)
	}
	if s, err := c.summarize(t.Context(), id); err != nil || s.Bytes > 200_000 {
		t.Errorf("Temporal has %d bytes of it, %v", s.Bytes, err)
	}
}

func TestOnAServerWithoutStorageLargeRepliesFailOnce(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	source, k := unique(newSource(t, oneTool(oneCall))), &keys{}
	source.call = func(_ context.Context, info *callinfo.Info, _, _ string, _ value.Value) (graph.ToolResult, error) {
		k.add(info)
		return text(strings.Repeat("x", 3<<20)), nil
	}
	working(t, c, source)
	id := started(t, c, source, "{}", nil)
	if run, _ := followed(t, c, source, id, "{}"); run.Err() == nil || executor.FailureOf(run.Err()).Name != graph.FailTooLarge || len(k.list) != 1 {
		t.Errorf("%v after %d calls", run.Err(), len(k.list))
	}
}

func TestOnAServerAChangedFileBreaksNoRun(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	ask := oneTool(`      - {id: a, type: ask, message: "Well?", next: b}
      - {id: b, type: transform, transform: {expr: "'old'"}, next: exit}`)
	old := unique(newSource(t, ask))
	changed := unique(newSource(t, strings.Replace(ask, "'old'", "'new'", 1)))
	stop := working(t, c, old)
	id := started(t, c, old, "{}", nil)
	q := asked(t, c, id)
	stop()
	working(t, c, changed)
	fresh := started(t, c, changed, "{}", nil)
	answered(t, c, fresh, asked(t, c, fresh))
	if run, _ := followed(t, c, changed, fresh, "{}"); run.Result().JSON() != `"new"` {
		t.Errorf("the new run ended with %s, %v", run.Result().JSON(), run.Err())
	}
	if s, err := c.summarize(t.Context(), id); err != nil || s.Status != runs.Waiting {
		t.Errorf("%+v, %v", s, err)
	}
	working(t, c, old)
	answered(t, c, id, q)
	if run, _ := followed(t, c, old, id, "{}"); run.Result().JSON() != `"old"` {
		t.Errorf("the old run ended with %s, %v", run.Result().JSON(), run.Err())
	}
	replayed(t, c, old, historyOf(t, c, id))
}

// asked waits until a run asks, and returns the id of the question.
func asked(t testing.TB, c *Client, id string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		d, err := c.Look(ctx, runs.Who{Operator: true}, id, runs.Whole)
		if err == nil && len(d.Questions) > 0 {
			return d.Questions[0].ID
		}
		if ctx.Err() != nil {
			t.Fatalf("the run asks nothing: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func answered(t testing.TB, c *Client, id, question string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	v, err := value.Parse(`{"action": "accept"}`)
	if err == nil {
		err = c.answer(ctx, id, question, v, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := c.answer(ctx, id, question, v, nil); !errors.Is(err, runs.ErrNotAsked) && !errors.Is(err, runs.ErrNotFound) {
		t.Errorf("the second answer gives %v", err)
	}
}

func TestOnAServerACancelledRunEndsItsCalls(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	source := unique(newSource(t, oneTool(oneCall)))
	began, ended := make(chan struct{}), make(chan error, 1)
	source.call = func(ctx context.Context, _ *callinfo.Info, _, _ string, _ value.Value) (graph.ToolResult, error) {
		close(began)
		<-ctx.Done()
		ended <- ctx.Err()
		return graph.ToolResult{}, ctx.Err()
	}
	working(t, c, source)
	id := started(t, c, source, "{}", nil)
	<-began
	if err := c.cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	run, out := followed(t, c, source, id, "{}")
	if run.Err() == nil || out.Failure.Name != graph.FailCancelled {
		t.Errorf("the run ended with %v, %+v", run.Err(), out.Failure)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the call goes on")
	}
	if s, err := c.summarize(t.Context(), id); err != nil || s.Status != "canceled" {
		t.Errorf("%+v, %v", s, err)
	}
	replayed(t, c, source, historyOf(t, c, id))
	if err := c.start(t.Context(), launch{ID: id, Tool: "t", Digest: source.digest}); !errors.Is(err, runs.ErrExists) {
		t.Errorf("a second run with the id gives %v", err)
	}
}
