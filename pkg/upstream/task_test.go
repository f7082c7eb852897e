package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// taskScript is a server with one tool that can only be called as a task.
func taskScript(tasks *mcptest.Tasks) mcptest.Script {
	return mcptest.Script{Tasks: tasks, Tools: []mcptest.Tool{{
		Name: "research", Execution: json.RawMessage(`{"taskSupport":"required"}`), Result: mcptest.Text("found"),
	}}}
}

// counts returns how often the server was asked for something.
func counts(t *testing.T, p *Pool, what string) int {
	t.Helper()
	n, _ := strconv.Atoi(mustCall(t, p, "calls", `{}`).Get("structuredContent").Get(what).JSON())
	return n
}

// answersYes answers questions of servers.
func answersYes(context.Context, string, value.Value) (value.Value, error) {
	return value.Parse(`{"action":"accept","content":{"yes":true}}`)
}

func TestToolsThatAreTasksAreCalledAsTasks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		states  []string
		message string
		want    string // the text
		fails   []string
		again   bool // the server may be asked to do it again
		cancels int  // requests to cancel it
		modern  bool // only there
		change  func(*config.Upstream)

		questions int
	}{
		{name: "completed", states: []string{"working", "working", "completed"}, want: "found"},
		{name: "asks", states: []string{"input_required", "completed"}, want: `{"action":"accept","content":{"yes":true}}`},
		{name: "asks and asks", states: []string{"input_required"}, questions: maxTaskQuestions + 1, modern: true, cancels: 1,
			fails: []string{"the call went on as a task (input_required): it asked more than 100 questions", "may have acted"}},
		{name: "failed with an error", states: []string{"failed"}, modern: true, fails: []string{"it broke (JSON-RPC error -32050)"}},
		{name: "cancelled", states: []string{"working", "cancelled"}, message: "no budget", fails: []string{"the call went on as a task (cancelled: no budget): the server cancelled the task", "may have acted"}},
		{name: "gone", states: []string{"working", "gone"}, fails: []string{"cannot be followed", "the server does not know the task any more", "no such task"}},
		{name: "mute", states: []string{"working", "mute"}, fails: []string{"timed out: no answer and no progress for 5s"}, cancels: 1, change: short},
		{name: "longer than maxCallTimeMs", states: []string{"working"}, fails: []string{"it took longer than 20s to answer"}, cancels: 1,
			change: func(u *config.Upstream) { u.MaxCallTime = 20 * time.Second }},
	} {
		for _, modern := range []bool{false, true} {
			if c.modern && !modern {
				continue
			}
			name := c.name
			if modern {
				name += " modern"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					script := taskScript(&mcptest.Tasks{States: c.states, Message: c.message, Questions: c.questions})
					retries := func(u *config.Upstream) {
						u.Retry = &config.Retry{MaxAttempts: 3, InitialDelay: time.Second, MaxDelay: time.Second, Backoff: 1}
						if c.change != nil {
							c.change(u)
						}
					}
					o := Options{Answers: map[string]Answer{"elicitation/create": answersYes}}
					var p *Pool
					if modern {
						p = virtualWebWith(t, o, config.HTTP, &mcptest.Web{Script: script, Modern: true}, retries)
					} else {
						p = virtualPipeWith(t, o, script, retries)
					}
					if c.fails == nil {
						if got := text(mustCall(t, p, "research", `{}`)); got != c.want {
							t.Errorf("got %s, want %s", got, c.want)
						}
					} else {
						e := mustFail(t, p, "research", `{}`)
						for _, want := range c.fails {
							if !strings.Contains(e.Error(), want) {
								t.Errorf("error %q does not say %q", e, want)
							}
						}
					}
					calls := 1
					if modern {
						calls = 2 // one of them was refused
					}
					if got := counts(t, p, "research"); got != calls {
						t.Errorf("the tool was called %d times, want %d", got, calls)
					}
					if got := counts(t, p, "tasks/cancel"); got != c.cancels {
						t.Errorf("cancelled %d times, want %d", got, c.cancels)
					}
				})
			})
		}
	}
}

// A caller that gives up cancels the task.
func TestCancelledCallsCancelTheirTask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := virtualPipeWith(t, Options{}, taskScript(&mcptest.Tasks{States: []string{"working"}, Interval: 3_600_000}))
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(10*time.Minute+time.Second/2, cancel)
		_, err := p.CallTool(ctx, nil, "fake", "research", value.Undef)
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		// An hour between two polls is too long for us: it is a minute.
		if got, cancelled := counts(t, p, "tasks/get"), counts(t, p, "tasks/cancel"); got != 10 || cancelled != 1 {
			t.Errorf("polled %d times, cancelled %d times", got, cancelled)
		}
	})
}

// A task that ended with its server is begun again only if the tool may run twice.
func TestTasksOfDeadServersAreRepeatedOnlyIfSafe(t *testing.T) {
	t.Parallel()
	for _, safe := range []bool{false, true} {
		script := taskScript(&mcptest.Tasks{States: []string{"exit"}, Interval: 100})
		log := filepath.Join(t.TempDir(), "calls")
		script.CallLog = log
		if safe {
			script.Tools[0].Annotations = json.RawMessage(`{"idempotentHint":true}`)
		}
		p := start(t, Options{}, child(script, func(u *config.Upstream) {
			u.Retry = &config.Retry{MaxAttempts: 2, InitialDelay: time.Millisecond, MaxDelay: time.Millisecond, Backoff: 1}
		}))
		e := mustFail(t, p, "research", `{}`)
		logged, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		if safe {
			want = 2
		}
		if got := len(strings.Fields(string(logged))); got != want || !strings.Contains(e.Error(), "exited (code 3)") || e.FailureName() != failedClosed {
			t.Errorf("safe %v: called %d times, want %d: %v", safe, got, want, e)
		}
	}
}

// A call whose session is forgotten while its task goes on asks for the task on the next
// session, and does not call the tool again.
func TestTasksAreFollowedOnTheNextSession(t *testing.T) {
	t.Parallel()
	w := &mcptest.Web{Script: taskScript(&mcptest.Tasks{States: []string{"working", "working", "completed"}, Interval: 100})}
	p := start(t, Options{}, web(t, config.HTTP, w))
	polled := func() int { return len(w.Arrivals("tasks/get")) }
	done := make(chan struct{})
	go func() {
		defer close(done)
		eventually(t, "the first poll", func() bool { return polled() > 0 })
		w.Forget()
	}()
	if got := text(mustCall(t, p, "research", `{}`)); got != "found" {
		t.Error(got)
	}
	<-done
	if calls := len(w.Arrivals("tools/call")); calls != 1 || w.Sessions() != 2 {
		t.Errorf("%d calls, %d sessions", calls, w.Sessions())
	}
}

func TestServersWithoutTasksAreNamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := virtualPipeWith(t, Options{}, taskScript(nil))
		e := mustFail(t, p, "research", `{}`)
		for _, want := range []string{"can only be called as a task", `does not announce the capability "tasks.requests.tools.call"`, "-32601"} {
			if !strings.Contains(e.Error(), want) {
				t.Errorf("error %q does not say %q", e, want)
			}
		}
		status, err := p.Status(context.Background(), &callinfo.Info{}, "fake")
		if err != nil || status.CallsTasks {
			t.Errorf("%v, calls tasks: %v", err, status.CallsTasks)
		}
	})
}

// TestRealTask calls the tool of a server of another make that can only be called as a task.
func TestRealTask(t *testing.T) {
	t.Parallel()
	testscale.OnlyFull(t)
	asked := 0
	p := start(t, Options{Answers: map[string]Answer{"elicitation/create": func(_ context.Context, _ string, params value.Value) (value.Value, error) {
		asked++
		return value.Parse(`{"action":"accept","content":{"interpretation":"snake"}}`)
	}}}, realEntry(t, "mcp-server-everything", nil))
	got := text(mustCall(t, p, "simulate-research-query", `{"topic":"python","ambiguous":true}`))
	if !strings.Contains(got, "# Research Report: python (snake)") || asked != 1 {
		t.Errorf("asked %d times: %s", asked, got)
	}
}
