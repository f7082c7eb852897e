package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

// replica starts a serve of the deployment.
func (d *deployment) replica(args ...string) *web {
	d.t.Helper()
	return serveWeb(d.t, d.env, append([]string{d.file, "--auth", "bearer", "--engine", "temporal", "--temporal", d.temporal}, args...)...)
}

// killed ends a serve with SIGKILL.
func (w *web) killed() {
	w.t.Helper()
	if err := w.cmd.Process.Kill(); err != nil {
		w.t.Errorf("it ended by itself: %v\n%s", err, w.said())
	}
	<-w.done
	_ = w.cmd.Wait()
}

// result returns the members of the result of an answer.
func result(t *testing.T, body string) (got struct {
	ResultType, TaskID, Status, RequestState string
	TTL                                      *int64 `json:"ttlMs"`
	InputRequests                            map[string]any
}) {
	t.Helper()
	var message struct{ Result json.RawMessage }
	if err := json.Unmarshal([]byte(body), &message); err != nil || message.Result == nil || json.Unmarshal(message.Result, &got) != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return got
}

// durableTasks deploys testdata/tasks.yaml with a tool that calls a server which hangs.
func durableTasks(t *testing.T, upstream, key string) *deployment {
	t.Helper()
	temporal := givenTemporal(t)
	source, err := os.ReadFile("testdata/tasks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(source), "tools:\n", fmt.Sprintf(`# %x
mcpServers: {up: {url: %q}}
tools:
  - name: hangs
    description: Calls a tool that does not answer
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: call}
      - {id: call, type: mcp, server: up, tool: hang, args: {}, next: exit}
      - {id: exit, type: exit}
`, rand.Uint64(), upstream), 1)
	d := deployed(t, temporal, filepath.Join(t.TempDir(), "tasks.yaml"))
	d.change(text)
	d.env = []string{"MCPGRAPH_AUTH_TOKENS=ann " + annToken + "\nbob " + bobToken, "MCPGRAPH_KEY=" + key}
	return d
}

const sayYes = `{"action":"accept","content":{"yes":true}}`

// TestDurableTasks makes tasks at one replica, and reads, answers and cancels them at
// another one, also after all processes were killed.
func TestDurableTasks(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "the key of this deployment"} {
		t.Run(fmt.Sprintf("key %q", key), func(t *testing.T) {
			t.Parallel()
			up := &mcptest.Web{}
			listener := httptest.NewServer(up)
			defer listener.Close()
			d := durableTasks(t, listener.URL, key)
			defer d.stop()
			d.work()
			audit := filepath.Join(t.TempDir(), "audit")
			a, b := d.replica(), d.replica("--audit", audit)
			atA, atB, bob := taskClient{a, annToken}, taskClient{b, annToken}, taskClient{b, bobToken}

			asks, slow, hangs := atA.start("asks", "{}"), atA.start("slow", `{"ms":12000}`), atA.start("hangs", "{}")
			atB.reaches(asks, `"status":"input_required"`)
			if _, body := atB.of("tasks/get", slow, ""); result(t, body).TTL != nil {
				t.Errorf("a task under way has an end: %s", body)
			}
			// To others they are unknown, as ids that nobody has.
			id, secret, _ := strings.Cut(asks, ".")
			for _, c := range []struct {
				client taskClient
				id     string
			}{
				{bob, asks}, {atB, id + "." + strings.Repeat("A", len(secret))}, {atB, id}, {atB, id + "."}, {atB, "." + secret},
				{atB, asks + "."}, {atB, strings.Repeat("x", 5000)},
			} {
				for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
					if status, body := c.client.of(method, c.id, `,"inputResponses":{"ask:2":{"action":"decline"}}`); status != 400 || !strings.Contains(body, `"code":-32602,"message":"`+method+`: unknown task`) {
						t.Errorf("%s of %.60q: %d %s", method, c.id, status, body)
					}
				}
			}
			// A cancellation reaches the upstream server.
			eventually(t, "the call", func() bool { return len(up.Arrivals("tools/call")) > 0 })
			if _, body := atB.of("tasks/cancel", hangs, ""); !strings.Contains(body, `"resultType":"complete"`) {
				t.Errorf("tasks/cancel: %s", body)
			}
			atA.reaches(hangs, `"status":"cancelled"`)
			eventually(t, "its cancellation", func() bool { return len(up.Arrivals("notifications/cancelled")) > 0 })

			// Without a worker everything but answers goes on.
			d.stop()
			for range 3 { // at first Temporal does not know that yet
				began := time.Now()
				status, body := atB.of("tasks/update", asks, `,"inputResponses":{"ask:2":7}`)
				t.Logf("tasks/update without a worker: %s", time.Since(began).Round(time.Second/100))
				if took := time.Since(began); status != 503 || took > 8*time.Second || !strings.Contains(body, `"code":-32603,"message":"tasks/update: the task cannot be reached now: no worker`) {
					t.Errorf("tasks/update without a worker, after %s: %d %s", took, status, body)
				}
			}
			atA.reaches(asks, `"status":"working","createdAt"`)
			atA.reaches(asks, `"statusMessage":"no worker`)
			atB.reaches(slow, `"status":"working"`)
			late := atB.start("slow", `{"ms":1}`)

			a.killed()
			b.killed()
			d.work()
			a, b = d.replica(), d.replica("--audit", audit)
			defer a.stop()
			defer b.stop()
			atA.web, atB.web, bob.web = a, b, b
			atB.reaches(asks, `"inputRequests":{"ask:2":{"method":"elicitation/create"`)
			if _, body := bob.of("tasks/update", asks, `,"inputResponses":{"ask:2":`+sayYes+`}`); !strings.Contains(body, "-32602") {
				t.Errorf("another caller answers: %s", body)
			}
			if _, body := atA.of("tasks/update", asks, `,"inputResponses":{"ask:2":`+sayYes+`,"ask":1}`); !strings.Contains(body, `"resultType":"complete"`) {
				t.Errorf("tasks/update: %s", body)
			}
			atB.reaches(asks, `"structuredContent":{"yes":true}`)
			atB.reaches(slow, `"structuredContent":"first version"`)
			atA.reaches(late, `"structuredContent":"first version"`)
			atA.reaches(hangs, `"status":"cancelled"`)
			if _, body := atA.of("tasks/get", slow, ""); result(t, body).TTL == nil {
				t.Errorf("a task that is over has no end: %s", body)
			}
			if lines, err := os.ReadFile(audit); err != nil || !strings.Contains(string(lines), `"method":"tasks/cancel","decision":"allowed","run":"`+strings.Split(hangs, ".")[0]) || strings.Contains(string(lines), secret) {
				t.Errorf("audit log: %v\n%s", err, lines)
			}
		})
	}
}

// TestDurableTasksOfAChangedFile reads and answers tasks of a version that the replica
// does not have, and goes on with a call that waits.
func TestDurableTasksOfAChangedFile(t *testing.T) {
	t.Parallel()
	d := durableTasks(t, "http://127.0.0.1:1/", "")
	defer d.stop()
	d.work()
	a := d.replica()
	ann := taskClient{a, annToken}
	asks, done := ann.start("asks", "{}"), ann.start("slow", `{"ms":1}`)
	ann.reaches(asks, "input_required")
	ann.reaches(done, "completed")
	text, err := os.ReadFile(d.file)
	if err != nil {
		t.Fatal(err)
	}
	// Calls that wait: this version lets the tool be called without a task.
	a.stop()
	second := strings.Replace(string(text), "task: required", "task: optional", 1)
	d.change(second)
	d.work()
	a = d.replica()
	ann.web = a
	const knowsElicitation = `{"elicitation":{}}`
	var states []string
	for range 2 {
		_, body := ann.do("tools/call", "asks", `"name":"asks"`, knowsElicitation)
		waits := result(t, body)
		if waits.ResultType != "input_required" || waits.InputRequests["ask"] == nil {
			t.Fatalf("a call that asks: %s", body)
		}
		states = append(states, waits.RequestState)
	}
	a.stop()
	d.change(strings.ReplaceAll(second, "first version", "second version"))
	b := d.replica()
	defer b.stop()
	ann.web = b
	ann.reaches(done, `"structuredContent":"first version"`)
	ann.reaches(asks, "input_required")
	if _, body := ann.of("tasks/update", asks, `,"inputResponses":{"ask:2":`+sayYes+`}`); !strings.Contains(body, `"resultType":"complete"`) {
		t.Errorf("tasks/update: %s", body)
	}
	ann.reaches(asks, `"structuredContent":{"yes":true}`)
	goesOn := func(state, capabilities string) string {
		_, body := ann.do("tools/call", "asks", fmt.Sprintf(`"name":"asks","requestState":%q,"inputResponses":{"ask":%s}`, state, sayYes), capabilities)
		return body
	}
	for range 2 { // the same call again gets the same result
		if body := goesOn(states[0], knowsElicitation); !strings.Contains(body, `"structuredContent":{"yes":true}`) {
			t.Errorf("a call that goes on: %s", body)
		}
		body := goesOn(states[1], knowsTasks)
		if got := result(t, body); got.ResultType != "task" {
			t.Fatalf("a call that goes on as a task: %s", body)
		}
		ann.reaches(result(t, body).TaskID, `"structuredContent":{"yes":true}`)
	}
}

// TestDurableCallsThatWait asks at one replica and gets the answers at another one. A
// state is good for the questions that it came with.
func TestDurableCallsThatWait(t *testing.T) {
	t.Parallel()
	d := durableTasks(t, "http://127.0.0.1:1/", "")
	defer d.stop()
	text, err := os.ReadFile(d.file)
	if err != nil {
		t.Fatal(err)
	}
	d.change(string(text) + `
  - name: twice
    description: Asks the same twice
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: ask}
      - {id: ask, type: ask, message: Sure?, schema: {type: object, properties: {yes: {type: boolean}}, required: [yes]}, next: again}
      - id: again
        type: switch
        conditions: [{rule: {"==": [{var: ask.yes}, true]}, target: exit}, {target: ask}]
      - {id: exit, type: exit}
`)
	d.work()
	a, b := d.replica(), d.replica()
	defer b.stop()
	atA, atB, bob := taskClient{a, annToken}, taskClient{b, annToken}, taskClient{b, bobToken}
	const capabilities = `{"elicitation":{}}`
	no := strings.Replace(sayYes, "true", "false", 1)
	call := func(c taskClient, state, answer string) (int, string) {
		return c.do("tools/call", "twice", fmt.Sprintf(`"name":"twice","requestState":%q,"inputResponses":{"ask":%s}`, state, answer), capabilities)
	}
	_, body := atA.do("tools/call", "twice", `"name":"twice"`, capabilities)
	first := result(t, body)
	if first.ResultType != "input_required" {
		t.Fatal(body)
	}
	for _, state := range []string{first.RequestState[1:], first.RequestState + "x", first.RequestState[:len(first.RequestState)-1] + "x", "a.b.c.d", ""} {
		if status, body := call(atB, state, no); status != 400 || !strings.Contains(body, "requestState is unknown") {
			t.Errorf("state %q: %d %s", state, status, body)
		}
	}
	if _, body := call(bob, first.RequestState, no); !strings.Contains(body, "requestState is unknown") {
		t.Errorf("the state of another caller: %s", body)
	}
	a.killed()
	_, body = call(atB, first.RequestState, no)
	second := result(t, body)
	if second.ResultType != "input_required" || second.RequestState == first.RequestState {
		t.Fatalf("the second question: %s", body)
	}
	// The first answer again does not answer the second question.
	if _, body := call(atB, first.RequestState, no); result(t, body).RequestState != second.RequestState {
		t.Errorf("an answer that comes again: %s", body)
	}
	if status, body := call(atB, first.RequestState, sayYes); status != 400 || !strings.Contains(body, `"code":-32602`) {
		t.Errorf("another answer to the first question: %d %s", status, body)
	}
	if _, body := call(atB, second.RequestState, sayYes); !strings.Contains(body, `"structuredContent":"exit"`) {
		t.Errorf("the result: %s", body)
	}
	if _, body := call(atB, second.RequestState, sayYes); !strings.Contains(body, `"structuredContent":"exit"`) {
		t.Errorf("the result again: %s", body)
	}
	for _, state := range []string{first.RequestState, second.RequestState} {
		if status, body := call(atB, state, `{"action":"decline"}`); status != 400 || !strings.Contains(body, `"code":-32602`) {
			t.Errorf("another answer after the end: %d %s", status, body)
		}
	}
}
