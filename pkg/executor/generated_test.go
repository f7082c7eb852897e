package executor_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"context"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// The node types of these tests: each asks for one verb. Bodies and called tools
// are other tools of the file, named in a field, until link puts them in place.

// acting is a step whose action is that of a verb over an expression.
type acting struct {
	expr *graph.Program
	do   graph.Verb
	edge int
}

func (s acting) Begin(ctx context.Context, in *graph.Input) (graph.Action, error) {
	v, err := s.expr.Eval(ctx, in.Env)
	return graph.Action{Value: v, Edge: s.edge, Do: s.do}, err
}

func kind(name string, do graph.Verb) *graph.Kind {
	return &graph.Kind{Name: name, Doc: name, Decode: func(f *graph.Fields) graph.Step {
		s := acting{expr: f.Expr("expr", "what"), do: do, edge: f.Edge("next", "where")}
		for _, field := range []string{"bodies", "names", "spread", "timeout", "retry", "catches"} {
			f.String(field, "test", graph.Optional)
		}
		f.Edge("catch", "where", graph.Optional)
		return s
	}}
}

var testKinds = append([]*graph.Kind{
	kind("work", graph.CallTool), kind("fork", graph.Fork), kind("invoke", graph.Invoke),
	kind("sleep", graph.Sleep), kind("person", graph.Ask),
}, nodes.All...)

// setup is what the test gives a node beside its fields.
type setup struct {
	bodies  []string // tools
	spread  *graph.Spread
	callee  string
	policy  graph.Policy
	catches bool // the edge of the field catch is taken on any failure

	approval *graph.Approval
}

// compile builds a file and links the bodies. The first tool is the graph.
func compile(t testing.TB, source string, setups map[string]setup) *graph.Graph {
	t.Helper()
	file, ds := config.Parse("test.yaml", []byte(source), config.Options{})
	if file == nil || diag.HasErrors(ds) {
		t.Fatalf("config: %v\n%s", ds, source)
	}
	set, ds := graph.Build(file, testKinds)
	if diag.HasErrors(ds) {
		t.Fatalf("graph: %v\n%s", ds, source)
	}
	tools := map[string]*graph.Graph{}
	for _, g := range set.Graphs {
		tools[g.Name] = g
	}
	for _, g := range set.Graphs {
		for _, n := range g.Nodes {
			s, ok := setups[n.ID]
			if !ok {
				continue
			}
			for _, body := range s.bodies {
				n.Bodies = append(n.Bodies, tools[body])
				tools[body].Owner = n
			}
			n.Spread, n.Callee, n.Policy, n.Approval = s.spread, tools[s.callee], s.policy, s.approval
			if s.catches {
				n.Policy.Catch = []graph.CatchRule{{Edge: 1}}
			}
		}
	}
	return set.Graphs[0]
}

// generator makes graphs. Those without loose have one way whatever the
// schedule: nothing fails beside something else, and nothing is first.
type generator struct {
	*rand.Rand
	loose  bool
	tools  []string
	setups map[string]setup
	count  int
	budget int
}

func generate(t testing.TB, seed uint64, loose bool) *graph.Graph {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7)), loose: loose, setups: map[string]setup{}, budget: 14}
	g.tool("t", 0)
	return compile(t, "version: \"1.0\"\nserver: {name: test, version: \"1\"}\ntools:\n"+strings.Join(g.tools, ""), g.setups)
}

func (g *generator) id() string {
	g.count++
	return fmt.Sprintf("n%d", g.count)
}

// tool writes one tool, and those that it needs.
func (g *generator) tool(name string, depth int) {
	at := len(g.tools)
	g.tools = append(g.tools, "")
	var b strings.Builder
	fmt.Fprintf(&b, "  - name: %s\n    description: d\n    inputSchema: {type: object}\n    nodes:\n", name)
	n := 1 + g.IntN(4)
	ids := []string{"e" + name}
	for range n {
		ids = append(ids, g.id())
	}
	ids = append(ids, "x"+name)
	fmt.Fprintf(&b, "      - {id: %s, type: entry, next: %s}\n", ids[0], ids[1])
	for i := 1; i <= n; i++ {
		g.node(&b, ids, i, depth)
	}
	fmt.Fprintf(&b, "      - {id: %s, type: exit}\n", ids[n+1])
	g.tools[at] = b.String()
}

func (g *generator) node(b *strings.Builder, ids []string, i, depth int) {
	id, next := ids[i], ids[i+1]
	kinds := []string{"transform", "transform", "work", "work", "sleep", "person"}
	if depth < 3 && g.budget > 0 {
		kinds = append(kinds, "fork", "fork", "invoke")
	}
	kind := kinds[g.IntN(len(kinds))]
	if i > 1 && g.IntN(6) == 0 {
		// Back to an earlier node, a few times.
		fmt.Fprintf(b, "      - {id: %s, type: switch, conditions: [{rule: {\"<\": [{var: '$executionCount(%q)'}, 3]}, next: %s}], next: %s}\n", id, id, ids[1+g.IntN(i-1)], next)
		return
	}
	var s setup
	expr := g.expr(ids[:i])
	switch kind {
	case "transform":
		fmt.Fprintf(b, "      - {id: %s, type: transform, transform: {expr: '%s'}, next: %s}\n", id, expr, next)
		return
	case "sleep":
		expr = strconv.Itoa(g.IntN(300))
	case "fork":
		g.budget--
		spread := &graph.Spread{Limit: g.IntN(4)}
		bodies := 1
		if spread.Each = g.IntN(2) == 0; spread.Each {
			spread.As, spread.At = "item", "at"
			expr = fmt.Sprintf("[1..%d]", g.IntN(7))
			if g.loose {
				spread.Tolerate = g.IntN(3)
			} else {
				spread.TolerateShare = 1_000_000
			}
		} else {
			bodies = 1 + g.IntN(3)
			spread.First = g.loose && g.IntN(2) == 0
		}
		for k := range bodies {
			name := fmt.Sprintf("b%s%d", id, k)
			spread.Names = append(spread.Names, fmt.Sprintf("w%d", k))
			s.bodies = append(s.bodies, name)
			g.tool(name, depth+1)
		}
		s.spread = spread
	case "invoke":
		g.budget--
		s.callee = "c" + id
		g.tool(s.callee, depth+1)
	}
	if kind == "work" || kind == "fork" || kind == "invoke" {
		for range g.IntN(3) {
			s.policy.Retry = append(s.policy.Retry, graph.RetryRule{
				Errors: [][]string{nil, {"all"}, {"broken"}, {"5xx"}, {"timeout"}}[g.IntN(5)], MaxAttempts: 1 + g.IntN(3),
				InitialDelay: time.Duration(g.IntN(50)) * time.Millisecond, MaxDelay: time.Second, Backoff: 2, Jitter: g.IntN(2) == 0,
			})
		}
	}
	if kind == "work" && g.IntN(4) == 0 {
		s.approval = &graph.Approval{Once: g.loose && g.IntN(2) == 0}
	}
	if kind == "work" {
		s.policy.Timeout = longest * 2
	} else if g.loose && kind != "sleep" && g.IntN(3) == 0 {
		s.policy.Timeout = time.Duration(1+g.IntN(400)) * time.Millisecond
	}
	s.catches = kind != "sleep" && (!g.loose || g.IntN(2) == 0)
	catch := ""
	if s.catches {
		catch = ", catch: " + ids[i+1+g.IntN(len(ids)-i-1)]
	}
	g.setups[id] = s
	fmt.Fprintf(b, "      - {id: %s, type: %s, expr: '%s', next: %s%s}\n", id, kind, expr, next, catch)
}

// expr reads something of the run.
func (g *generator) expr(before []string) string {
	node := before[g.IntN(len(before))]
	all := []string{
		"$count($keys($))", "$previousNode()", "[$random() > 0.5, $random()]", "$$",
		fmt.Sprintf("$.%s", node), fmt.Sprintf("{\"was\": $.%s, \"n\": $executionCount(\"%s\")}", node, node),
		fmt.Sprintf("$nodeExecution(\"%s\", -1)", node), fmt.Sprintf("$count($nodeExecutions(\"%s\"))", node),
		"{\"item\": $item, \"at\": $at}",
	}
	return all[g.IntN(len(all))]
}

// longest is how long a simulated call takes at most, unless it never ends.
const longest = 200 * time.Millisecond

func textOf(v value.Value) string {
	if v.IsUndefined() {
		return ""
	}
	return v.JSON()
}
