package mcpgraph_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// endless is a call that goes on for minutes unless it is cancelled.
type endless struct {
	servers string // mcpServers
	limits  string // executionLimits
	node    string // of the node n, without its id
	// under returns when the call is where it goes on for minutes; where it is
	// nil, it is there when the node n begins.
	under func()
}

func (e endless) file() string {
	or := func(s, otherwise string) string {
		if s == "" {
			return otherwise
		}
		return s
	}
	return fmt.Sprintf(`version: "1.0"
server: {name: t, version: "1"}
mcpServers: %s
executionLimits: %s
tools:
  - name: long
    description: Takes long
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: n}
      - {id: n, %s}
      - {id: exit, type: exit}
`, or(e.servers, "{}"), or(e.limits, "{maxExecutionTimeMs: 600000}"), e.node)
}

func transform(expr string) endless {
	return endless{node: fmt.Sprintf("type: transform, transform: {expr: %q}, next: exit", expr)}
}

// faulty calls a server over HTTP that does fault with each call.
func faulty(t *testing.T, settings string, fault mcptest.Fault) endless {
	up := mcptest.NewFaulty(t)
	up.Always(fault)
	return endless{
		servers: fmt.Sprintf("{up: {url: %q%s}}", up.URL, settings),
		node:    "type: mcp, server: up, tool: write, next: exit",
		under: func() {
			for end := time.Now().Add(30 * time.Second); up.Calls() == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the server was not called")
				}
			}
		},
	}
}

var endlessCalls = map[string]func(t *testing.T) endless{
	"a server over HTTP": func(t *testing.T) endless { return faulty(t, "", mcptest.Hang) },
	"a pause between two tries": func(t *testing.T) endless {
		return faulty(t, ", retry: {maxAttempts: 5, initialDelayMs: 600000, maxDelayMs: 600000}, retryUnsafe: true", mcptest.Status(503))
	},
	"a rate limit": func(t *testing.T) endless {
		e := faulty(t, ", timeoutMs: 900000, rateLimit: {limit: 1, periodMs: 600000}", mcptest.Good)
		e.node = "type: switch, conditions: [{rule: false, next: exit}], next: m}\n      - {id: m, type: mcp, server: up, tool: write, next: n"
		return e
	},
	"a process": func(t *testing.T) endless {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		return endless{
			servers: fmt.Sprintf("{up: {command: %q, env: {%s: 1}}}", self, fakeServer),
			node:    "type: mcp, server: up, tool: hang, next: exit",
		}
	},
	"a process that says nothing": func(*testing.T) endless {
		return endless{
			servers: `{up: {command: sleep, args: ["600"], connectTimeoutMs: 600000}}`,
			node:    "type: mcp, server: up, tool: x, next: exit",
		}
	},
	"a server that takes no request": func(t *testing.T) endless {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return endless{
			servers: fmt.Sprintf("{up: {url: 'http://%s/mcp', connectTimeoutMs: 600000}}", l.Addr()),
			node:    "type: mcp, server: up, tool: x, next: exit",
		}
	},
	"JSONata that calls itself": func(*testing.T) endless { return transform(`($f := function($n) { $f($n + 1) }; $f(1))`) },
	"JSONata over lists":        func(*testing.T) endless { return transform(`$sum([1..9999999].($sum([1..1000])))`) },
	"JSON Logic": func(*testing.T) endless {
		rule := `{"+": [{var: accumulator}, {var: current}]}`
		for range 6 {
			rule = `{reduce: [[1` + strings.Repeat(",1", 99) + `], ` + rule + `, 0]}`
		}
		return endless{node: "type: switch, conditions: [{rule: " + rule + ", next: exit}], next: exit"}
	},
	"a loop of nodes": func(*testing.T) endless {
		return endless{limits: "{maxNodeExecutions: 2000000000, maxExecutionTimeMs: 600000}", node: "type: switch, conditions: [{rule: false, next: exit}], next: n"}
	},
}

// listener is a log that says when a call is over.
type listener struct{ over chan time.Time }

func (listener) Enabled(context.Context, slog.Level) bool { return true }
func (l listener) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l listener) WithGroup(string) slog.Handler          { return l }

func (l listener) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "a tool was called" {
		l.over <- time.Now()
	}
	return nil
}

// beginCall begins a call of the tool "long" over some transport and gives what
// cancels it.
type beginCall func(t *testing.T, engine *mcpgraph.Engine) (cancel func())

func overStdio(t *testing.T, engine *mcpgraph.Engine) func() {
	c := serve(t, engine)
	c.ask("initialize", initialize)
	go io.Copy(io.Discard, c.lines)
	c.tell(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"long"}}`)
	return func() { c.tell(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`) }
}

// webClient posts messages to an engine that serves HTTP.
type webClient struct {
	t   *testing.T
	url string
}

func serveWeb(t *testing.T, engine *mcpgraph.Engine) webClient {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- engine.ServeHTTP(ctx, l, server.HTTPOptions{Grace: time.Millisecond}) }()
	t.Cleanup(func() { stop(); <-ended })
	return webClient{t, "http://" + l.Addr().String() + server.Path}
}

// post sends a message; headers are names and values in turn. It returns the
// header of the answer, or nil if ctx ended before one came.
func (c webClient) post(ctx context.Context, message string, headers ...string) http.Header {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(message))
	if err != nil {
		c.t.Error(err)
		return nil
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body) // ctx may end
	return response.Header
}

func (c webClient) session() []string {
	header := c.post(context.Background(), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+initialize+`}`)
	return []string{"Mcp-Session-Id", header.Get("Mcp-Session-Id")}
}

func inSession(t *testing.T, engine *mcpgraph.Engine) func() {
	c := serveWeb(t, engine)
	session := c.session()
	go c.post(context.Background(), `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"long"}}`, session...)
	return func() {
		c.post(context.Background(), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, session...)
	}
}

func closingInSession(t *testing.T, engine *mcpgraph.Engine) func() {
	c := serveWeb(t, engine)
	session := c.session()
	ctx, cancel := context.WithCancel(context.Background())
	go c.post(ctx, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"long"}}`, session...)
	return cancel
}

func closingWithoutSession(t *testing.T, engine *mcpgraph.Engine) func() {
	c := serveWeb(t, engine)
	ctx, cancel := context.WithCancel(context.Background())
	go c.post(ctx, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"long",`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "long")
	return cancel
}

// TestCancelledCallsEnd cancels calls that would go on for minutes, wherever
// they are, in every way that there is. With -v it prints how long they took to
// end.
func TestCancelledCallsEnd(t *testing.T) {
	for name, call := range endlessCalls {
		for way, begin := range map[string]beginCall{
			"stdio": overStdio, "in a session": inSession,
			"closing the request in a session": closingInSession, "closing the request": closingWithoutSession,
		} {
			t.Run(name+"/"+way, func(t *testing.T) {
				e := call(t)
				log := listener{make(chan time.Time, 1)}
				began := make(chan struct{}, 1)
				engine := mustLoad(t, e.file(), mcpgraph.WithLogger(slog.New(log)), mcpgraph.WithHooks(executor.Hooks{
					NodeStart: func(ctx context.Context, _ *executor.Run, t executor.Task) (context.Context, error) {
						if t.Node().ID == "n" {
							select {
							case began <- struct{}{}:
							default:
							}
						}
						return ctx, nil
					},
				}))
				cancel := begin(t, engine)
				if e.under != nil {
					e.under()
				} else {
					<-began
				}
				cancelled := time.Now()
				cancel()
				select {
				case over := <-log.over:
					t.Logf("over after %v", over.Sub(cancelled))
				case <-time.After(30 * time.Second):
					t.Fatal("the call goes on")
				}
			})
		}
	}
}
