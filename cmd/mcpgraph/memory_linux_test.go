package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

const hungryTools = `
version: "1.0"
server: {name: t, version: "1"}
tools:
  - name: echo
    description: Gives its arguments back
    inputSchema: {type: object}
    nodes: [{id: entry, type: entry, next: exit}, {id: exit, type: exit}]
  - name: sum
    description: Reads a list
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: sum}
      - {id: sum, type: transform, transform: {expr: "{'sum': $sum($.entry.list)}"}, next: exit}
      - {id: exit, type: exit}
  - name: cross
    description: Makes a long list
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: cross}
      - {id: cross, type: transform, transform: {expr: "{'n': $count([1..1000000].[1..1000000])}"}, next: exit}
      - {id: exit, type: exit}
  - name: long
    description: Makes a long text
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: long}
      - {id: long, type: transform, transform: {expr: "{'text': $pad('', $.entry.n, 'x')}"}, next: exit}
      - {id: exit, type: exit}
`

// Headers of a call that needs no session.
var callMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func hungryCall(tool, args string) (body string, headers []string) {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `,` + callMeta + `}}`,
		[]string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool}
}

// resident returns what the process holds in MiB.
func (w *web) resident() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kb >> 10
		}
	}
	return 0
}

// slowly makes a call over a connection that reads the first bytes of the answer
// and no more until it is told.
func (w *web) slowly(tool, args string, until <-chan struct{}) (first string, _ error) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.base, "http://"))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(4096)
	body, headers := hungryCall(tool, args)
	text := "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
	for i := 0; i < len(headers); i += 2 {
		text += headers[i] + ": " + headers[i+1] + "\r\n"
	}
	if _, err := conn.Write([]byte(text + "\r\n" + body)); err != nil {
		return "", err
	}
	first, err = bufio.NewReader(conn).ReadString('\n')
	<-until
	return first, err
}

// TestHungryCallersHurtNobody lets many callers take what they can from a process
// that may take 512 MiB, while another one makes short calls. MCPGRAPH_STRESS=1
// (make stress) has 50 of each kind and readers slower, otherwise there are 3, in
// a quick run with a quarter of all sizes and without two of the kinds.
func TestHungryCallersHurtNobody(t *testing.T) {
	t.Parallel()
	many, slowness := 3, 500*time.Millisecond
	if os.Getenv("MCPGRAPH_STRESS") != "" {
		many, slowness = 50, 2*time.Second
	}
	file := filepath.Join(t.TempDir(), "tools.yaml")
	if err := os.WriteFile(file, []byte(hungryTools), 0o600); err != nil {
		t.Fatal(err)
	}
	size := testscale.Of(1, 4) // in quarters
	if many > 3 {
		size = 4
	}
	limit := int64(size * 128)
	w := serveWeb(t, []string{"GOMEMLIMIT=", "GOGC=100"}, file, "--memory", fmt.Sprintf("%dMiB", limit))
	list := `{"list":[` + strings.Repeat("1,", size*1_750_000) + `1]}`
	for _, kind := range []struct {
		name, tool, args string
		slow             bool
	}{
		{name: "long requests that are not read", tool: "echo", args: list},
		{name: "long requests", tool: "sum", args: list},
		{name: "expressions", tool: "cross", args: `{}`},
		{name: "slow readers", tool: "long", args: fmt.Sprintf(`{"n":%d}`, size*15_000_000), slow: true},
		{name: "slow readers of less", tool: "long", args: fmt.Sprintf(`{"n":%d}`, size*3_750_000), slow: true},
	} {
		if size < 4 && kind.tool == "sum" || size < 4 && kind.slow && kind.name != "slow readers" {
			continue // one of each kind is enough for a quick run
		}
		var hungry, well sync.WaitGroup
		var answered, refused, served, most atomic.Int64
		over := make(chan struct{})
		well.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				body, headers := hungryCall("echo", `{"a":1}`)
				if status, _, text := w.ask("POST", "/mcp", body, headers...); status != http.StatusOK || strings.Contains(text, "isError") {
					t.Errorf("%s: a short call gets %d %.300s", kind.name, status, text)
				}
				served.Add(1)
				most.Store(max(most.Load(), int64(w.resident())))
				time.Sleep(20 * time.Millisecond)
			}
		})
		release := make(chan struct{})
		for range many {
			hungry.Go(func() {
				if kind.slow {
					first, err := w.slowly(kind.tool, kind.args, release)
					if err != nil || !strings.Contains(first, "HTTP/1.1 ") {
						t.Errorf("%s: %q, %v", kind.name, first, err)
					}
					answered.Add(1)
					return
				}
				body, headers := hungryCall(kind.tool, kind.args)
				status, answer, text := w.ask("POST", "/mcp", body, headers...)
				short := strings.Contains(text, "memory")
				switch {
				case status == http.StatusServiceUnavailable && short && answer.Get("Retry-After") != "":
					refused.Add(1)
				case status == http.StatusOK && strings.Contains(text, `"isError":true`) && short:
					refused.Add(1)
				case status == http.StatusOK && !strings.Contains(text, "isError"):
					answered.Add(1)
				default:
					t.Errorf("%s: %d %.300s", kind.name, status, text)
				}
			})
		}
		if kind.slow {
			time.Sleep(slowness) // what a slow reader does is to take its time
			close(release)
		}
		hungry.Wait()
		ended := time.Now()
		close(over)
		well.Wait()
		for !raceDetector && w.resident() > 100 && time.Since(ended) < 2*time.Minute {
			time.Sleep(50 * time.Millisecond)
		}
		t.Logf("%-32s %d answered, %d refused; %d short calls served; at most %d MiB, %d MiB after %v", kind.name,
			answered.Load(), refused.Load(), served.Load(), most.Load(), w.resident(), time.Since(ended).Round(100*time.Millisecond))
		if served.Load() == 0 {
			t.Errorf("%s: no short call was served", kind.name)
		}
		if raceDetector {
			continue // which takes several times the memory itself
		}
		if most.Load() > limit {
			t.Errorf("%s: the process took %d MiB", kind.name, most.Load())
		}
		if w.resident() > 100 {
			t.Errorf("%s: %d MiB are not given back", kind.name, w.resident())
		}
	}
	w.stop()
}
