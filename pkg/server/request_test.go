package server_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// requestLog collects what an observer is told, as one line for each request.
type requestLog struct {
	mu    sync.Mutex
	lines []string
}

func (w *requestLog) observe(ctx context.Context, r *server.Request) (context.Context, func(server.Outcome)) {
	return ctx, func(o server.Outcome) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.lines = append(w.lines, fmt.Sprintf("%s %s %s %s %s args=%s meta=%s code=%d failed=%t result=%s",
			r.Method, r.Tool, r.ID, r.Transport, r.Protocol, r.Args.JSON(), r.Meta.JSON(), o.Code, o.Failed, o.Result.JSON()))
	}
}

func TestEveryRequestIsObserved(t *testing.T) {
	var w requestLog
	opts := server.Options{Observe: w.observe, Tools: []server.Tool{{Name: "t", InputSchema: parse(t, `{}`)}}}
	opts.Call = func(_ context.Context, q *server.Request) (value.Value, error) {
		if q.Tool != "t" {
			t.Errorf("the tool %q is called", q.Tool)
		}
		if q.Args.Has("fail") {
			return value.Undef, fmt.Errorf("told to fail")
		}
		return q.Args, nil
	}
	c := start(t, opts)
	c.initialize("2025-11-25")
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"b":1,"a":2},"_meta":{"k":"v"}}}`,
		`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"t","arguments":{"fail":1}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"u"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":4,"method":"no/such"}`,
	} {
		c.send("%s", message)
		c.line()
	}
	c.closed()
	want := []string{
		`initialize   pipe  args=null meta=null code=0 failed=false result=null`,
		`tools/call t 1 pipe 2025-11-25 args={"b":1,"a":2} meta={"k":"v"} code=0 failed=false result={"b":1,"a":2}`,
		`tools/call t "x" pipe 2025-11-25 args={"fail":1} meta=null code=0 failed=true result=null`,
		`tools/call u 2 pipe 2025-11-25 args={} meta=null code=-32602 failed=false result=null`,
		`tools/list  3 pipe 2025-11-25 args=null meta=null code=0 failed=false result=null`,
		`no/such  4 pipe 2025-11-25 args=null meta=null code=-32601 failed=false result=null`,
	}
	if len(w.lines) != len(want) {
		t.Fatalf("observed %d requests:\n%s", len(w.lines), strings.Join(w.lines, "\n"))
	}
	for i, line := range w.lines[1:] {
		if line != want[i+1] {
			t.Errorf("observed %s\nwant     %s", line, want[i+1])
		}
	}
	if !strings.HasPrefix(w.lines[0], "initialize ") {
		t.Errorf("first observed %s", w.lines[0])
	}
}

func TestResources(t *testing.T) {
	opts := server.Options{Call: echo, Resources: []server.Resource{
		{URI: "test://all", Name: "all", Description: "Everything", MIMEType: "application/json",
			Read: server.ReadText("application/json", func(context.Context, *server.Request) (string, bool) { return `{"a":1}`, true })},
		{URI: "test://all/{id}", Template: true, Name: "one", Description: "One", MIMEType: "text/plain",
			Read: server.ReadText("text/plain", func(_ context.Context, r *server.Request) (string, bool) {
				return "read " + r.URI + r.Args.JSON(), r.URI == "test://all/7"
			})},
	}}
	c := start(t, opts)
	c.initialize("2025-11-25")
	c.want(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`,
		`{"jsonrpc":"2.0","id":1,"result":{"resources":[{"uri":"test://all","name":"all","description":"Everything","mimeType":"application/json"}]}}`)
	c.want(`{"jsonrpc":"2.0","id":2,"method":"resources/templates/list"}`,
		`{"jsonrpc":"2.0","id":2,"result":{"resourceTemplates":[{"uriTemplate":"test://all/{id}","name":"one","description":"One","mimeType":"text/plain"}]}}`)
	c.want(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"test://all"}}`,
		`{"jsonrpc":"2.0","id":3,"result":{"contents":[{"uri":"test://all","mimeType":"application/json","text":"{\"a\":1}"}]}}`)
	c.want(`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"test://all/7"}}`,
		`{"jsonrpc":"2.0","id":4,"result":{"contents":[{"uri":"test://all/7","mimeType":"text/plain","text":"read test://all/7{\"id\":\"7\"}"}]}}`)
	c.want(`{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"test://all/8"}}`,
		`{"jsonrpc":"2.0","id":5,"error":{"code":-32002,"message":"unknown resource \"test://all/8\"","data":{"uri":"test://all/8"}}}`)
	c.want(`{"jsonrpc":"2.0","id":6,"method":"resources/read","params":{"uri":"test://all/8",`+modernMeta+`}}`,
		`{"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"unknown resource \"test://all/8\"","data":{"uri":"test://all/8"}}}`)
	c.want(`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"test://none",`+modernMeta+`}}`,
		`{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"unknown resource \"test://none\"","data":{"uri":"test://none"}}}`)
	c.closed()
}
