package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

// TestThousandCallsWaitAtOnce has the program make a thousand calls of a server
// that answers none of them before all are there: no number of workers holds
// any up, or a ping, and all are answered after the end of stdin, each after its
// progress. Nothing but MCP messages comes.
func TestThousandCallsWaitAtOnce(t *testing.T) {
	t.Parallel()
	const n = 1000
	arrived, let := make(chan struct{}, n), make(chan struct{})
	web := &mcptest.Web{Script: mcptest.Script{Tools: []mcptest.Tool{{Name: "wait", Func: func(args json.RawMessage) (json.RawMessage, error) {
		arrived <- struct{}{}
		<-let
		return mcptest.Structured(string(args)), nil
	}}}}}
	s := httptest.NewServer(web)
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "tools.yaml")
	err := os.WriteFile(file, fmt.Appendf(nil, `version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  up: {url: %q, timeoutMs: 600000}
tools:
  - name: wait
    description: Waits
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: ask}
      - {id: ask, type: mcp, server: up, tool: wait, args: {expr: $.entry}, next: exit}
      - {id: exit, type: exit}
`, s.URL), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "serve", file)
	cmd.Stderr = os.Stderr
	in, out := mcptest.Pipes(t, cmd)
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewReader(out)
	next := func() (m struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Params  struct {
			Token    int     `json:"progressToken"`
			Progress float64 `json:"progress"`
		} `json:"params"`
		Result struct {
			Structured struct {
				N int `json:"n"`
			} `json:"structuredContent"`
		} `json:"result"`
	}) {
		t.Helper()
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(line, &m); err != nil || m.JSONRPC != "2.0" {
			t.Fatalf("%v: %s", err, line)
		}
		return m
	}
	send := func(format string, args ...any) {
		t.Helper()
		if _, err := fmt.Fprintf(in, format+"\n", args...); err != nil {
			t.Fatal(err)
		}
	}
	send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	next()
	for i := range n {
		send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"wait","arguments":{"n":%d},"_meta":{"progressToken":%d}}}`, i, i, i)
	}
	for range n {
		<-arrived
	}
	send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	progress, answered, pinged := map[int]float64{}, map[string]bool{}, false
	for len(answered) < n {
		m := next()
		switch id := string(m.ID); {
		case id == "":
			if answered[fmt.Sprint(m.Params.Token)] || m.Params.Progress <= progress[m.Params.Token] {
				t.Errorf("progress %v of %d comes too late", m.Params.Progress, m.Params.Token)
			}
			progress[m.Params.Token] = m.Params.Progress
		case id == `"ping"`:
			pinged = true
			in.Close()
			close(let)
		default:
			if answered[id] || fmt.Sprint(m.Result.Structured.N) != id || progress[m.Result.Structured.N] > 3 { // what comes with the result is left out
				t.Errorf("the answer to %s is of %d, after progress %v", id, m.Result.Structured.N, progress[m.Result.Structured.N])
			}
			answered[id] = true
		}
	}
	rest, err := io.ReadAll(lines)
	if !pinged || err != nil || strings.TrimSpace(string(rest)) != "" {
		t.Errorf("pinged: %t; then came %q, %v", pinged, rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
