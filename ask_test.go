package mcpgraph_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const approvalFile = `
version: "1.0"
server: {name: approval, version: "1"}
mcpServers:
  safe:
    command: x
    env: {KEY: "${SAFE_KEY}"}
    requireApproval: ["delete_*"]
tools:
  - name: remove
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: look}
      - {id: look, type: mcp, server: safe, tool: list, args: {}, next: delete}
      - {id: delete, type: mcp, server: safe, tool: delete_file, args: {path: {expr: $.entry.path}}, next: exit, catch: {errors: [declined], next: kept}}
      - {id: kept, type: transform, transform: {expr: '"kept"'}, next: exit}
      - {id: exit, type: exit}
`

// calledTools notes what is called.
type calledTools struct{ names []string }

func (c *calledTools) CallTool(_ context.Context, _ *callinfo.Info, _, tool string, _ value.Value) (graph.ToolResult, error) {
	c.names = append(c.names, tool)
	reply, err := value.Parse(`{"content":[{"type":"text","text":"done"}]}`)
	return graph.ToolResult{Reply: reply, Attempts: 1}, err
}

func TestCallsWaitForApproval(t *testing.T) {
	const secret = "s3cr3t-key-of-the-server"
	for _, test := range []struct {
		name, action string
		ask          bool
		called, want string
	}{
		{"approved", mcpgraph.Accept, true, "list delete_file", `done`},
		{"declined", mcpgraph.Decline, true, "list", `"kept"`},
		{"nobody to ask", "", false, "list", "nobody can be asked"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tools := &calledTools{}
			engine, err := mcpgraph.LoadBytes("approval.yaml", []byte(approvalFile), mcpgraph.WithCaller(tools),
				mcpgraph.WithGetenv(func(name string) (string, bool) { return secret, name == "SAFE_KEY" }))
			if err != nil {
				t.Fatal(err)
			}
			defer engine.Close()
			var asked string
			var opts []mcpgraph.CallOption
			if test.ask {
				opts = append(opts, mcpgraph.WithAsk(func(_ context.Context, q executor.Question) (value.Value, error) {
					asked += q.Value.Get("message").Str()
					return mcpgraph.Answer(test.action, value.Undef), nil
				}))
			}
			result, err := engine.Call(context.Background(), "remove", map[string]any{"path": "a/" + secret}, opts...)
			var got string
			if err != nil {
				got = err.Error()
			} else {
				got = string(result.JSON())
			}
			if called := strings.Join(tools.names, " "); called != test.called || !strings.Contains(got, test.want) {
				t.Errorf("called %q, got %s", called, got)
			}
			if test.ask && (!strings.Contains(asked, `tool "delete_file" of server "safe" with {"path":"a/`) || strings.Contains(asked, secret)) {
				t.Errorf("asked %q", asked)
			}
			if err != nil && !test.ask {
				var failed *graph.Failure
				if !errors.As(err, &failed) || failed.Name != graph.FailCannotAsk {
					t.Errorf("the failure is %v", failed)
				}
			}
		})
	}
}

// TestSecretsAreTakenOutBeforeArgumentsAreCut has a secret where the message ends.
func TestSecretsAreTakenOutBeforeArgumentsAreCut(t *testing.T) {
	const secret = "s3cr3t-key-of-the-server"
	engine, err := mcpgraph.LoadBytes("approval.yaml", []byte(approvalFile), mcpgraph.WithCaller(&calledTools{}),
		mcpgraph.WithGetenv(func(name string) (string, bool) { return secret, name == "SAFE_KEY" }))
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	asked := ""
	ask := func(_ context.Context, q executor.Question) (value.Value, error) {
		asked = q.Value.Get("message").Str()
		return mcpgraph.Answer(mcpgraph.Accept, value.Undef), nil
	}
	path := strings.Repeat("x", 4<<10-len(`{"path":"`)-len(secret)/2) + secret
	if _, err := engine.Call(context.Background(), "remove", map[string]any{"path": path}, mcpgraph.WithAsk(ask)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(asked, "[redacted]") || strings.Contains(asked, secret[:4]) {
		t.Errorf("asked %q", asked)
	}
}
