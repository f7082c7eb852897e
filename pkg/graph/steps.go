package graph

// countSteps sets Steps of every node. The parts of a walk come with those
// first that others lead to, so what follows a node is known before it.
func (w *walk) countSteps() {
	for p, members := range w.parts {
		if !w.cyclic[p] {
			n := w.nodes[members[0]]
			n.Steps = steps(n)
		}
	}
}

func steps(n *Node) int {
	after, ways := 0, 0
	for _, e := range n.Edges {
		if e.Catch {
			continue // most runs do not go there
		}
		if e.To == nil || e.To.Steps == 0 || ways > 0 && e.To.Steps != after {
			return 0
		}
		after = e.To.Steps
		ways++
	}
	return after + 1
}
