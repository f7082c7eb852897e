//go:build unix

package mcpgraph_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// failingTools fail in every way that a caller can cause here.
const failingTools = `version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  hidden-server: {command: /hidden/program}
tools:
  - {name: connect, description: d, inputSchema: &any {type: object}, nodes: [
      {id: entry, type: entry, next: n}, {id: n, type: mcp, server: hidden-server, tool: hidden-tool, args: {hidden: argument}, next: exit}, {id: exit, type: exit}]}
  - {name: expression, description: d, inputSchema: *any, nodes: [
      {id: entry, type: entry, next: n}, {id: n, type: transform, transform: {expr: "$number('hidden value')"}, next: exit}, {id: exit, type: exit}]}
  - {name: result, description: d, inputSchema: *any, outputSchema: {type: object, required: [hidden]}, nodes: [
      {id: entry, type: entry, next: exit}, {id: exit, type: exit}]}
  - {name: own, description: d, inputSchema: *any, nodes: [
      {id: entry, type: entry, next: s}, {id: s, type: switch, conditions: [{rule: {var: $.entry.no}, next: exit}], next: n},
      {id: n, type: fail, error: noSeats, message: "no seats are left", data: {seats: 0}}, {id: exit, type: exit}]}
  - {name: arguments, description: d, inputSchema: {type: object, required: [city]}, nodes: [{id: entry, type: entry, next: exit}, {id: exit, type: exit}]}
prompts:
  - {name: ask, description: d, nodes: [
      {id: entry, type: entry, next: n}, {id: n, type: mcp, server: hidden-server, tool: hidden-tool, args: {hidden: argument}, next: exit}, {id: exit, type: exit}]}
`

// TestErrorsOverHTTPSayNoMoreThanCallersNeed looks for names of this machine, of upstream
// servers and for values in what a caller gets, and for all of it in the log.
func TestErrorsOverHTTPSayNoMoreThanCallersNeed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "hidden-folder.yaml")
	if err := os.WriteFile(path, []byte(failingTools), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, details := range []bool{false, true} {
		var log lockedText
		options := []mcpgraph.Option{mcpgraph.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))}
		if details {
			options = append(options, mcpgraph.WithErrorDetails())
		}
		e, err := mcpgraph.Load(path, options...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		h, err := e.Handler(server.HTTPOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(h.Close)
		web := httptest.NewServer(h)
		t.Cleanup(web.Close)
		for name, want := range map[string]string{
			"connect":     `connect in node "n": an upstream server cannot be reached (error ID)`,
			"expression":  `expression in node "n": an expression failed (error ID)`,
			"result":      `result: the result does not fit its schema (error ID)`,
			"own":         "no seats are left",
			"arguments":   `missing required property "city"`,
			"prompts/ask": `connect in node "n": an upstream server cannot be reached (error ID)`,
		} {
			answer := callOverHTTP(t, web.URL, name)
			failure, text := answer.Get("result").Get("_meta").Get("mcpgraph/error"), ""
			for _, block := range answer.Get("result").Get("content").Elems() {
				text = block.Get("text").Str()
			}
			if failed := answer.Get("error"); failed.Kind() == value.Object {
				failure, text = failed.Get("data").Get("mcpgraph/error"), failed.Get("message").Str()
			}
			id := failure.Get("id").Str()
			switch {
			case details && (strings.Contains(text, "(error ") || id != ""):
				t.Errorf("%s with details: %s", name, answer.JSON())
			case details && name == "connect" && !(strings.Contains(text, path) && strings.Contains(text, `{"hidden":"argument"}`) && failure.Get("server").Str() == "hidden-server"):
				t.Errorf("%s with details: %s", name, answer.JSON())
			case details:
			case !strings.Contains(text, strings.Replace(want, "ID", id, 1)), strings.Contains(answer.JSON(), "hidden"), failure.Get("message").Str() == "":
				t.Errorf("%s: got %s\nwant %s", name, answer.JSON(), want)
			case strings.Contains(want, "ID") != (id != "" && strings.Contains(log.String(), "id="+id+" ")):
				t.Errorf("%s: the id %q and the log:\n%s", name, id, log.String())
			}
		}
		if !details && (!strings.Contains(log.String(), path+":7:") || !strings.Contains(log.String(), `{\"hidden\":\"argument\"}`)) {
			t.Errorf("the log lacks places or arguments:\n%s", log.String())
		}
		c := serve(t, e)
		c.ask("initialize", initialize)
		_, answer := c.ask("tools/call", `{"name":"connect"}`)
		if !strings.Contains(answer.JSON(), "hidden-server") || !strings.Contains(answer.JSON(), path) {
			t.Errorf("over stdio: %s", answer.JSON())
		}
	}
}

// callOverHTTP calls a tool, or a prompt by the name prompts/NAME, without a session.
func callOverHTTP(t *testing.T, base, name string) value.Value {
	t.Helper()
	method := "tools/call"
	if prompt, ok := strings.CutPrefix(name, "prompts/"); ok {
		method, name = "prompts/get", prompt
	}
	r, err := http.NewRequest(http.MethodPost, base+server.Path, strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"name":%q,`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, method, name)))
	if err != nil {
		t.Fatal(err)
	}
	for header, text := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name,
	} {
		r.Header.Set(header, text)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.Parse(string(text))
	if err != nil {
		t.Fatalf("%s: %s", err, text)
	}
	return v
}
