//go:build unix

package mcpgraph_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const slowTool = `version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  fake: {command: none}
tools:
  - name: look_up
    description: Looks something up
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: ask}
      - {id: ask, type: mcp, server: fake, tool: get, args: {expr: $.entry}, next: exit}
      - {id: exit, type: exit}
`

// waiting is a server that answers when it may.
type waiting struct{ may chan error }

func (w waiting) CallTool(ctx context.Context, _ *callinfo.Info, _, _ string, args value.Value) (graph.ToolResult, error) {
	select {
	case err := <-w.may:
		return graph.ToolResult{Reply: value.FromEntries([]value.Entry{{Key: "structuredContent", Value: args}}), Attempts: 1}, err
	case <-ctx.Done():
		return graph.ToolResult{}, context.Cause(ctx)
	}
}

// reader reads the runs of one client.
type reader struct {
	*testing.T
	read func(uri string) (string, error)
}

func (r reader) runs() []value.Value {
	r.Helper()
	return r.get("mcpgraph://runs").Get("runs").Elems()
}

func (r reader) get(uri string) value.Value {
	r.Helper()
	text, err := r.read(uri)
	if err != nil {
		r.Fatal(err)
	}
	v, err := value.Parse(text)
	if err != nil {
		r.Fatal(err)
	}
	return v
}

// running waits until the newest run waits for the server, and returns its address.
func (r reader) running() string {
	r.Helper()
	uri := ""
	eventually(r, "a run under way", func() bool {
		list := r.runs()
		if len(list) == 0 || list[0].Get("status").Str() != "running" || list[0].Get("active").Elems()[0].Get("path").Str() != "ask" {
			return false
		}
		uri = list[0].Get("uri").Str()
		return true
	})
	run := r.get(uri)
	active, history := run.Get("active").Elems(), run.Get("history").Elems()
	if run.Get("status").Str() != "running" || run.Has("result") || run.Has("error") || len(history) != 1 || len(active) != 1 ||
		history[0].Get("output").JSON() != run.Get("arguments").JSON() || active[0].Get("server").Str() != "fake" || active[0].Get("start").Str() == "" {
		r.Errorf("under way it is %s", run.JSON())
	}
	return uri
}

// over checks what has become of the newest run.
func (r reader) over(uri, status, message string) {
	r.Helper()
	list := r.runs()
	if len(list) == 0 || list[0].Get("uri").Str() != uri {
		r.Fatalf("%s is not the first of %v", uri, list)
	}
	run := r.get(uri)
	for _, v := range []value.Value{list[0], run} {
		if v.Get("status").Str() != status || v.Has("active") || !strings.Contains(v.Get("error").Str(), message) {
			r.Errorf("at its end it is %s", v.JSON())
		}
	}
	if len(list) > 1 && list[1].Get("uri").Str() == uri {
		r.Error("it is there twice")
	}
}

func TestRunsUnderWayAreSeenByTheirCaller(t *testing.T) {
	slow := waiting{make(chan error)}
	c := loadChanging(t, slowTool, mcpgraph.WithCaller(slow), mcpgraph.WithExposedRuns())
	url := serveTwo(t, c.ServeHTTP)
	connect := func(caller string) (*client.Client, reader) {
		h, err := client.NewStreamableHttpClient(url, transport.WithHTTPHeaders(map[string]string{
			"Authorization": "Bearer 0123456789abcdef-" + caller,
		}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		hello := mcp.InitializeRequest{}
		hello.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
		if _, err := h.Initialize(t.Context(), hello); err != nil {
			t.Fatal(err)
		}
		return h, reader{t, func(uri string) (string, error) {
			request := mcp.ReadResourceRequest{}
			request.Params.URI = uri
			result, err := h.ReadResource(t.Context(), request)
			if err != nil {
				return "", err
			}
			return result.Contents[0].(mcp.TextResourceContents).Text, nil
		}}
	}
	ann, hers := connect("ann")
	_, his := connect("bob")
	call := func(ctx context.Context) chan string {
		answer := make(chan string, 1)
		go func() {
			request := mcp.CallToolRequest{}
			request.Params.Name, request.Params.Arguments = "look_up", map[string]any{"key": "k"}
			result, err := ann.CallTool(ctx, request)
			if err != nil {
				answer <- err.Error()
				return
			}
			answer <- result.Content[0].(mcp.TextContent).Text
		}()
		return answer
	}

	answer := call(t.Context())
	uri := hers.running()
	if list := his.runs(); len(list) != 0 {
		t.Errorf("another caller sees %v", list)
	}
	if text, err := his.read(uri); err == nil {
		t.Errorf("another caller reads %s", text)
	}
	c.reload(strings.Replace(slowTool, "look_up", "other", 1))
	if again := hers.running(); again != uri {
		t.Errorf("after a reload the run is %s, before %s", again, uri)
	}
	c.reload(slowTool)
	slow.may <- nil
	if got := <-answer; !strings.Contains(got, `"key":"k"`) {
		t.Errorf("the call gave %s", got)
	}
	hers.over(uri, "ok", "")
	if got := hers.get(uri).Get("result").JSON(); got != `{"key":"k"}` {
		t.Errorf("the result is %s", got)
	}

	answer = call(t.Context())
	uri = hers.running()
	slow.may <- errors.New("no such key")
	<-answer
	hers.over(uri, "failed", "no such key")

	gone, cancel := context.WithCancel(t.Context())
	answer = call(gone)
	uri = hers.running()
	cancel()
	<-answer
	eventually(t, "the end of the cancelled run", func() bool { return hers.runs()[0].Get("status").Str() != "running" })
	hers.over(uri, "failed", "cancel")
	if list := his.runs(); len(list) != 0 {
		t.Errorf("another caller sees %v", list)
	}
}

func TestRunsUnderWayAreSeenOverPipes(t *testing.T) {
	slow := waiting{make(chan error)}
	c := serve(t, mustLoad(t, slowTool, mcpgraph.WithCaller(slow), mcpgraph.WithExposedRuns()))
	c.ask("initialize", initialize)
	r := reader{t, func(uri string) (string, error) {
		_, answer := c.ask("resources/read", `{"uri":"`+uri+`"}`)
		if answer.Has("error") {
			return "", errors.New(answer.JSON())
		}
		return answer.Get("result").Get("contents").Elems()[0].Get("text").Str(), nil
	}}
	c.tell(`{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{"name":"look_up","arguments":{"key":"k"}}}`)
	uri := r.running()
	slow.may <- nil
	if answer := c.next(); answer.Get("id").Str() != "call" {
		t.Errorf("the call gave %s", answer.JSON())
	}
	r.over(uri, "ok", "")
}
