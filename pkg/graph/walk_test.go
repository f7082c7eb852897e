package graph

import (
	"math/rand/v2"
	"testing"
)

// random returns a graph of n nodes with about degree edges each.
func random(r *rand.Rand, n int, degree float64) *Graph {
	g := &Graph{}
	for i := range n {
		g.Nodes = append(g.Nodes, &Node{Index: i, facts: &facts{}})
	}
	for range int(degree * float64(n)) {
		from, to := g.Nodes[r.IntN(n)], g.Nodes[r.IntN(n)]
		from.Edges = append(from.Edges, Edge{To: to})
	}
	g.Entry, g.Exit = g.Nodes[0], g.Nodes[n-1]
	return g
}

func TestWaysAreThoseThatASearchFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		n := 2 + r.IntN(150)
		g := random(r, n, r.Float64()*2.5)
		w := newWalk(g, false)
		var questions []*way
		for range 3 * n {
			questions = append(questions, &way{from: int32(r.IntN(n)), to: int32(r.IntN(n))})
		}
		w.find(questions, nil)
		for _, q := range questions {
			want := false
			for _, first := range w.out[q.from] {
				want = want || spread(w.out, g.Nodes[first])[q.to]
			}
			if q.exists != want {
				t.Fatalf("round %d: a way from %d to %d: %v, want %v", round, q.from, q.to, q.exists, want)
			}
		}
	}
}

func TestManyStartingPointsAreAskedAtOnce(t *testing.T) {
	// A chain of 1,000 nodes: the i-th reaches exactly those behind it.
	g := &Graph{}
	for i := range 1000 {
		g.Nodes = append(g.Nodes, &Node{Index: i, facts: &facts{}})
		if i > 0 {
			g.Nodes[i-1].Edges = []Edge{{To: g.Nodes[i]}}
		}
	}
	g.Entry = g.Nodes[0]
	var questions []*way
	for i := range 1000 {
		questions = append(questions, &way{from: int32(i), to: int32((i * 7) % 1000)})
	}
	newWalk(g, false).find(questions, nil)
	for _, q := range questions {
		if q.exists != (q.to > q.from) {
			t.Fatalf("from %d to %d: %v", q.from, q.to, q.exists)
		}
	}
}
