package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

// serverVariable names a program that was built of testdata/temporalserver, which the
// tests that kill a Temporal server start. Without it they are skipped.
const serverVariable = "MCPGRAPH_TEMPORAL_SERVER"

// killable is a Temporal server that keeps its runs in a file.
type killable struct {
	t             *testing.T
	program, file string
	port          string
	cmd           *exec.Cmd
	in            io.Closer // it ends with its input
}

func newKillable(t *testing.T) *killable {
	t.Helper()
	program := os.Getenv(serverVariable)
	if program == "" {
		t.Skip(serverVariable + " is not set; see testdata/temporalserver")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	k := &killable{t: t, program: program, file: filepath.Join(t.TempDir(), "temporal.db"), port: port}
	k.start()
	return k
}

func (k *killable) address() string { return net.JoinHostPort("127.0.0.1", k.port) }

// start starts it, and returns when it takes requests.
func (k *killable) start() {
	k.t.Helper()
	var said bytes.Buffer
	for range 3 { // another process can take one of its ports before it does
		k.cmd = exec.Command(k.program, "-port", k.port, "-file", k.file)
		k.cmd.Stderr = &said
		in, out := mcptest.Pipes(k.t, k.cmd)
		k.in = in
		if address, _ := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(address) == k.address() {
			cmd := k.cmd
			k.t.Cleanup(func() { _ = cmd.Process.Kill() })
			return
		}
		k.kill()
	}
	k.t.Fatalf("the Temporal server does not start:\n%s", &said)
}

// kill ends it with SIGKILL.
func (k *killable) kill() {
	_ = k.cmd.Process.Kill()
	_ = k.cmd.Wait()
}

// outageTools are tools beside those that make calls.
const outageTools = `  - name: asks
    description: Asks
    task: required
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: look}
      - {id: look, type: transform, transform: {expr: "'looked'"}, next: ask}
      - {id: ask, type: ask, message: Sure?, schema: {type: object, properties: {yes: {type: boolean}}, required: [yes]}, next: exit}
      - {id: exit, type: exit}
  - name: slow
    description: Waits
    task: required
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: wait}
      - {id: wait, type: wait, ms: {expr: $.entry.ms}, next: out}
      - {id: out, type: transform, transform: {expr: "'waited'"}, next: exit}
      - {id: exit, type: exit}
`

// TestDurableRunsOutliveTheServer kills the Temporal server for 15 seconds, in the middle
// of calls. Nobody else is started again.
func TestDurableRunsOutliveTheServer(t *testing.T) {
	t.Parallel()
	temporal := newKillable(t)
	const calls, away = 30, 15 * time.Second
	c := newCounter(t, 300*time.Millisecond)
	d := deployed(t, temporal.address(), filepath.Join(t.TempDir(), "outage.yaml"))
	d.change(fmt.Sprintf(chaosFile+manyCalls+manyCalls, c.url, repeatable, repeatable, single, single) + outageTools)
	d.env = []string{"MCPGRAPH_AUTH_TOKENS=ann " + annToken}
	d.work()
	w := d.replica()
	defer w.stop()
	ann := taskClient{w, annToken}
	asks, slow, done := ann.start("asks", "{}"), ann.start("slow", `{"ms":4000}`), ann.start("slow", `{"ms":1}`)
	ann.reaches(asks, `"status":"input_required"`)
	ann.reaches(done, `"structuredContent":"waited"`)

	// One call of each tool by a client of serve, one by run.
	bodies := make([]string, 4)
	var wait sync.WaitGroup
	for i, tool := range []string{repeatable, single} {
		args := func(run int) string { return fmt.Sprintf(`{"run":%d,"calls":%d}`, run, calls) }
		wait.Go(func() {
			_, bodies[i] = ann.do("tools/call", tool, fmt.Sprintf(`"name":%q,"arguments":%s`, tool, args(i)), `{}`)
		})
		wait.Go(func() {
			out, err := d.command("run", d.file, tool, "--args", args(i+2)).Output()
			if bodies[i+2] = string(out); err != nil {
				t.Errorf("run: %v: %s", err, stderrOf(err))
			}
		})
	}
	eventually(t, "calls of all runs", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.keys[callOfRun{0, 3}])*len(c.keys[callOfRun{1, 3}])*len(c.keys[callOfRun{2, 3}])*len(c.keys[callOfRun{3, 3}]) > 0
	})
	temporal.kill()
	back := time.Now().Add(away)

	// What needs Temporal says that it cannot be reached.
	var meanwhile sync.WaitGroup
	for _, ask := range []struct{ method, id, more string }{
		{"tasks/get", done, ""}, {"tasks/get", asks, ""}, {"tasks/cancel", slow, ""},
		{"tasks/update", asks, `,"inputResponses":{"ask:2":` + sayYes + `}`},
	} {
		meanwhile.Go(func() {
			began := time.Now()
			status, body := ann.of(ask.method, ask.id, ask.more)
			if took := time.Since(began); status != 503 || !strings.Contains(body, `"code":-32603`) || !strings.Contains(body, "no connection to Temporal") || took > 12*time.Second {
				t.Errorf("%s without Temporal, after %s: %d %s", ask.method, took, status, body)
			}
		})
	}
	meanwhile.Go(func() {
		if _, body := ann.do("tools/call", repeatable, fmt.Sprintf(`"name":%q,"arguments":{"run":9,"calls":1}`, repeatable), `{}`); !strings.Contains(body, `"isError":true`) || !strings.Contains(body, "no connection to Temporal") {
			t.Errorf("a call without Temporal: %s", body)
		}
	})
	meanwhile.Wait()
	time.Sleep(time.Until(back))
	temporal.start()
	wait.Wait()
	t.Logf("answered %s after the server was back", time.Since(back).Round(time.Second/10))
	results := make([][]any, len(bodies))
	for i, body := range bodies {
		results[i] = itemsOf(t, body)
	}
	if s := c.check(t, results, calls); s.lost > 0 {
		t.Errorf("%d calls are lost: %v", s.lost, bodies)
	}
	for call, keys := range c.keys {
		if call.run%2 == 1 && call.run < 9 && len(keys) > 1 {
			t.Errorf("call %v, which may not be repeated, was made %d times", call, len(keys))
		}
	}
	for _, items := range [][]any{results[0], results[2]} {
		for n, item := range items {
			if item == "unknown" {
				t.Errorf("call %d, which may be repeated, is unknown", n+1)
			}
		}
	}
	// Tasks are as they were, and go on.
	ann.reaches(slow, `"structuredContent":"waited"`)
	ann.reaches(done, `"structuredContent":"waited"`)
	ann.reaches(asks, `"status":"input_required"`)
	if _, body := ann.of("tasks/update", asks, `,"inputResponses":{"ask:2":`+sayYes+`}`); !strings.Contains(body, `"resultType":"complete"`) {
		t.Errorf("tasks/update: %s", body)
	}
	ann.reaches(asks, `"structuredContent":{"yes":true}`)
	// The worker works, also on what is new.
	if _, body := ann.do("tools/call", repeatable, fmt.Sprintf(`"name":%q,"arguments":{"run":10,"calls":1}`, repeatable), `{}`); !strings.Contains(body, `["1"]`) && !strings.Contains(body, `[1]`) {
		t.Errorf("a call afterwards: %s", body)
	}
}

// TestDurableServerSaysWhyItDoesNotStart starts a second one at the port of another.
func TestDurableServerSaysWhyItDoesNotStart(t *testing.T) {
	t.Parallel()
	first := newKillable(t)
	out, err := exec.Command(first.program, "-port", first.port).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), "address already in use") || strings.Contains(string(out), "goroutine") {
		t.Errorf("%v: %s", err, out)
	}
}

// itemsOf returns the results of the calls of a run, of what serve or run has answered.
func itemsOf(t *testing.T, body string) (items []any) {
	t.Helper()
	var message struct {
		Result struct{ StructuredContent []any }
	}
	if json.Unmarshal([]byte(body), &items) == nil {
		return items
	}
	if _, event, found := strings.Cut(body, "data: "); found {
		body = event
	}
	if err := json.Unmarshal([]byte(body), &message); err != nil {
		t.Errorf("%v in %q", err, body)
	}
	return message.Result.StructuredContent
}
