package durable

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestOfReportsTheLatestAreKept(t *testing.T) {
	t.Parallel()
	var s said
	for i := 1; i <= 100; i++ {
		s.add(i, callinfo.MethodProgress, fmt.Appendf(nil, `{"progress":%d}`, i))
		s.add(100+i, callinfo.MethodMessage, fmt.Appendf(nil, `{"data":"%d"}`, i))
	}
	if len(s.Reports) != maxReports || string(s.progress()) != `{"progress":100}` || string(s.Reports[maxReports-1].Params) != `{"data":"100"}` {
		t.Errorf("%d reports, progress %s", len(s.Reports), s.progress())
	}
	long := []byte(`"` + strings.Repeat("x", maxReportBytes/3) + `"`)
	for i := range 10 {
		s.add(300+i, callinfo.MethodMessage, long)
	}
	if n := s.size(); n > maxReportBytes || len(s.Reports) == 0 {
		t.Errorf("%d bytes of reports are kept", n)
	}
	s.add(400, callinfo.MethodMessage, []byte(`"`+strings.Repeat("x", maxReportBytes)+`"`))
	if len(s.Reports) != 0 {
		t.Errorf("a report that is too long is kept beside %d", len(s.Reports))
	}

	d := &driving{run: executor.NewRun(newSource(t, oneTool(oneCall)).graphs[0], value.FromEntries(nil), 1)}
	for i := range 200 {
		d.note(&calling{id: fmt.Sprint(i), in: &callRequest{}}, []report{{N: 1, Params: long}})
	}
	if len(d.said) == 0 || len(d.said) > maxSaidBytes/len(long) || d.said[len(d.said)-1].Call != "199" {
		t.Errorf("the reports of %d calls are kept", len(d.said))
	}
}

func TestReportsReachTheClientOnce(t *testing.T) {
	t.Parallel()
	var got []string
	n := &notifier{told: map[string]int{}, to: func(n callinfo.Notification) { got = append(got, n.Server+n.Params.JSON()) }}
	a := said{Call: "a", Server: "s", Reports: []report{{1, callinfo.MethodProgress, []byte(`1`)}, {2, callinfo.MethodMessage, []byte(`2`)}}}
	if !n.tell([]said{a}) || n.tell([]said{a}) {
		t.Error("what is fresh is not what is new")
	}
	a.Reports = append(a.Reports, report{3, callinfo.MethodMessage, []byte(`3`)})
	n.tell([]said{a, {Call: "b", Server: "t", Reports: []report{{1, callinfo.MethodMessage, []byte(`4`)}}}})
	if text := strings.Join(got, " "); text != "s1 s2 s3 t4" {
		t.Errorf("the client got %s", text)
	}
}

func TestLooksOfAClientAreBounded(t *testing.T) {
	t.Parallel()
	var l looks
	now, looked := time.Now(), 0
	for i := range 1000 {
		if l.may(now.Add(time.Duration(i) * time.Millisecond)) {
			looked++
		}
	}
	if looked != 100 {
		t.Errorf("%d looks in a second", looked)
	}
}

// telling returns what reports for the server of a call.
func telling(t *testing.T, info *callinfo.Info, server, tool string) func(method, params string) {
	return func(method, params string) {
		v, err := value.Parse(params)
		if err != nil {
			t.Error(err)
		}
		info.Listener.Notify(callinfo.Notification{Server: server, Tool: tool, Method: method, Params: v})
	}
}

// TestSecretsAreInNoReport lets a server report a secret while it works on a call. Heartbeats
// are in the history of a call that is lost, the other reports in that of one that ends.
func TestSecretsAreInNoReport(t *testing.T) {
	t.Parallel()
	source := newSource(t, oneTool(oneCall))
	source.secret = "hunter22"
	beats := make(chan said, 1)
	source.call = func(_ context.Context, info *callinfo.Info, server, tool string, _ value.Value) (graph.ToolResult, error) {
		tell := telling(t, info, server, tool)
		tell(callinfo.MethodProgress, `{"progressToken": 1, "progress": 1, "message": "with hunter22"}`)
		tell(callinfo.MethodMessage, `{"level": "info", "data": {"hunter22": ["a hunter22"]}}`)
		select {
		case beat := <-beats:
			if text := string(beat.Reports[0].Params) + string(beat.Reports[1].Params); strings.Contains(text, "hunter22") || !strings.Contains(text, "with [redacted]") {
				t.Errorf("the heartbeat is %s", text)
			}
		case <-time.After(20 * time.Second):
			t.Error("no heartbeat has the reports")
		}
		return text("well"), nil
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
		var beat said
		if details.HasValues() && details.Get(&beat) == nil && len(beat.Reports) == 2 {
			select {
			case beats <- beat:
			default:
			}
		}
	})
	c := &calls{source: source, log: slog.New(slog.DiscardHandler), beat: time.Millisecond, mark: (*Client)(nil).mark}
	env.RegisterActivity(c.call)
	got, err := env.ExecuteActivity(c.call, &callRequest{Server: "up", Tool: "do", MaxValue: MaxValue, Listening: &listening{LogLevel: "debug"}})
	if err != nil {
		t.Fatal(err)
	}
	var out callReply
	if err := got.Get(&out); err != nil || len(out.Reports) != 2 {
		t.Fatalf("%v, %d reports", err, len(out.Reports))
	}
	for _, r := range out.Reports {
		if text := string(r.Params); strings.Contains(text, "hunter22") || !strings.Contains(text, "[redacted]") {
			t.Errorf("a report is %s", text)
		}
	}
}

// TestSecretsAreInNoFailure lets a graph fail with a secret that a server replied with,
// and a call with one in its failure.
func TestSecretsAreInNoFailure(t *testing.T) {
	t.Parallel()
	failing := func(nodes string) *testSource {
		source := newSource(t, oneTool(nodes))
		source.secret = "hunter22"
		return source
	}
	source := failing(`
      - {id: a, type: mcp, server: up, tool: do, args: {}, next: which}
      - {id: which, type: switch, conditions: [{rule: {"==": [1, 2]}, target: exit}, {target: stop}]}
      - {id: stop, type: fail, error: got, message: {expr: "'I got ' & $.a"}, data: {got: {expr: $.a}}}`)
	source.call = func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
		return text("hunter22"), nil
	}
	call := failing(oneCall)
	call.call = func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
		return graph.ToolResult{}, &graph.Failure{Name: graph.FailToolError, Message: "I got hunter22", Data: value.FromString("hunter22")}
	}
	for name, s := range map[string]*testSource{"of a graph": source, "of a call": call} {
		for _, share := range []*executor.Share{nil, {Executions: 100}} {
			out, err := simulate(t, s, &request{Tool: s.graphs[0].Name, Digest: s.digest, Seed: 7, Share: share}, nil)
			if err == nil {
				t.Fatalf("the failure %s: none", name)
			}
			all := err.Error() + out.Text + string(out.Failure) + string(out.Error)
			if strings.Contains(all, "hunter22") || !strings.Contains(all, "I got [redacted]") {
				t.Errorf("the failure %s is %s", name, all)
			}
		}
	}
}

// TestOnAServerReportsOfCallsReachTheClient makes a call that reports while it is under
// way and just before it ends, and one without a listener.
func TestOnAServerReportsOfCallsReachTheClient(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	source := unique(newSource(t, oneTool(oneCall)))
	waited := make(chan struct{})
	source.call = func(_ context.Context, info *callinfo.Info, server, tool string, _ value.Value) (graph.ToolResult, error) {
		tell := telling(t, info, server, tool)
		tell(callinfo.MethodProgress, `{"progressToken": 1, "progress": 1, "total": 3}`)
		tell(callinfo.MethodMessage, fmt.Sprintf(`{"level": %q, "data": "early"}`, info.Listener.LogLevel))
		select {
		case <-waited:
		case <-time.After(20 * time.Second):
			t.Error("the client has no progress while the call is under way")
		}
		tell(callinfo.MethodProgress, `{"progressToken": 1, "progress": 2, "total": 3}`)
		tell(callinfo.MethodMessage, `{"level": "info", "data": "late"}`)
		return text("well"), nil
	}
	working(t, c, source)
	var mu sync.Mutex
	var got []string
	once := sync.OnceFunc(func() { close(waited) })
	listener := &callinfo.Listener{LogLevel: "debug", Notify: func(n callinfo.Notification) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, n.Method+n.Params.JSON())
		if n.Method == callinfo.MethodMessage {
			once()
		}
	}}
	id := started(t, c, source, `{}`, func(s *launch) { s.Info = &callinfo.Info{Listener: listener} })
	run := executor.NewRun(source.graphs[0], value.FromEntries(nil), 7)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	if _, err := c.followed(ctx, id, run, &watch{Notify: listener.Notify}); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	all := strings.Join(got, "\n")
	mu.Unlock()
	const want = `notifications/progress{"progressToken":":1#1","progress":1,"total":3}
notifications/message{"level":"debug","data":"early"}
notifications/progress{"progressToken":":1#1","progress":2,"total":3}
notifications/message{"level":"info","data":"late"}`
	if all != want {
		t.Errorf("the client got\n%s\nwant\n%s", all, want)
	}
	// Without a listener nothing of it is kept.
	id = started(t, c, source, `{}`, nil)
	if _, out := followed(t, c, source, id, `{}`); len(out.said) > 0 {
		t.Errorf("a run that nobody listens to keeps %v", out.said)
	}
}

// TestOnAServerReportsOfChildrenReachTheClient has a child of a child report: while its call
// is under way, and just before it ends. The parent makes the same call.
func TestOnAServerReportsOfChildrenReachTheClient(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	source := unique(newSource(t, twoTools(`      - {id: a, type: parallel, branches: {own: [{id: c, type: mcp, server: up, tool: own}], far: [{id: d, type: call, tool: inner, detached: true}]}, next: exit}`,
		`      - {id: a, type: call, tool: deep, detached: true, next: exit}`)+`
  - name: deep
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: a}
      - {id: a, type: parallel, branches: {one: [{id: c, type: mcp, server: up, tool: far}]}, next: exit}
      - {id: exit, type: exit}
`))
	early := make(chan struct{})
	told := sync.OnceFunc(func() { close(early) })
	source.call = func(_ context.Context, info *callinfo.Info, server, tool string, _ value.Value) (graph.ToolResult, error) {
		tell := telling(t, info, server, tool)
		tell(callinfo.MethodProgress, `{"progressToken": 1, "progress": 1}`)
		tell(callinfo.MethodMessage, `{"level": "info", "data": "early"}`)
		if tool == "far" {
			select {
			case <-early:
			case <-time.After(20 * time.Second):
				t.Error("the client has nothing of the child while its call is under way")
			}
		}
		tell(callinfo.MethodMessage, `{"level": "info", "data": "late"}`)
		return text("well"), nil
	}
	working(t, c, source)
	var mu sync.Mutex
	got := map[string][]string{}
	tokens := map[string]string{}
	listener := &callinfo.Listener{LogLevel: "debug", Notify: func(n callinfo.Notification) {
		mu.Lock()
		defer mu.Unlock()
		if n.Method == callinfo.MethodProgress {
			tokens[n.Params.Get("progressToken").Str()] = n.Tool
			return
		}
		if got[n.Tool] = append(got[n.Tool], n.Params.Get("data").Str()); n.Tool == "far" {
			told()
		}
	}}
	id := started(t, c, source, `{}`, func(s *launch) { s.Info = &callinfo.Info{Listener: listener} })
	run := executor.NewRun(source.graphs[0], value.FromEntries(nil), 7)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	if _, err := c.followed(ctx, id, run, &watch{Notify: listener.Notify}); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, tool := range []string{"own", "far"} {
		if all := strings.Join(got[tool], " "); all != "early late" {
			t.Errorf("of %s the client got %q", tool, all)
		}
	}
	if len(tokens) != 2 {
		t.Errorf("progress came with the tokens %v", tokens)
	}
}
