package durable

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// testSource is a file whose servers are a function.
type testSource struct {
	digest string
	graphs []*graph.Graph
	call   func(ctx context.Context, info *callinfo.Info, server, tool string, args value.Value) (graph.ToolResult, error)
	repeat func(tool string) bool
	secret string
	own    map[string]time.Duration // servers with workers of their own
}

func newSource(t testing.TB, text string) *testSource {
	t.Helper()
	file, ds := config.Parse("test.yaml", []byte(text), config.Options{})
	if file == nil || diag.HasErrors(ds) {
		t.Fatalf("config: %v", ds)
	}
	set, ds := graph.Build(file, nodes.All)
	if diag.HasErrors(ds) {
		t.Fatalf("graph: %v", ds)
	}
	return &testSource{digest: strings.Repeat("0a", 32), graphs: set.Graphs}
}

func (s *testSource) Graph(tool string) (*graph.Graph, error) {
	for _, g := range s.graphs {
		if g.Name == tool {
			return g, nil
		}
	}
	return nil, fmt.Errorf("unknown tool %q", tool)
}

func (s *testSource) Digest() string { return s.digest }

func (s *testSource) ServerQueue(server string) (time.Duration, bool) {
	wait, own := s.own[server]
	return wait, own
}

func (s *testSource) CallTool(ctx context.Context, info *callinfo.Info, server, tool string, args value.Value) (graph.ToolResult, error) {
	return s.call(ctx, info, server, tool, args)
}

func (s *testSource) MayRepeat(_ context.Context, _ *callinfo.Info, _, tool string) bool {
	return s.repeat != nil && s.repeat(tool)
}

func (s *testSource) Redact(info *callinfo.Info, text string) string {
	for _, secret := range info.OrNone().SecretArguments {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	if s.secret == "" {
		return text
	}
	return strings.ReplaceAll(text, s.secret, "[redacted]")
}

func (s *testSource) SecretArguments(_ *callinfo.Info, _, _ string, args value.Value) []string {
	if pin := args.Get("password").Str(); pin != "" {
		return []string{pin}
	}
	return nil
}

func (s *testSource) CheckLocked(_ context.Context, _, _ string, args value.Value) error {
	if args.Get("misfit").Bool() {
		return &graph.Failure{Name: graph.FailArguments, Message: "misfit"}
	}
	return nil
}

func (s *testSource) MaskArguments(_, _ string, args value.Value) value.Value {
	if args.Get("password").IsUndefined() {
		return args
	}
	return value.ObjectOf("password", "[redacted]")
}

func (s *testSource) RedactValue(info *callinfo.Info, v value.Value) value.Value {
	return v.Rewritten(func(text string) string { return s.Redact(info, text) })
}

// local drives runs of a source in this process.
func (s *testSource) local(t testing.TB, tool string, args value.Value, seed uint64) *executor.Run {
	g, err := s.Graph(tool)
	if err != nil {
		t.Fatal(err)
	}
	run := executor.NewRun(g, args, seed)
	_ = (&executor.Local{}).Run(context.Background(), run, localPort{s})
	return run
}

type localPort struct{ *testSource }

func (localPort) Now() time.Time                                  { return time.Now() }
func (localPort) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
func (localPort) Processor() expr.Processor                       { return nil }

// scripted returns calls that are answered as the lines of a fixture say, each once.
func scripted(t testing.TB, text string) func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
	var mu sync.Mutex
	left := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
	return func(_ context.Context, _ *callinfo.Info, server, tool string, args value.Value) (graph.ToolResult, error) {
		mu.Lock()
		defer mu.Unlock()
		call := fmt.Sprintf("%s %s %s => ", server, tool, args.JSON())
		i := slices.IndexFunc(left, func(line string) bool { return strings.HasPrefix(line, call) })
		if i < 0 {
			t.Errorf("unexpected call %s", call)
			return graph.ToolResult{}, errors.New("unexpected call")
		}
		answer := strings.TrimPrefix(left[i], call)
		left = slices.Delete(left, i, i+1)
		if text, ok := strings.CutPrefix(answer, "error: "); ok {
			return graph.ToolResult{Attempts: 1}, errors.New(text)
		}
		if text, ok := strings.CutPrefix(answer, "failure: "); ok {
			v, err := value.Parse(text)
			if err != nil {
				t.Error(err)
			}
			return graph.ToolResult{Attempts: 1}, graph.FailureFrom(v)
		}
		v, err := value.Parse(answer)
		if err != nil {
			t.Error(err)
		}
		return graph.ToolResult{Reply: v, Attempts: 1}, nil
	}
}

// timeless returns the records of a run as text without their times.
func timeless(t testing.TB, run *executor.Run) string {
	t.Helper()
	var b strings.Builder
	var beneath []string // the walks that are runs of their own on Temporal
	detached := map[string]bool{}
	detachedNodes(run.Graph(), detached, map[*graph.Graph]bool{})
	for rec := range run.Records(0) {
		if rec.Event == executor.Cancelled {
			continue // depends on what was under way beside it
		}
		rec.Start, rec.End, rec.Until = time.Time{}, time.Time{}, time.Time{}
		for i := range rec.AttemptTimes {
			rec.AttemptTimes[i].Start, rec.AttemptTimes[i].End = time.Time{}, time.Time{}
		}
		if slices.ContainsFunc(beneath, func(walk string) bool { return strings.HasPrefix(rec.Frame+"/", walk) }) {
			continue // on Temporal it is the record of another run
		}
		if rec.Event == executor.Opened && detached[rec.Key] {
			beneath = append(beneath, strings.TrimPrefix(fmt.Sprintf("%s/%d.0/", rec.Frame, rec.Execution), "/"))
			rec.Do, rec.Run = graph.Detach, ""
		}
		rec.Index = 0
		b.WriteString(rec.Value().JSON() + "\n")
	}
	return b.String()
}

// detachedNodes adds the keys of nodes whose calls are detached.
func detachedNodes(g *graph.Graph, keys map[string]bool, seen map[*graph.Graph]bool) {
	if g == nil || seen[g] {
		return
	}
	seen[g] = true
	for _, n := range g.Nodes {
		if n.Detached {
			keys[n.Key()] = true
		}
		detachedNodes(n.Callee, keys, seen)
		for _, body := range n.Bodies {
			detachedNodes(body, keys, seen)
		}
	}
}

// fixture is a file of testdata/run.
type fixture struct{ name, config, args, replies string }

func fixtures(t testing.TB) []fixture {
	files, err := filepath.Glob("../../testdata/run/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	var all []fixture
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f := fixture{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), args: "{}"}
		for _, part := range archive.Files {
			switch part.Name {
			case "config.yaml":
				f.config = string(part.Data)
			case "args.json":
				f.args = string(part.Data)
			case "replies":
				f.replies = string(part.Data)
			}
		}
		all = append(all, f)
	}
	return all
}

func TestFixturesHaveTheSameHistoryAsLocally(t *testing.T) {
	t.Parallel()
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			source := newSource(t, f.config)
			args, err := value.Parse(f.args)
			if err != nil {
				t.Fatal(err)
			}
			tool := source.graphs[0].Name
			source.call = scripted(t, f.replies)
			want := source.local(t, tool, args, 7)
			source.call = scripted(t, f.replies)
			got := simulated(t, source, &request{Tool: tool, Digest: source.digest, Args: raw(args), Seed: 7}, nil)
			compare(t, want, got)
		})
	}
}

// compare compares what came of two runs of one graph.
func compare(t testing.TB, want, got *executor.Run) {
	t.Helper()
	if a, b := timeless(t, want), timeless(t, got); a != b {
		t.Errorf("the history is\n%s\nlocally it is\n%s", b, a)
	}
	if a, b := want.Result().JSON(), got.Result().JSON(); a != b {
		t.Errorf("the result is %s, locally %s", b, a)
	}
	a, b := want.Err(), got.Err()
	if (a == nil) != (b == nil) || a != nil && executor.FailureOf(a).Value().JSON() != executor.FailureOf(b).Value().JSON() {
		t.Errorf("the failure is %v, locally %v", b, a)
	}
}

// simulated runs a workflow in the environment of the SDK, whose clock skips waits, and
// returns the run that its outcome tells of.
func simulated(t testing.TB, source *testSource, in *request, setup func(*testsuite.TestWorkflowEnvironment)) *executor.Run {
	t.Helper()
	return simulatedBy(t, source, in, WorkerOptions{}, setup)
}

// simulatedBy is simulated for a worker with options.
func simulatedBy(t testing.TB, source *testSource, in *request, o WorkerOptions, setup func(*testsuite.TestWorkflowEnvironment)) *executor.Run {
	t.Helper()
	out, _ := simulateBy(t, source, in, o, setup)
	g, err := source.Graph(in.Tool)
	if err != nil {
		t.Fatal(err)
	}
	args, err := parsed(in.Args)
	if err != nil {
		t.Fatal(err)
	}
	var bad error
	run, err := executor.Replay(g, args, in.Seed, recordsOf(g, out.Records, &bad))
	if err = errors.Join(err, bad); err != nil {
		t.Fatal(err)
	}
	read, err := out.read()
	if err != nil {
		t.Fatal(err)
	}
	if !run.Done() {
		run.Stop(read.Err())
	}
	return run
}

// simulate is simulated for what came of the workflow itself.
func simulate(t testing.TB, source *testSource, in *request, setup func(*testsuite.TestWorkflowEnvironment)) (*outcome, error) {
	t.Helper()
	return simulateBy(t, source, in, WorkerOptions{}, setup)
}

func simulateBy(t testing.TB, source *testSource, in *request, o WorkerOptions, setup func(*testsuite.TestWorkflowEnvironment)) (*outcome, error) {
	t.Helper()
	env := environment(t, source)
	env.SetTestTimeout(10 * time.Second)
	o.Log = slog.New(slog.DiscardHandler)
	register(env, source, nil, o)
	if setup != nil {
		setup(env)
	}
	env.OnRequestCancelExternalWorkflow(anything, anything, anything).Return(nil) // of a child that has ended
	env.ExecuteWorkflow(WorkflowType, in)
	out := &outcome{}
	if err := env.GetWorkflowError(); err != nil {
		return outcomeOf(t, err), err
	}
	if err := env.GetWorkflowResult(out); err != nil {
		t.Fatal(err)
	}
	return out, nil
}

// environment returns one of the SDK for workflows of a source.
func environment(t testing.TB, source *testSource) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	if raceDetector && slices.ContainsFunc(source.graphs, detaches) {
		t.Skip("the environment of the SDK has a race of its own where children are given up")
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: taskTimeout}) // as workers have it
	return env
}

// detaches reports whether runs of a graph start other runs.
func detaches(g *graph.Graph) bool {
	return slices.ContainsFunc(g.Nodes, func(n *graph.Node) bool {
		return n.Detached || slices.ContainsFunc(n.Bodies, detaches)
	})
}

const anything = "mock.Anything" // of the mocks of the environment

type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
