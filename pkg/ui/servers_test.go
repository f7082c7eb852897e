package ui

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestServersAreShownWithoutAsking(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	list := s.get("/api/servers").Get("servers").Elems()
	if len(list) != 2 {
		t.Fatalf("there are %d servers", len(list))
	}
	files, web := list[0], list[1]
	if files.Get("target").Str() != "none --token [redacted]" || files.Get("state").Str() != "idle" || files.Get("transport").Str() != "stdio" {
		t.Errorf("the server is %s", files.JSON())
	}
	if web.Get("target").Str() != "https://example.com/mcp" {
		t.Errorf("the server is %s", web.JSON())
	}
	v := s.post("/api/servers/files/check", `{}`)
	if v.Get("state").Str() != "failed" || !strings.Contains(v.Get("error").Str(), "none") {
		t.Errorf("a server that does not start is %s", v.JSON())
	}
	events := s.follow("")
	time.Sleep(2 * batchTime) // so that the figures before are known
	v = s.post("/api/servers/files/tools/stat/call", `{"args":{"name":"x"}}`)
	until(t, events, func(e value.Value) bool { return e.Get("type").Str() == "servers" })
	if !strings.Contains(v.Get("result").JSON(), "x [redacted]") || !v.Has("ms") {
		t.Errorf("the tool answers %s", v.JSON())
	}
	for path, want := range map[string]string{"/api/servers/x/check": "not_found", "/api/servers/x/tools/y/call": "not_found"} {
		if status, code := s.code("POST", path, `{}`); status != http.StatusNotFound || code != want {
			t.Errorf("%s: %d %s", path, status, code)
		}
	}
	if _, code := s.code("POST", "/api/servers/files/tools/stat/call", `{"args":5}`); code != "bad_request" {
		t.Errorf("arguments that are no object: %s", code)
	}
}

// TestServerIsChecked lists the tools of a server in this process, of which settings
// keep one out.
func TestServerIsChecked(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(strings.ReplaceAll(tools, "    private: true\n", ""), "${TOKEN}", "x")
	text = strings.Replace(text, `version: "1"}`, `version: "1", title: Files of `+secret+`, instructions: Ask for `+secret+`}`, 1)
	inner, err := mcpgraph.LoadBytes("inner.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inner.Close() })
	outer := strings.Replace(tools, "    command: none\n", "    command: none\n    tools: {deny: [asks]}\n", 1)
	s := serve(t, outer, func(o *Options) {
		engine, err := mcpgraph.Load(o.Path, mcpgraph.WithGetenv(o.Getenv), mcpgraph.WithServer("files", func(ctx context.Context, in io.Reader, out io.Writer) error {
			return inner.ServeStdio(ctx, in, out)
		}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = engine.Close() })
		o.Engine = engine
	})
	v := s.post("/api/servers/files/check", `{}`)
	if v.Get("state").Str() != "connected" || v.Get("info").Get("name").Str() != "t" || v.Get("protocol").Str() == "" {
		t.Errorf("the server is %s", v.JSON())
	}
	if v.Get("info").Get("title").Str() != "Files of [redacted]" || v.Get("instructions").Str() != "Ask for [redacted]" {
		t.Errorf("the server says %s", v.JSON())
	}
	hidden := ""
	for _, tool := range v.Get("tools").Elems() {
		if tool.Get("hidden").Bool() {
			hidden += tool.Get("name").Str()
		}
	}
	if v.Get("tools").Len() != 5 || hidden != "asks" {
		t.Errorf("the tools are %s", v.Get("tools").JSON())
	}
	if got := s.get("/api/servers").Get("servers").Elems()[0].Get("tools").Len(); got != 5 {
		t.Errorf("%d tools are known afterwards", got)
	}
	if v := s.post("/api/servers/files/tools/double/call", `{"args":{"n":21}}`); !strings.Contains(v.JSON(), `"text":"42"`) {
		t.Errorf("the tool answers %s", v.JSON())
	}
	if _, code := s.code("POST", "/api/servers/files/tools/asks/call", `{}`); code != "tool_not_allowed" {
		t.Errorf("a tool that is kept out: %s", code)
	}
}
