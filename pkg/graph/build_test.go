package graph_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
)

// large returns a configuration with n nodes, each of which reads one that ran
// before it; with mistakes, a name in each is misspelt.
func large(n int, mistakes bool) string {
	var b strings.Builder
	b.WriteString("version: \"1.0\"\nserver: {name: test, version: \"1\"}\ntools:\n  - name: t\n    description: Test\n    inputSchema: {type: object}\n    nodes:\n      - {id: entry, type: entry, next: n0}\n")
	for i := range n - 2 {
		next := fmt.Sprintf("n%d", i+1)
		if i == n-3 {
			next = "exit"
		}
		ref := fmt.Sprintf("n%d", i*7%(i+1))
		if i == 0 {
			ref = "entry"
		}
		if mistakes {
			ref += "xyzzy"
		}
		switch i % 3 {
		case 0:
			fmt.Fprintf(&b, "      - {id: n%d, type: switch, conditions: [{rule: {\"<\": [{var: %s}, 1]}, next: n%d}], next: %s}\n", i, ref, i/2, next)
		default:
			fmt.Fprintf(&b, "      - {id: n%d, type: transform, transform: {expr: \"$.%s\"}, next: %s}\n", i, ref, next)
		}
	}
	b.WriteString("      - {id: exit, type: exit}\n")
	return b.String()
}

func parse(t testing.TB, source string) *config.File {
	t.Helper()
	file, ds := config.Parse("test.yaml", []byte(source), config.Options{})
	if file == nil || diag.HasErrors(ds) {
		t.Fatal(ds)
	}
	return file
}

func TestBuildingCostsTheSameForEachNode(t *testing.T) {
	for _, mistakes := range []bool{false, true} {
		cost := func(n int) float64 {
			file := parse(t, large(n, mistakes))
			return testing.AllocsPerRun(1, func() { graph.Build(file, nodes.All) }) / float64(n)
		}
		small, big := cost(500), cost(5000)
		if big > 1.5*small {
			t.Errorf("mistakes %v: %.1f allocations a node for 500 nodes, %.1f for 5,000", mistakes, small, big)
		}
	}
}

func TestLargeFileHasNoProblems(t *testing.T) {
	set, ds := graph.Build(parse(t, large(5000, false)), nodes.All)
	if len(ds) > 0 || len(set.Graphs[0].Nodes) != 5000 {
		t.Errorf("%d nodes, %v", len(set.Graphs[0].Nodes), ds)
	}
}

func TestEveryMistakeOfALargeFileIsReported(t *testing.T) {
	_, ds := graph.Build(parse(t, large(5000, true)), nodes.All)
	if len(ds) != 4998 {
		t.Errorf("%d problems", len(ds))
	}
}

func TestNextDoesNotDependOnTheOrderOfNodes(t *testing.T) {
	set, ds := build(t, `
version: "1.0"
server: {name: test, version: "1"}
tools:
  - name: t
    description: Test
    inputSchema: {type: object}
    nodes:
      - {id: exit, type: exit}
      - {id: b, type: transform, transform: {expr: "$.a"}, next: exit}
      - {id: a, type: transform, transform: {expr: "$.entry"}, next: b}
      - {id: entry, type: entry, next: a}
`)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	g := set.Graphs[0]
	if g.Entry.ID != "entry" || g.Exit.ID != "exit" || g.Entry.Edges[0].To != g.Node("a") || g.Node("nothing") != nil {
		t.Errorf("entry %v, exit %v", g.Entry, g.Exit)
	}
	for i, n := range g.Nodes {
		if n.Index != i {
			t.Errorf("node %q has index %d, not %d", n.ID, n.Index, i)
		}
	}
}

func TestFlatLayoutGivesEachToolWhatItsEntryReaches(t *testing.T) {
	set, ds := build(t, `
version: "1.0"
server: {name: test, version: "1"}
tools:
  - {name: a, description: A, inputSchema: {type: object}}
  - {name: b, description: B, inputSchema: {type: object}}
nodes:
  - {id: exit_b, type: exit, tool: b}
  - {id: a1, type: transform, transform: {expr: "$.entry_a"}, next: a2}
  - {id: entry_b, type: entry, tool: b, next: b1}
  - {id: b1, type: switch, conditions: [{rule: {var: entry_b.x}, target: entry_b}, {target: exit_b}]}
  - {id: a2, type: transform, transform: {expr: "$.a1"}, next: exit_a}
  - {id: entry_a, type: entry, tool: a, next: a1}
  - {id: exit_a, type: exit, tool: a}
`)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	for i, want := range []string{"a1 a2 entry_a exit_a", "exit_b entry_b b1"} {
		g := set.Graphs[i]
		var ids []string
		for k, n := range g.Nodes {
			ids = append(ids, n.ID)
			if n.Index != k || g.Node(n.ID) != n {
				t.Errorf("node %q of tool %q is not in its place", n.ID, g.Name)
			}
			for _, e := range n.Edges {
				if g.Node(e.Target) != e.To {
					t.Errorf("edge from %q to %q leaves the graph", n.ID, e.Target)
				}
			}
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("tool %q has %s, want %s", g.Name, got, want)
		}
	}
	if e := set.Graphs[1].Node("b1").Edges; e[0].Label != `{"var":"entry_b.x"}` || e[0].Default || !e[1].Default {
		t.Errorf("labels of a switch: %+v", e)
	}
}

func TestToolsThatShareAllTheirNodesDoNotMultiplyTheWork(t *testing.T) {
	shared := func(tools int) string {
		var b strings.Builder
		b.WriteString("version: \"1.0\"\nserver: {name: test, version: \"1\"}\ntools:\n")
		for i := range tools {
			fmt.Fprintf(&b, "  - {name: t%d, description: d, inputSchema: {type: object}}\n", i)
		}
		b.WriteString("nodes:\n")
		for i := range tools {
			fmt.Fprintf(&b, "  - {id: e%d, type: entry, tool: t%d, next: n0}\n  - {id: x%d, type: exit, tool: t%d}\n", i, i, i, i)
		}
		for i := range 1000 {
			fmt.Fprintf(&b, "  - {id: n%d, type: transform, transform: {expr: \"1\"}, next: n%d}\n", i, (i+1)%1000)
		}
		return b.String()
	}
	cost := func(tools int) float64 {
		file := parse(t, shared(tools))
		return testing.AllocsPerRun(1, func() { graph.Build(file, nodes.All) }) / float64(1000+3*tools)
	}
	if few, many := cost(10), cost(1000); many > 10*few {
		t.Errorf("%.1f allocations a node with 10 tools, %.1f with 1,000", few, many)
	}
}

// TestFlatGraphsNeverShareNodes builds files whose edges are drawn at random.
func TestFlatGraphsNeverShareNodes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		var b strings.Builder
		b.WriteString("version: \"1.0\"\nserver: {name: test, version: \"1\"}\ntools:\n")
		for i := range 3 {
			fmt.Fprintf(&b, "  - {name: t%d, description: d, inputSchema: {type: object}}\n", i)
		}
		b.WriteString("nodes:\n")
		to := func() string { return fmt.Sprintf("%c%d", "nnnnex"[r.IntN(6)], r.IntN(3)) }
		for i := range 3 {
			fmt.Fprintf(&b, "  - {id: e%d, type: entry, tool: t%d, next: %s}\n  - {id: x%d, type: exit, tool: t%d}\n", i, i, to(), i, i)
			fmt.Fprintf(&b, "  - {id: n%d, type: switch, conditions: [{rule: {var: e0}, next: %s}], next: %s}\n", i, to(), to())
		}
		set, ds := graph.Build(parse(t, b.String()), nodes.All)
		owner := map[*graph.Node]string{}
		for _, g := range set.Graphs {
			for i, n := range g.Nodes {
				if n.Index != i || owner[n] != "" {
					t.Fatalf("node %q of %q has index %d and belongs to %q too\n%s", n.ID, g.Name, n.Index, owner[n], b.String())
				}
				owner[n] = g.Name
				for _, e := range n.Edges {
					if e.To == nil && !diag.HasErrors(ds) || e.To != nil && g.Node(e.Target) != e.To {
						t.Fatalf("edge from %q to %q leaves the graph\n%s", n.ID, e.Target, b.String())
					}
				}
			}
		}
	}
}

func BenchmarkBuild5000Nodes(b *testing.B) {
	file := parse(b, large(5000, false))
	b.ReportAllocs()
	for b.Loop() {
		graph.Build(file, nodes.All)
	}
}

func BenchmarkBuild5000Mistakes(b *testing.B) {
	file := parse(b, large(5000, true))
	b.ReportAllocs()
	for b.Loop() {
		graph.Build(file, nodes.All)
	}
}

func FuzzBuild(f *testing.F) {
	for _, pattern := range []string{"../../testdata/diag/graph/*.yaml", "../../testdata/ok/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range files {
			source, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(source)
		}
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		file, ds := config.Parse("fuzz.yaml", source, config.Options{Getenv: func(string) (string, bool) { return "", false }})
		if file == nil {
			return
		}
		set, more := graph.Build(file, nodes.All)
		if diag.HasErrors(ds) || diag.HasErrors(more) {
			return
		}
		all := set.Graphs
		for _, g := range set.Graphs {
			if g.Offer == nil {
				continue
			}
			for _, c := range g.Offer.Completions {
				if c.Graph != nil {
					all = append(all, c.Graph)
				}
			}
		}
		set.ToolUses()
		for _, g := range all {
			if g.Entry == nil || g.Exit == nil || g.Input == nil {
				t.Fatalf("tool %q has no errors and is not complete", g.Name)
			}
			for _, n := range g.Nodes {
				for _, e := range n.Edges {
					if e.To == nil || g.Nodes[e.To.Index] != e.To {
						t.Fatalf("edge from %q to %q leaves the graph", n.ID, e.Target)
					}
				}
			}
		}
	})
}
