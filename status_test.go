package mcpgraph_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestPageOfStatesHasTheFormOfTheCommand(t *testing.T) {
	web := httptest.NewServer(&mcptest.Web{})
	t.Cleanup(web.Close) // after the engine
	e := mustLoad(t, `version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  there: {url: `+web.URL+`, circuitBreaker: {failureThreshold: 3}}
  gone: {url: "http://127.0.0.1:1/mcp"}
tools:
  - name: one
    description: Calls both
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: a}
      - {id: a, type: mcp, server: there, tool: echo, args: {}, next: b}
      - {id: b, type: mcp, server: gone, tool: echo, args: {}, next: exit}
      - {id: exit, type: exit}
`)
	page := func() []value.Value {
		t.Helper()
		w := httptest.NewRecorder()
		e.StatusPage().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/status", nil))
		v, err := value.Parse(w.Body.String())
		if err != nil || w.Header().Get("Content-Type") != "application/json" {
			t.Fatalf("%v: %s", err, w.Body.String())
		}
		return v.Get("servers").Elems()
	}
	for _, s := range page() {
		if s.Get("state").Str() != "idle" || s.Has("error") {
			t.Errorf("before any call: %s", s.JSON())
		}
	}
	if _, err := e.Call(context.Background(), "one", nil); err == nil {
		t.Fatal("a server that is not there answered")
	}
	servers := page()
	if got := servers[0].Get("breakers").JSON(); got != `[{"tool":"echo","state":"closed","count":1}]` || servers[0].Get("calls").JSON() != "1" {
		t.Errorf("there: %s", servers[0].JSON())
	}
	if s := servers[1]; s.Get("state").Str() != "failed" || s.Get("errors").JSON() != "1" || s.Get("error").Get("op").Str() != "handshake" ||
		s.Get("error").Get("message").Str() == "" || s.Get("error").Get("hint").Str() != "check mcpServers.gone.url" {
		t.Errorf("gone: %s", s.JSON())
	}
	asked := mcpgraph.StatusDocument(e.Status(context.Background())).Get("servers").Elems()
	for i, s := range page() {
		only := []string{"ready", "roundTripMs", "tools", "keptOut"}
		var same []value.Entry
		for _, m := range asked[i].Entries() {
			if !slices.Contains(only, m.Key) {
				same = append(same, m)
			}
		}
		if got := value.FromEntries(same); got.JSON() != s.JSON() {
			t.Errorf("the command has\n%s\nthe page\n%s", got.JSON(), s.JSON())
		}
	}
	if asked[0].Get("ready").JSON() != "true" || asked[0].Get("tools").Len() == 0 || asked[1].Get("ready").JSON() != "false" {
		t.Errorf("the command has %s and %s", asked[0].JSON(), asked[1].JSON())
	}
}
