package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

// givenTemporal returns the address of the Temporal server that MCPGRAPH_TEMPORAL names.
// Without it the test is skipped.
func givenTemporal(t *testing.T) string {
	t.Helper()
	address := os.Getenv("MCPGRAPH_TEMPORAL")
	if address == "" {
		t.Skip("MCPGRAPH_TEMPORAL is not set; see testdata/temporalserver")
	}
	return address
}

const durableTraceFile = `version: "1.0"
server: {name: front, version: "1"}
mcpServers: {counter: {url: %q, headers: {Worker: "${WORKER:-none}"}}}
tools:
  - name: answer
    description: Makes a call
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: size}
      - {id: size, type: transform, transform: {expr: "$.entry.n * 2"}, next: say}
      - {id: say, type: mcp, server: counter, tool: set, args: {run: 1, n: {expr: $.size}}, next: exit}
      - {id: exit, type: exit}
`

// TestDurableTraceOfAKilledWorkerIsWhole kills the worker that makes a call with SIGKILL.
// Another one makes it again and ends the run. The collector has each span once, and the
// parent of each.
func TestDurableTraceOfAKilledWorkerIsWhole(t *testing.T) {
	t.Parallel()
	temporal := givenTemporal(t)
	c, counted := newCollector(t), newCounter(t, 2*time.Second)
	file := filepath.Join(t.TempDir(), "tools.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, durableTraceFile, counted.url), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := func(service, worker string) []string {
		return append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url, "OTEL_SERVICE_NAME="+service, "WORKER="+worker)
	}
	workers := map[string]*exec.Cmd{}
	for _, name := range []string{"a", "b"} {
		cmd := exec.Command(binary, "worker", file, "--temporal", temporal, "--log-level", "error")
		cmd.Env = environ("worker", name)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		workers[name] = cmd
		t.Cleanup(func() { _ = cmd.Process.Kill() })
	}
	serve := exec.Command(binary, "serve", file, "--engine", "temporal", "--temporal", temporal, "--log-level", "error")
	serve.Env = environ("front", "")
	in, out := mcptest.Pipes(t, serve)
	lines := bufio.NewReader(out)
	for _, message := range []string{strings.TrimSpace(initialize), call(7, 21, goodTrace)} {
		if _, err := fmt.Fprintln(in, message); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for counted.workers() == 0 {
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(500 * time.Millisecond) // the collector has by now what is over
	lost := counted.peer()
	if err := workers[lost].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = workers[lost].Wait()
	line, err := lines.ReadString('\n')
	if err != nil || !strings.Contains(line, `42`) {
		t.Fatalf("the answer is %s, %v", line, err)
	}
	in.Close()
	_ = serve.Wait()
	delete(workers, lost)
	for _, cmd := range workers {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
	}
	tree := c.tree(goodTrace, outside)
	t.Logf("\n%s", tree)
	const want = `front: SERVER tools/call answer operation.name=execute_tool network.transport=pipe
  worker: INTERNAL invoke_workflow answer operation.name=invoke_workflow
    worker: INTERNAL entry entry execution.index=0 edge=next edge.target=size
    worker: INTERNAL transform size execution.index=1 edge=next edge.target=say
    worker: INTERNAL mcp say execution.index=2 edge=next edge.target=exit call.attempts=1 call.from_cache=false
      worker: CLIENT tools/call set operation.name=execute_tool network.transport=tcp server=counter error.type=unknown ERROR
      worker: CLIENT tools/call set operation.name=execute_tool network.transport=tcp server=counter call.attempts=1 call.from_cache=false
    worker: INTERNAL exit exit execution.index=3
`
	if tree != want {
		t.Errorf("want\n%s", want)
	}
	made := map[string]bool{outside: true}
	for _, s := range c.spans {
		if id := hex.EncodeToString(s.SpanId); made[id] {
			t.Errorf("span %s was made twice", s.Name)
		} else {
			made[id] = true
		}
	}
	for _, s := range c.spans {
		if parent := hex.EncodeToString(s.ParentSpanId); parent != "" && !made[parent] {
			t.Errorf("the parent of span %s was not made", s.Name)
		}
	}
}
