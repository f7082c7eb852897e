package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const (
	annToken, bobToken = "0123456789abcdef-ann", "0123456789abcdef-bob"

	// knowsTasks are the capabilities of a client that knows tasks.
	knowsTasks = `{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
)

// taskClient makes requests of revision 2026-07-28.
type taskClient struct {
	*web
	token string
}

// do makes a request whose params have these members, and returns the status and the
// body.
func (c taskClient) do(method, name, members, capabilities string) (int, string) {
	status, _, body := c.ask("POST", "/mcp", fmt.Sprintf(
		`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,`+
			`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}}}`,
		method, members, modernRevision, capabilities),
		"Authorization", "Bearer "+c.token, "Mcp-Protocol-Version", modernRevision, "Mcp-Method", method, "Mcp-Name", name)
	return status, body
}

// start calls a tool and returns the id of the task.
func (c taskClient) start(tool, args string) string {
	c.t.Helper()
	_, body := c.do("tools/call", tool, fmt.Sprintf(`"name":%q,"arguments":%s`, tool, args), knowsTasks)
	var got struct {
		Result struct{ ResultType, TaskID, Status string }
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || got.Result.ResultType != "task" || got.Result.Status != "working" || len(got.Result.TaskID) < 26 {
		c.t.Fatalf("%v in %s", err, body)
	}
	return got.Result.TaskID
}

// of makes a request of a task.
func (c taskClient) of(method, id, more string) (int, string) {
	return c.do(method, id, fmt.Sprintf(`"taskId":%q%s`, id, more), knowsTasks)
}

// reaches waits until the state of a task has this part.
func (c taskClient) reaches(id, part string) {
	c.t.Helper()
	eventually(c.t, part, func() bool {
		_, body := c.of("tasks/get", id, "")
		return strings.Contains(body, part)
	})
}

// TestTasks has two callers make tasks of a server that runs one call at a time.
func TestTasks(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("testdata/tasks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tasks.yaml")
	if err := os.WriteFile(file, source, 0o600); err != nil {
		t.Fatal(err)
	}
	w := serveWeb(t, []string{"MCPGRAPH_AUTH_TOKENS=ann " + annToken + "\nbob " + bobToken}, file, "--auth", "bearer")
	defer w.stop() // also while a task runs
	ann, bob := taskClient{w, annToken}, taskClient{w, bobToken}

	asks := ann.start("asks", "{}")
	ann.reaches(asks, `"status":"input_required","createdAt"`)
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		if status, body := bob.of(method, asks, `,"inputResponses":{"ask:2":{"action":"accept","content":{"yes":false}}}`); status != 400 || !strings.Contains(body, `"code":-32602`) {
			t.Errorf("%s of another caller: %d %s", method, status, body)
		}
	}
	// It waits without a slot.
	if _, body := bob.do("tools/call", "quick", `"name":"quick"`, `{}`); !strings.Contains(body, `"content":[{"type":"text","text":"{}"}]`) {
		t.Errorf("a call beside a task that waits: %s", body)
	}
	if _, body := ann.of("tasks/update", asks, `,"inputResponses":{"ask:2":{"action":"accept","content":{"yes":true}}}`); !strings.Contains(body, `"resultType":"complete"`) || strings.Contains(body, "taskId") {
		t.Errorf("tasks/update: %s", body)
	}
	ann.reaches(asks, `"status":"completed"`)
	ann.reaches(asks, `"structuredContent":{"yes":true}`)

	// The file changes while a task runs: it has its own version.
	slow := ann.start("slow", `{"ms":300}`)
	if err := os.WriteFile(file, []byte(strings.Replace(string(source), "first version", "second version", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	ann.reaches(slow, `first version`)
	eventually(t, "the second version", func() bool {
		_, body := bob.do("tools/call", "slow", `"name":"slow","arguments":{"ms":0}`, `{}`)
		return strings.Contains(body, `"text":"\"second version\""`)
	})

	// One that is cancelled gives its slot back, and has no result.
	hangs := ann.start("slow", `{"ms":3600000}`)
	if _, body := ann.of("tasks/cancel", hangs, ""); !strings.Contains(body, `"resultType":"complete"`) {
		t.Errorf("tasks/cancel: %s", body)
	}
	if _, body := ann.of("tasks/get", hangs, ""); !strings.Contains(body, `"status":"cancelled"`) || strings.Count(body, `"result":`) > 1 || strings.Contains(body, `"error":`) {
		t.Errorf("a cancelled task: %s", body)
	}
	if _, body := bob.do("tools/call", "quick", `"name":"quick"`, `{}`); !strings.Contains(body, `"text":"{}"`) {
		t.Errorf("after a cancelled task: %s", body)
	}

	// Clients without the extension.
	for _, c := range []struct {
		method, name, members, want string
		status                      int
	}{
		{"tools/call", "asks", `"name":"asks"`, `"code":-32021,"message":"the client did not declare the extension io.modelcontextprotocol/tasks"`, 400},
		{"tasks/get", slow, fmt.Sprintf(`"taskId":%q`, slow), `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, 400},
		{"tools/call", "slow", `"name":"slow","arguments":{"ms":0}`, `"resultType":"complete"`, 200},
		{"tasks/list", "", `"cursor":null`, `"code":-32601`, 404},
	} {
		if status, body := ann.do(c.method, c.name, c.members, `{"elicitation":{}}`); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %s", c.method, c.name, status, body)
		}
	}
	session := w.session("Authorization", "Bearer "+annToken)
	if _, _, body := w.ask("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"asks"}}`, session...); !strings.Contains(body, "runs only as a task") {
		t.Errorf("in a session: %s", body)
	}
	// The tasks of revision 2025-11-25 are not served: who asks for one gets the result.
	for _, c := range []struct{ request, want string }{
		{`"method":"tools/call","params":{"name":"slow","arguments":{"ms":0},"task":{"ttl":60000}}`, `"result":{"content":[{"type":"text","text":"\"second version\""}]}`},
		{`"method":"tasks/list"`, `"code":-32601`},
		{`"method":"tasks/result","params":{"taskId":"1"}`, `"code":-32601`},
	} {
		if _, _, body := w.ask("POST", "/mcp", `{"jsonrpc":"2.0","id":1,`+c.request+`}`, session...); !strings.Contains(body, c.want) {
			t.Errorf("in a session, %s: %s", c.request, body)
		}
	}
	for name, want := range map[string]string{"other": "-32020", "": "-32020"} {
		if status, body := ann.do("tasks/get", name, fmt.Sprintf(`"taskId":%q`, slow), knowsTasks); status != 400 || !strings.Contains(body, want) {
			t.Errorf("tasks/get with the header %q: %d %s", name, status, body)
		}
	}
	ann.start("slow", `{"ms":3600000}`)
}

// TestCallsTasksOfAnother lets one mcpgraph call a tool of another one that runs only as a
// task.
func TestCallsTasksOfAnother(t *testing.T) {
	t.Parallel()
	w := serveWeb(t, nil, "testdata/interop.yaml")
	defer w.stop()
	front := filepath.Join(t.TempDir(), "front.yaml")
	if err := os.WriteFile(front, fmt.Appendf(nil, `version: "1.0"
server: {name: front, version: "1"}
mcpServers: {back: {url: "%s/mcp"}}
tools:
  - name: ask_back
    description: Calls a task
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: call}
      - {id: call, type: mcp, server: back, tool: task, args: {}, next: exit}
      - {id: exit, type: exit}
`, w.base), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", front, "ask_back"}, {"call", front, "back", "task", "--yes"}} {
		if out, err := exec.Command(binary, args...).Output(); err != nil || string(out) != "\"done\"\n" {
			t.Errorf("%v: %v, %s%s", args, err, out, stderrOf(err))
		}
	}
	if out, err := exec.Command(binary, "validate", "--live", front).CombinedOutput(); err != nil {
		t.Errorf("%v, %s", err, out)
	}
}
