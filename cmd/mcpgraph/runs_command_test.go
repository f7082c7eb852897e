//go:build unix

package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/runsock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// confirming is a file whose tools ask a person, and take a minute.
const confirming = `version: "1.0"
server: {name: NAME, version: "1"}
tools:
  - name: confirm
    description: Asks
    task: optional
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: pause}
      - {id: pause, type: wait, ms: 1, next: ask}
      - {id: ask, type: ask, message: "Really?", schema: {type: object, properties: {why: {type: string}}}, next: exit}
      - {id: exit, type: exit}
  - name: nap
    description: Takes a minute
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: sleep}
      - {id: sleep, type: wait, ms: 60000, next: exit}
      - {id: exit, type: exit}
`

// runsOf runs mcpgraph runs in a runtime folder.
type runsOf struct {
	t      *testing.T
	folder string
}

func (r runsOf) command(code int, args ...string) string {
	r.t.Helper()
	cmd := exec.Command(binary, append([]string{"runs"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+r.folder, "TEMPORAL_ADDRESS=")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		r.t.Fatalf("runs %s: exit code %d, want %d: %s", strings.Join(args, " "), got, code, out)
	}
	return string(out)
}

// one returns the run of a tool with a status.
func (r runsOf) one(tool, status string) string {
	r.t.Helper()
	id := ""
	eventually(r.t, tool+" "+status, func() bool {
		for line := range strings.Lines(r.command(0, "list", "--json", "--limit", "1000")) {
			v, err := value.Parse(strings.TrimSpace(line))
			if err != nil {
				r.t.Fatal(err)
			}
			if v.Get("tool").Str() == tool && v.Get("status").Str() == status {
				id = v.Get("run").Str()
				return true
			}
		}
		return false
	})
	return id
}

// TestRunsOfARunningServer looks at the runs of a server from another process, answers
// what they ask, and cancels them.
func TestRunsOfARunningServer(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	r := runsOf{t, folder}
	serve := func(name string) *web {
		file := filepath.Join(t.TempDir(), "tools.yaml")
		if err := os.WriteFile(file, []byte(strings.Replace(confirming, "NAME", name, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		w := serveWeb(t, []string{"XDG_RUNTIME_DIR=" + folder, "MCPGRAPH_AUTH_TOKENS=ann " + annToken}, file, "--auth", "bearer")
		t.Cleanup(w.stop)
		return w
	}
	ann := taskClient{serve("shop"), annToken}

	// A task goes on with an answer of the operator.
	task := ann.start("confirm", "{}")
	id := r.one("confirm", "waiting")
	shown, err := value.Parse(r.command(0, "show", id, "--json"))
	if err != nil {
		t.Fatal(err)
	}
	q := shown.Get("questions").Elems()
	if len(q) != 1 || q[0].Get("path").Str() != "ask" || q[0].Get("params").Get("message").Str() != "Really?" || q[0].Get("until").Str() == "" ||
		shown.Get("caller").Str() != "ann" || shown.Get("status").Str() != "waiting" || shown.Get("history").Len() != 2 || shown.Get("records").Len() != 4 || shown.Get("version").Str() == "" {
		t.Errorf("it is shown as %s", shown.JSON())
	}
	if text := r.command(0, "show", id); !strings.Contains(text, "caller: ann") || !strings.Contains(text, "asks: :2 (ask): Really? (until ") {
		t.Errorf("it is shown as %s", text)
	}
	if text := r.command(2, "answer", id, `{"why":5}`); !strings.Contains(text, "does not fit the schema of the question: why: expected a string, found the number 5") {
		t.Errorf("an answer that does not fit: %s", text)
	}
	r.command(0, "answer", id, `{"why":"because"}`)
	ann.reaches(task, `"structuredContent":{"why":"because"}`)
	if text := r.command(0, "watch", id); !strings.Contains(text, `result: {"why":"because"}`) {
		t.Errorf("its end: %s", text)
	}
	if text := r.command(1, "answer", id, "accept"); !strings.Contains(text, "the run asks nothing") {
		t.Errorf("an answer after the end: %s", text)
	}

	// So does a call that waits for its client, when that calls again.
	const asks = `{"elicitation":{}}`
	parked := func() (state string) {
		_, body := ann.do("tools/call", "confirm", `"name":"confirm","arguments":{}`, asks)
		_, rest, _ := strings.Cut(body, `"requestState":"`)
		state, _, ok := strings.Cut(rest, `"`)
		if !ok {
			t.Fatalf("the call: %s", body)
		}
		return state
	}
	again := func(state string) string {
		_, body := ann.do("tools/call", "confirm", `"name":"confirm","arguments":{},"inputResponses":{"ask":{"action":"accept","content":{"why":"late"}}},"requestState":"`+state+`"`, asks)
		return body
	}
	state := parked()
	r.command(0, "answer", r.one("confirm", "waiting"), `{"why":"faster"}`)
	if body := again(state); !strings.Contains(body, `"structuredContent":{"why":"faster"}`) {
		t.Errorf("the call again: %s", body)
	}
	state = parked()
	id = r.one("confirm", "waiting")
	r.command(0, "cancel", id)
	r.one("confirm", "canceled")
	if body := again(state); !strings.Contains(body, `"code":-32602`) {
		t.Errorf("the call again after it was cancelled: %s", body)
	}
	if text := r.command(1, "cancel", id); !strings.Contains(text, "the run has ended already: canceled") {
		t.Errorf("cancelled again: %s", text)
	}

	// A call under way ends.
	ended := make(chan string)
	const secret = "correct horse battery"
	go func() {
		_, body := ann.do("tools/call", "nap", `"name":"nap","arguments":{"password":"`+secret+`"}`, `{}`)
		ended <- body
	}()
	id = r.one("nap", "running")
	if text := r.command(0, "show", id, "--json") + r.command(0, "show", id); strings.Contains(text, secret) || strings.Count(text, "[redacted]") < 3 {
		t.Errorf("a secret argument of a run under way: %s", text)
	}
	if text := r.command(0, "show", id); !strings.Contains(text, "waits: sleep until ") {
		t.Errorf("it is shown as %s", text)
	}
	r.command(0, "cancel", id)
	if body := <-ended; !strings.Contains(body, `"name":"cancelled"`) {
		t.Errorf("the call: %s", body)
	}
	if text := r.command(0, "show", id, "--json") + r.command(1, "watch", id); strings.Contains(text, secret) || !strings.Contains(text, "[redacted]") {
		t.Errorf("a secret argument of a run that is over: %s", text)
	}

	if text := r.command(1, "show", "none"); !strings.Contains(text, "no such run") {
		t.Errorf("a run that is not there: %s", text)
	}
	serve("other")
	if text := r.command(2, "list"); !strings.Contains(text, "2 servers run; choose one with --server: other-") {
		t.Errorf("two servers: %s", text)
	}
	if text := r.command(0, "list", "--server", "other"); text != "no runs\n" {
		t.Errorf("the other one has %s", text)
	}
	if text := r.command(3, "list", "--server", "third"); !strings.Contains(text, `"third"`) {
		t.Errorf("a server that is not there: %s", text)
	}
}

// TestRunsOfAServerThatHangs looks at a server that takes connections and does not answer.
func TestRunsOfAServerThatHangs(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	sockets := runsock.Folder(func(name string) (string, bool) { return folder, name == "XDG_RUNTIME_DIR" })
	if err := os.MkdirAll(sockets, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(sockets, "shop-1.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if text := (runsOf{t, folder}).command(3, "list", "--server", "shop"); !strings.Contains(text, "mcpgraph serve or ui does not answer: shop-1") {
		t.Errorf("it says %s", text)
	}
	if text := (runsOf{t, folder}).command(3, "list", "--server", "other"); !strings.Contains(text, `no mcpgraph serve or ui of this user with the server name "other" runs`) {
		t.Errorf("it says %s", text)
	}
}
