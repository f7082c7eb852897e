package durable

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// TestWorkersKnowTheSecretArgumentsOfRuns starts a run as any program of the namespace can,
// without telling what is a secret. Servers repeat what they are given.
func TestWorkersKnowTheSecretArgumentsOfRuns(t *testing.T) {
	const password, session = "correct-horse-battery", "staple-of-the-session"
	source := newSource(t, oneTool(`      - {id: a, type: mcp, server: up, tool: login, args: {password: {expr: "'`+session+`'"}}, next: b}
      - {id: b, type: call, tool: inner, detached: true, args: {text: {expr: "$.entry.password"}}, next: c, catch: [{next: c}]}
      - {id: c, type: mcp, server: up, tool: do, args: {text: {expr: "$.entry.password"}}, next: exit}`)+`
  - name: inner
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: a}
      - {id: a, type: mcp, server: up, tool: do, args: {text: {expr: "$.entry.text"}}, next: exit}
      - {id: exit, type: exit}
`)
	var mu sync.Mutex
	var infos [][]string
	source.call = func(_ context.Context, info *callinfo.Info, _, tool string, args value.Value) (graph.ToolResult, error) {
		mu.Lock()
		defer mu.Unlock()
		infos = append(infos, info.SecretArguments)
		if tool == "login" {
			reply, err := value.Parse(`{"content":[]}`)
			return graph.ToolResult{Reply: reply}, err
		}
		return graph.ToolResult{}, errors.New("refused " + args.Get("text").Str() + " and " + session)
	}
	_, err := simulate(t, source, &request{Tool: source.graphs[0].Name, Args: []byte(`{"password":"` + password + `"}`)}, nil)
	if err == nil {
		t.Fatal("the run did not fail")
	}
	out := outcomeOf(t, err)
	texts := err.Error() + out.Text + string(out.Failure)
	for _, rec := range out.Records {
		v, err := value.Parse(string(rec))
		if err != nil {
			t.Fatal(err)
		}
		texts += v.Get("error").JSON()
	}
	if strings.Contains(texts, password) || strings.Contains(texts, session) || strings.Count(texts, "refused [redacted] and [redacted]") < 3 {
		t.Errorf("failures: %s", texts)
	}
	if !slices.Equal(out.Secrets, []string{password, session}) {
		t.Errorf("those who look at the run are told of %q", out.Secrets)
	}
	if len(infos) != 3 || !slices.Equal(infos[0], []string{password}) || !slices.Equal(infos[1], []string{password, session}) || !slices.Equal(infos[2], []string{password, session}) {
		t.Errorf("calls knew %q", infos)
	}
}
