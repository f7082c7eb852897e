package mcpgraph_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
)

// recordingServer answers calls as its script says and notes what it was sent.
type recordingServer struct {
	mu        sync.Mutex
	keys      []string // idempotency keys of the calls, empty for those without one
	calls     int
	cancelled int
	answer    func(call int, tool string) string // of tools/call; empty for none
}

func (s *recordingServer) serve(_ context.Context, in io.Reader, out io.Writer) error {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name string
				Meta struct {
					Key string `json:"mcpgraph/idempotencyKey"`
				} `json:"_meta"`
			}
		}
		if err := json.Unmarshal(scanner.Bytes(), &m); err != nil {
			return err
		}
		result := "{}"
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"work","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			s.mu.Lock()
			s.keys = append(s.keys, m.Params.Meta.Key)
			s.calls++
			result = s.answer(s.calls, m.Params.Name)
			s.mu.Unlock()
		case "notifications/cancelled":
			s.mu.Lock()
			s.cancelled++
			s.mu.Unlock()
		}
		if m.ID != nil && result != "" {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
		}
	}
	return scanner.Err()
}

func loadFlow(t *testing.T, s *recordingServer, tools string) *mcpgraph.Engine {
	t.Helper()
	source := "version: \"1.0\"\nserver: {name: t, version: \"1\"}\ntools:\n" + tools
	e, err := mcpgraph.LoadBytes("flow.yaml", []byte(source), mcpgraph.WithServer("up", s.serve))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

const failedWork = `{"isError":true,"content":[{"type":"text","text":"not yet"}]}`

func TestAttemptsOfACallCarryOneKey(t *testing.T) {
	s := &recordingServer{answer: func(call int, _ string) string {
		if call%3 != 0 {
			return failedWork
		}
		return `{"content":[{"type":"text","text":"done"}]}`
	}}
	e := loadFlow(t, s, `
  - name: retried
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: one}
      - {id: one, type: mcp, server: up, tool: work, retry: {initialDelayMs: 1}, next: two}
      - {id: two, type: mcp, server: up, tool: work, retry: {initialDelayMs: 1}, next: exit}
      - {id: exit, type: exit}
  - name: around
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: begin, type: entry, next: each}
      - {id: each, type: map, items: [1], retry: {initialDelayMs: 1}, nodes: [{id: inner, type: mcp, server: up, tool: work}], next: end}
      - {id: end, type: exit}
  - name: once
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: first, type: entry, next: only}
      - {id: only, type: mcp, server: up, tool: work, catch: {next: last}, next: last}
      - {id: last, type: exit}
`)
	for _, tool := range []string{"retried", "around", "once"} {
		if _, err := e.Call(context.Background(), tool, nil); err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
	}
	k := s.keys
	if len(k) != 10 {
		t.Fatalf("%d calls, want 10: %q", len(k), k)
	}
	for i, group := range [][]string{k[0:3], k[3:6], k[6:9]} {
		if group[0] == "" || group[0] != group[1] || group[1] != group[2] {
			t.Errorf("calls %d have the keys %q, want one key", i, group)
		}
	}
	if k[0] == k[3] || k[3] == k[6] || k[0] == k[6] {
		t.Errorf("two executions have the same key: %q", k)
	}
	if k[9] != "" {
		t.Errorf("a call that is never repeated has the key %q", k[9])
	}
}

func TestCallsBesideAFailureAreCancelledUpstream(t *testing.T) {
	s := &recordingServer{answer: func(int, string) string { return "" }}
	e := loadFlow(t, s, `
  - name: branches
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: both}
      - id: both
        type: parallel
        branches:
          slow: [{id: slow, type: map, items: [1, 2, 3], nodes: [{id: call, type: mcp, server: up, tool: work}]}]
          bad: [{id: pause, type: wait, ms: 300, next: stop}, {id: stop, type: fail, error: gone, message: it is gone}]
        catch: {errors: [gone], next: result}
        next: exit
      - {id: result, type: transform, transform: {expr: $.both.error}, next: exit}
      - {id: exit, type: exit}
  - name: late
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: begin, type: entry, next: try}
      - {id: try, type: mcp, server: up, tool: work, timeoutMs: 50, retry: {maxAttempts: 2, initialDelayMs: 1}, catch: {errors: [timeout], next: why}, next: end}
      - {id: why, type: transform, transform: {expr: '$.try.error.attempts'}, next: end}
      - {id: end, type: exit}
`)
	began := time.Now()
	result, err := e.Call(context.Background(), "branches", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(result.JSON()), `{"name":"gone","message":"it is gone","node":"stop","type":"fail","path":"both.bad.stop"}`; got != want {
		t.Errorf("result %s, want %s", got, want)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the branches were waited for, for %v", took)
	}
	if result, err := e.Call(context.Background(), "late", nil); err != nil || string(result.JSON()) != "2" {
		t.Errorf("late: %v, %v", result, err)
	}
	deadline := time.Now().Add(5 * time.Second)
	for {
		s.mu.Lock()
		calls, cancelled := s.calls, s.cancelled
		s.mu.Unlock()
		if calls == 5 && cancelled == 5 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("of %d calls %d were cancelled, want 5 of 5", calls, cancelled)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestFailedResultsCarryTheirFailure(t *testing.T) {
	long := strings.Repeat("é", 20<<10)
	s := &recordingServer{answer: func(int, string) string {
		return `{"isError":true,"content":[{"type":"text","text":"no"},{"type":"text","text":"` + long + `"}]}`
	}}
	e := loadFlow(t, s, `
  - name: upstream
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: call}
      - {id: call, type: mcp, server: up, tool: work, next: exit}
      - {id: exit, type: exit}
  - name: typed
    description: d
    inputSchema: {type: object, properties: {n: {type: number}}}
    outputSchema: {type: object}
    nodes:
      - {id: begin, type: entry, next: number}
      - {id: number, type: transform, transform: {expr: $.begin.n}, next: end}
      - {id: end, type: exit}
`)
	requests := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"upstream"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"typed","arguments":{"n":"x"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"typed","arguments":{"n":1}}}`,
	}, "\n") + "\n"
	var out strings.Builder
	if err := e.ServeStdio(context.Background(), strings.NewReader(requests), &out); err != nil {
		t.Fatal(err)
	}
	type failure struct {
		Name, Server, Tool, Node string
		Reply                    any
	}
	failures := map[int]failure{}
	for line := range strings.Lines(out.String()) {
		var m struct {
			ID     int
			Result struct {
				IsError bool
				Meta    struct {
					Error *failure `json:"mcpgraph/error"`
				} `json:"_meta"`
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if f := m.Result.Meta.Error; f != nil {
			failures[m.ID] = *f
			if !m.Result.IsError {
				t.Errorf("answer %d has a failure and no isError", m.ID)
			}
		}
	}
	if f := failures[2]; f.Name != "toolError" || f.Server != "up" || f.Tool != "work" || f.Node != "call" {
		t.Errorf("the failure of the call is %+v", f)
	} else if text, ok := f.Reply.(string); !ok || len(text) > 16<<10 || len(text) < 16<<10-4 || !strings.HasPrefix(text, `{"isError":true`) {
		t.Errorf("the reply is a %T of %d bytes, want the first 16 KiB of its JSON", f.Reply, len(fmt.Sprint(f.Reply)))
	}
	if failures[3].Name != "arguments" || failures[4].Name != "result" {
		t.Errorf("failures of checks are %+v and %+v", failures[3], failures[4])
	}
}

func TestRunsWithBodiesLeaveNothingBehind(t *testing.T) {
	s := &recordingServer{answer: func(call int, _ string) string {
		if call%5 == 0 {
			return failedWork
		}
		if call%7 == 0 {
			return "" // never
		}
		return `{"content":[]}`
	}}
	e := loadFlow(t, s, `
  - name: mixed
    description: d
    inputSchema: {type: object}
    catch: {next: exit}
    nodes:
      - {id: entry, type: entry, next: each}
      - id: each
        type: map
        items: {expr: '[1..20]'}
        retry: {maxAttempts: 2, initialDelayMs: 1}
        body:
          nodes:
            - {id: call, type: mcp, server: up, tool: work, timeoutMs: 40, retry: {maxAttempts: 2, initialDelayMs: 1}, next: any}
            - id: any
              type: parallel
              wait: first
              branches: {a: [{id: a, type: wait, ms: 1}], b: [{id: b, type: mcp, server: up, tool: work}]}
            - {id: mend, type: wait, ms: 1}
          catch: {errors: [timeout], next: mend}
        tolerateFailures: 10%
        next: exit
      - {id: exit, type: exit}
`)
	if _, err := e.Call(context.Background(), "mixed", nil); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+i*5)*time.Millisecond)
			defer cancel()
			if _, err := e.Call(ctx, "mixed", nil); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, before %d\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestPrivateToolsAreForPrograms(t *testing.T) {
	e := loadFlow(t, &recordingServer{}, `
  - name: helper
    description: d
    private: true
    inputSchema: {type: object}
    nodes: [{id: entry, type: entry, next: exit}, {id: exit, type: exit}]
`)
	if result, err := e.Call(context.Background(), "helper", map[string]any{"a": 1}); err != nil || string(result.JSON()) != `{"a":1}` {
		t.Errorf("a program cannot call it: %v", err)
	}
	if i := slices.IndexFunc(e.Tools(), func(tool mcpgraph.Tool) bool { return tool.Private }); i != 0 {
		t.Errorf("tools are %+v", e.Tools())
	}
}
