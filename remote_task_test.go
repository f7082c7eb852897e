package mcpgraph_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// remotePlace is a place whose runs are what a test says.
type remotePlace struct {
	runs.Place
	mu       sync.Mutex
	begun    []*runs.Call
	caller   string // of all runs
	state    runs.State
	down     error
	noWorker bool
	answered map[string]string
	ended    int
}

func (d *remotePlace) Start(_ context.Context, call *runs.Call) (*runs.State, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down != nil {
		return nil, d.down
	}
	d.begun = append(d.begun, call)
	return &runs.State{Summary: runs.Summary{ID: "id-of-" + call.Info.Caller}}, nil
}

func (d *remotePlace) Look(_ context.Context, w runs.Who, id string, _ runs.Detail) (*runs.State, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down != nil {
		return nil, d.down
	}
	for _, call := range d.begun {
		if id == "id-of-"+call.Info.Caller && w.Owns(d.caller, call.Claim.Check) {
			s := d.state
			if d.noWorker {
				return &s, runs.ErrNoWorker
			}
			return &s, nil
		}
	}
	return nil, runs.ErrNotFound
}

func (d *remotePlace) Answer(_ context.Context, _ runs.Who, _ string, answers []runs.Answer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range answers {
		d.answered[a.Question] = fmt.Sprint(a.Value.JSON(), " ", a.Err)
	}
	return nil
}

func (d *remotePlace) Cancel(context.Context, runs.Who, string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended++
	return nil
}

const remoteTools = `
version: "1.0"
server: {name: tasks, version: "1"}
tools:
  - name: work
    description: Works
    inputSchema: {type: object, properties: {n: {type: number}}}
    nodes:
      - {id: entry, type: entry, next: exit}
      - {id: exit, type: exit}
`

// remoteClient makes requests of revision 2026-07-28.
type remoteClient struct {
	t   *testing.T
	url string
}

func (c remoteClient) do(method, name, members string) (int, string) {
	c.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`, method, members)
	r, err := http.NewRequest("POST", c.url+"/mcp", strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return 0, ""
	}
	for key, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name,
	} {
		r.Header.Set(key, v)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Error(err)
		return 0, ""
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(text)
}

func (c remoteClient) of(method, id, more string) (int, string) {
	c.t.Helper()
	return c.do(method, id, fmt.Sprintf(`"taskId":%q%s`, id, more))
}

// remoteReplicas returns a place, clients of two engines that have it, and the id of a
// task of the first one.
func remoteReplicas(t *testing.T) (d *remotePlace, a, b remoteClient, id string) {
	t.Helper()
	d = &remotePlace{answered: map[string]string{}}
	var clients []remoteClient
	for range 2 {
		e := mustLoad(t, remoteTools, mcpgraph.WithPlace(d, false))
		h, err := e.Handler(server.HTTPOptions{})
		if err != nil {
			t.Fatal(err)
		}
		listener := httptest.NewServer(h)
		t.Cleanup(func() {
			h.Close()
			listener.Close()
		})
		clients = append(clients, remoteClient{t, listener.URL})
	}
	a, b = clients[0], clients[1]
	_, body := a.do("tools/call", "work", `"name":"work","arguments":{"n":1}`)
	_, rest, ok := strings.Cut(body, `"resultType":"task","taskId":"`)
	if id, _, _ = strings.Cut(rest, `"`); !ok || !strings.HasPrefix(id, "id-of-.") {
		t.Fatalf("the call: %s", body)
	}
	return d, a, b, id
}

func TestTasksOfAPlaceAreKnownToAllReplicas(t *testing.T) {
	t.Parallel()
	d, _, b, id := remoteReplicas(t)
	call := d.begun[0]
	secret := strings.TrimPrefix(id, "id-of-.")
	if call.Run.Args().JSON() != `{"n":1}` || call.Claim.Check == "" || strings.Contains(call.Claim.Check, secret) {
		t.Errorf("the place got %s with the claim %+v", call.Run.Args().JSON(), call.Claim)
	}
	for kind, refused := range map[string]bool{"elicitation/create": false, "elicitation/create url": true, "sampling/createMessage": true, "roots/list": true} {
		if f := call.Refuses[kind]; (f != nil) != refused || f != nil && f.Name != graph.FailCannotAsk {
			t.Errorf("%s is refused with %v", kind, f)
		}
	}
	created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	params, err := value.Parse(`{"message":"Sure?"}`)
	if err != nil {
		t.Fatal(err)
	}
	over := runs.Summary{Status: runs.Completed}
	asked := []runs.Question{{ID: ":2", Node: "ask", Method: graph.AskPerson, Params: params}, {ID: "1.0:3", Node: "ask", Method: graph.AskPerson, Params: params}}
	missing, err := value.Parse(`{"requiredCapabilities":{"roots":{}}}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		state runs.State
		want  string
	}{
		{runs.State{}, `"status":"working","createdAt":"2026-01-02T03:04:05Z","lastUpdatedAt":"0001-01-01T00:00:00Z","ttlMs":null,"pollIntervalMs":1000}`},
		{runs.State{Questions: asked}, `"status":"input_required",`},
		{runs.State{Questions: asked}, `"inputRequests":{"ask:2":{"method":"elicitation/create","params":{"message":"Sure?"}},"ask@1.0:3":`},
		{runs.State{Problem: "no worker"}, `"statusMessage":"no worker","ttlMs":null`},
		{runs.State{Summary: over, Result: params, Kept: time.Hour}, `"status":"completed"`},
		{runs.State{Summary: over, Result: params, Kept: time.Hour}, `"ttlMs":3600000,`},
		{runs.State{Summary: over, Result: params}, `"structuredContent":{"message":"Sure?"},"resultType":"complete"`},
		{runs.State{Summary: over, Err: &graph.Failure{Name: "unlucky", Message: "no luck"}}, `"result":{"content":[{"type":"text","text":"no luck"}],"isError":true`},
		{runs.State{Summary: over, Err: &graph.Failure{Name: "unlucky", Message: "no luck"}}, `"mcpgraph/error":{"name":"unlucky","message":"no luck"}`},
		{runs.State{Summary: over, Err: &graph.Failure{Name: graph.FailCannotAsk, Message: "no", Data: missing}}, `"status":"failed"`},
		{runs.State{Summary: over, Err: &graph.Failure{Name: graph.FailCannotAsk, Message: "no", Data: missing}}, `"error":{"code":-32021,"message":"the client did not declare the capability roots","data":{"requiredCapabilities":{"roots":{}}}}`},
		{runs.State{Ending: true, Questions: asked}, `"status":"cancelled"`},
		{runs.State{Ending: true, Summary: over, Result: params}, `"status":"cancelled"`},
	} {
		d.state = test.state
		d.state.Created = created
		if status, body := b.of("tasks/get", id, ""); status != 200 || !strings.Contains(body, test.want) || strings.Contains(test.want, "cancelled") && strings.Contains(body, "Sure?") {
			t.Errorf("%+v: got %d %s, want %s", test.state, status, body, test.want)
		}
	}
}

func TestTasksOfAPlaceAreAnsweredAndCancelled(t *testing.T) {
	t.Parallel()
	d, a, b, id := remoteReplicas(t)
	d.state = runs.State{Questions: []runs.Question{{ID: ":2", Node: "ask", Method: graph.AskPerson}, {ID: ":3", Node: "ask", Method: graph.AskPerson}}}
	const long = `,"inputResponses":{"ask:2":{"action":"accept","content":{"text":%q}}}`
	for _, responses := range []string{`,"inputResponses":{"ask":{"action":"accept"},"ask:1":7}`, ""} {
		if status, body := b.of("tasks/update", id, responses); status != 200 || len(d.answered) != 0 {
			t.Errorf("answers to nothing: %d %s, %v", status, body, d.answered)
		}
	}
	if status, body := b.of("tasks/update", id, fmt.Sprintf(long, strings.Repeat("x", 1<<20))); status != 400 || !strings.Contains(body, "inputResponses have 1048627 bytes; at most 1048576 are accepted") || len(d.answered) != 0 {
		t.Errorf("a long answer: %d %s, %v", status, body, d.answered)
	}
	b.of("tasks/update", id, `,"inputResponses":{"ask:2":{"action":"accept"},"ask:3":7}`)
	if len(d.answered) != 2 || d.answered[":2"] != `{"action":"accept"} <nil>` || !strings.Contains(d.answered[":3"], "no action") {
		t.Errorf("answered: %v", d.answered)
	}
	for range 2 {
		a.of("tasks/cancel", id, "")
		d.state.Ending = true
	}
	if d.ended != 1 {
		t.Errorf("cancelled %d times", d.ended)
	}
}

// TestTasksOfAPlaceThatCannotBeReached shows that a task is not unknown then, and that
// nobody learns where the place is.
func TestTasksOfAPlaceThatCannotBeReached(t *testing.T) {
	t.Parallel()
	d, a, b, id := remoteReplicas(t)
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		d.down = errors.New("dial tcp 10.0.0.1: refused")
		if status, body := b.of(method, id, ""); status != 503 || !strings.Contains(body, `"error":{"code":-32603,"message":"`+method+`: the task cannot be reached now: try again later"}`) {
			t.Errorf("%d %s", status, body)
		}
		d.down = errors.Join(&graph.Failure{Name: graph.FailConnect, Message: "it is down"}, d.down)
		if status, body := b.of(method, id, ""); status != 503 || !strings.Contains(body, `: the task cannot be reached now: it is down"}`) {
			t.Errorf("%d %s", status, body)
		}
		d.down = nil
		d.caller = "somebody else"
		if status, body := b.of(method, id, ""); status != 400 || !strings.Contains(body, `"code":-32602,"message":"`+method+`: unknown task`) {
			t.Errorf("a task of somebody else: %d %s", status, body)
		}
		d.caller = ""
		for _, name := range []string{"id-of-", "id-of-.", "." + id, id + "x", "other" + id[strings.Index(id, "."):]} {
			if status, body := b.of(method, name, ""); status != 400 || !strings.Contains(body, "-32602") {
				t.Errorf("%q: %d %s", name, status, body)
			}
		}
	}
	name, secret, _ := strings.Cut(id, ".")
	digest := sha256.Sum256([]byte(name + " " + secret + " 0"))
	again := fmt.Sprintf(`"name":"work","arguments":{"n":1},"requestState":"%s.0.%x"`, id, digest[:8])
	for _, down := range []struct {
		err  error
		want string
	}{
		{errors.New("dial tcp 10.0.0.1: refused"), "the run cannot be reached now: try again later"},
		{errors.Join(&graph.Failure{Name: graph.FailConnect, Message: "it is down"}, errors.New("dial tcp 10.0.0.1: refused")), "it is down"},
	} {
		d.down = down.err
		if _, body := b.do("tools/call", "work", again); !strings.Contains(body, `"text":"`+down.want+`"`) || !strings.Contains(body, `"name":"connect"`) || strings.Contains(body, "10.0.0.1") {
			t.Errorf("the call again: %s", body)
		}
	}
	d.down = nil
	d.state, d.noWorker = runs.State{}, true
	if status, body := b.of("tasks/update", id, `,"inputResponses":{"ask:2":7}`); status != 503 || !strings.Contains(body, "no worker") {
		t.Errorf("an answer that nobody takes: %d %s", status, body)
	}
	d.down = &graph.Failure{Name: graph.FailBusy, Message: "1000 runs of this caller are under way"}
	if _, body := a.do("tools/call", "work", `"name":"work"`); !strings.Contains(body, `"isError":true`) || !strings.Contains(body, `"name":"busy"`) {
		t.Errorf("a task that cannot begin: %s", body)
	}
}
