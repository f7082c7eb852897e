package mcpgraph_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestOneCallerDoesNotStarveAnother lets one caller compute in six calls for
// each processor, and another one in a single call at a time. Each does the
// same work over and over; what is compared is how often it gets done.
func TestOneCallerDoesNotStarveAnother(t *testing.T) {
	engine := mustLoad(t, `version: "1.0"
server: {name: t, version: "1"}
tools:
  - name: compute
    description: Computes for some tens of milliseconds
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: count}
      - id: count
        type: transform
        transform: {expr: "($f := function($n){ $n > 0 ? $f($n - 1) : 0 }; $f(150000))"}
        next: exit
      - {id: exit, type: exit}
`)
	url := serveTwo(t, engine.ServeHTTP)
	call := func(caller string) error {
		r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"compute","_meta":{`+
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
		if err != nil {
			return err
		}
		for name, text := range map[string]string{
			"Authorization": "Bearer 0123456789abcdef-" + caller, "Content-Type": "application/json",
			"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28",
			"Mcp-Method": "tools/call", "Mcp-Name": "compute",
		} {
			r.Header.Set(name, text)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err == nil && (answer.StatusCode != http.StatusOK || strings.Contains(string(body), `"isError":true`)) {
			err = fmt.Errorf("HTTP %d: %s", answer.StatusCode, body)
		}
		return err
	}
	processors := runtime.GOMAXPROCS(0)
	var greedy atomic.Int64
	var done atomic.Bool
	var callers sync.WaitGroup
	for range 6 * processors {
		callers.Go(func() {
			for !done.Load() {
				if err := call("ann"); err != nil {
					t.Error(err)
					return
				}
				greedy.Add(1)
			}
		})
	}
	for greedy.Load() == 0 && !t.Failed() {
		runtime.Gosched()
	}
	before := greedy.Load()
	const calls = 20
	for range calls {
		if err := call("bob"); err != nil {
			t.Error(err)
		}
	}
	// Bob has one processor to himself, or half of the only one: as many calls
	// as Ann has processors. Not by caller, he would be one of many.
	if others := greedy.Load() - before; others > int64(3*processors*calls) {
		t.Errorf("one caller had %d calls done while another had %d", others, calls)
	}
	done.Store(true)
	callers.Wait()
}
