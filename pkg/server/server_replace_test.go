package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const toolsChanged = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`

func TestReplaceNotifiesClientsAndChangesAnswers(t *testing.T) {
	opts := server.Options{Tools: []server.Tool{tool(t, "old")}, Call: echo}
	c := start(t, opts)
	c.initialize("2025-11-25")
	c.want(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"old","inputSchema":{"type":"object","properties":{}}}]}}`)

	next := opts
	next.Tools = []server.Tool{tool(t, "new"), tool(t, "echo")}
	c.replace(next)
	if got := c.line(); got != toolsChanged {
		t.Errorf("got %s", got)
	}
	c.want(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"new","inputSchema":{"type":"object","properties":{}}},{"name":"echo","inputSchema":{"type":"object","properties":{}}}]}}`)
	c.want(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"old"}}`, `{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"unknown tool \"old\"; expected \"echo\" or \"new\""}}`)

	// The same list again is nothing to tell, whatever the tools now do.
	next.Call = func(context.Context, *server.Request) (value.Value, error) { return value.FromString("new"), nil }
	c.replace(next)
	c.want(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"new"}}`, `{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"\"new\""}]}}`)

	// A tool that cannot be published changes nothing.
	bad := next
	bad.Tools = []server.Tool{{Name: "bad", InputSchema: parse(t, `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":""}}}`)}}
	if err := c.server.Replace(bad); err == nil {
		t.Error("Replace took a tool with an unusable schema")
	}
	next.Resources = []server.Resource{{URI: "x://y", Name: "y"}}
	c.replace(next)
	if got, want := c.line(), `{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c.closed()
}

func TestUninitializedClientsGetNoNotifications(t *testing.T) {
	opts := server.Options{Tools: []server.Tool{tool(t, "old")}, Call: echo}
	c := start(t, opts)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.want(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	opts.Tools = []server.Tool{tool(t, "new")}
	c.replace(opts)
	c.closed()
}

// What a request found as it came answers it to the end.
func TestRunningCallKeepsItsSnapshot(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	version := func(name string, run func()) server.Options {
		return server.Options{Tools: []server.Tool{tool(t, "t")}, Call: func(context.Context, *server.Request) (value.Value, error) {
			run()
			return value.FromString(name), nil
		}}
	}
	c := start(t, version("one", func() { close(begun); <-release }))
	c.initialize("2025-11-25")
	call := `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t"}}`
	c.send(call, 1)
	<-begun
	c.replace(version("two", func() {}))
	c.want(fmt.Sprintf(call, 2), `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"\"two\""}]}}`)
	close(release)
	if got, want := c.line(), `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"\"one\""}]}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c.closed()
}

// Each answer is of one version, however fast they follow each other: the list
// names two tools of the same version, and a tool that is listed answers as
// that version or is unknown.
func TestReplaceUnderLoad(t *testing.T) {
	version := func(n int) server.Options {
		name := fmt.Sprintf("v%d", n)
		return server.Options{
			Tools: []server.Tool{tool(t, "a-"+name), tool(t, "b-"+name), tool(t, "same")},
			Call: func(_ context.Context, q *server.Request) (value.Value, error) {
				if q.Tool != "same" && !strings.HasSuffix(q.Tool, "-"+name) {
					return value.Undef, fmt.Errorf("%s was called in %s", q.Tool, name)
				}
				return value.FromString(name), nil
			},
		}
	}
	c := start(t, version(0))
	c.initialize("2025-11-25")
	const requests = 2000
	go func() {
		for i := range requests {
			switch i % 3 {
			case 0:
				c.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, i)
			case 1:
				c.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a-v1"}}`, i)
			default:
				c.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"same"}}`, i)
			}
		}
	}()
	told, replaced := 0, 0
	for answered := 0; answered < requests; {
		line := c.line()
		if line == toolsChanged {
			told++
			continue
		}
		answered++
		if answered%3 == 0 { // while others are under way
			replaced++
			c.replace(version(replaced % 2))
		}
		answer := parse(t, line)
		if tools := answer.Get("result").Get("tools"); !tools.IsUndefined() {
			a, _ := strings.CutPrefix(tools.Elems()[0].Get("name").Str(), "a-")
			b, _ := strings.CutPrefix(tools.Elems()[1].Get("name").Str(), "b-")
			if a != b {
				t.Fatalf("a list of two versions: %s", line)
			}
		} else if strings.Contains(line, "was called in") {
			t.Fatalf("a call crossed versions: %s", line)
		}
	}
	c.in.Close()
	for {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			break
		}
		if line == toolsChanged+"\n" {
			told++
		}
	}
	if told != replaced {
		t.Errorf("the client was told of %d changes out of %d", told, replaced)
	}
}
