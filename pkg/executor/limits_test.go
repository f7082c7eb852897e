package executor_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

func TestLimitsOfAllWalksTogether(t *testing.T) {
	g := mapOf(t, 10, oneTransform, graph.Spread{}, graph.Policy{}, true)
	g.Limits.MaxTotalExecutions = 20
	r := newRun(g)
	err := (&executor.Local{}).Run(context.Background(), r, world{})
	var limit *executor.LimitError
	if !errors.As(err, &limit) || limit.MaxTotal != 20 || limit.Executions != 20 || r.Len() > 21 {
		t.Errorf("%v after %d executions", err, r.Len())
	}
}

func TestToolsCallToolsToALimit(t *testing.T) {
	g := compile(t, `
version: "1.0"
server: {name: test, version: "1"}
tools:
  - name: t
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: again}
      - {id: again, type: invoke, expr: "{}", next: exit}
      - {id: exit, type: exit}
`, map[string]setup{"again": {callee: "t", catches: false}})
	g.Limits.MaxCallDepth = 3
	r := newRun(g)
	err := (&executor.Local{}).Run(context.Background(), r, world{})
	var limit *executor.LimitError
	if !errors.As(err, &limit) || limit.MaxDepth != 3 || !strings.Contains(err.Error(), `"again>again>again"`) {
		t.Errorf("the recursion ended with %v", err)
	}
}
