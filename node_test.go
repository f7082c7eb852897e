package mcpgraph_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const nodeConfig = `
version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  web: {command: /nonexistent/server, retry: {maxAttempts: 3, initialDelayMs: 1}}
tools:
  - name: fetch
    description: d
    inputSchema: {type: object, required: [url]}
    nodes:
      - {id: entry, type: entry, next: get}
      - {id: get, type: mcp, server: web, tool: get, args: {url: {expr: $.entry.url}}, next: exit, catch: {errors: ["timeout"], next: late}}
      - {id: late, type: transform, transform: {expr: '"late"'}, next: exit}
      - {id: exit, type: exit}
`

// An Intercept stands for the server: nothing is started, its retry acts on what
// comes, and rules of the graph know failures by their names.
func TestInterceptStandsForTheServers(t *testing.T) {
	for _, c := range []struct {
		failure        string
		exchanges      int
		result, failed string
	}{
		{"", 1, `"https://x"`, ""},
		{"503", 3, "", "protocol"},
		{"timeout", 1, `"late"`, ""}, // the server may have acted on the call
		{"connect", 3, "", "connect"},
	} {
		n := 0
		engine, err := mcpgraph.LoadBytes("t.yaml", []byte(nodeConfig), mcpgraph.WithIntercept(
			func(_ context.Context, x upstream.Exchange, _ func(context.Context) (value.Value, error)) (value.Value, error) {
				if n++; c.failure != "" {
					return value.Undef, &upstream.Failure{Name: c.failure}
				}
				return value.FromEntries([]value.Entry{{Key: "structuredContent", Value: x.Args.Get("url")}}), nil
			}))
		if err != nil {
			t.Fatal(err)
		}
		result, err := engine.Call(t.Context(), "fetch", map[string]any{"url": "https://x"})
		if n != c.exchanges || string(result.JSON()) != c.result && c.result != "" {
			t.Errorf("%s: %d exchanges, %s, %v", c.failure, n, result.JSON(), err)
		}
		if c.failed != "" {
			f := executor.FailureOf(err)
			if f.Name != c.failed || f.Node != "get" || f.Attempts != 3 {
				t.Errorf("%s: %+v", c.failure, f)
			}
		}
		engine.Close()
	}
}

func TestOneNodeOfAToolRuns(t *testing.T) {
	engine, err := mcpgraph.LoadBytes("t.yaml", []byte(nodeConfig), mcpgraph.WithIntercept(
		func(context.Context, upstream.Exchange, func(context.Context) (value.Value, error)) (value.Value, error) {
			return value.Undef, &upstream.Failure{Name: "timeout"}
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	if ids := engine.NodeIDs("fetch"); !slices.Equal(ids, []string{"entry", "get", "late", "exit"}) || engine.NodeIDs("none") != nil {
		t.Errorf("%q", ids)
	}
	document := value.FromEntries([]value.Entry{{Key: "entry", Value: value.FromEntries(nil)}})
	rec, err := engine.RunNode(t.Context(), "fetch", "get", document)
	if err != nil || rec.Next != "late" || rec.Output.Get("error").Get("name").Str() != graph.FailTimeout {
		t.Errorf("%s, %v", rec.Value().JSON(), err)
	}
	if kept := engine.Runs().List(""); len(kept) != 0 {
		t.Errorf("the run is kept: %v", kept)
	}
	var tool *server.UnknownToolError
	if _, err := engine.RunNode(t.Context(), "fetsh", "get", document); !errors.As(err, &tool) {
		t.Error(err)
	}
	var unknown *mcpgraph.UnknownNodeError
	if _, err := engine.RunNode(t.Context(), "fetch", "gte", document); !errors.As(err, &unknown) || !strings.Contains(err.Error(), `did you mean "get"?`) {
		t.Error(err)
	}
	other := value.FromEntries([]value.Entry{{Key: "lat", Value: value.True}})
	if _, err := engine.RunNode(t.Context(), "fetch", "get", other); !errors.As(err, &unknown) || !strings.Contains(err.Error(), `did you mean "late"?`) {
		t.Error(err)
	}
}
