package graph

import (
	"iter"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// reporter collects what is wrong with a file, within the account of who asked.
type reporter struct {
	meter *memory.Meter
	ds    []diag.Diagnostic
}

// stopped counts n bytes that are about to be held, and reports whether to stop.
func (r *reporter) stopped(n int) bool { return !r.meter.Hold(n) }

func (r *reporter) report(d diag.Diagnostic) {
	if !r.stopped(diagnosticBytes + len(d.Message) + len(d.Hint)) {
		r.ds = append(r.ds, d)
	}
}

// each yields all nodes of a graph until the build is stopped.
func (r *reporter) each(g *Graph) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for _, n := range g.all() {
			if r.stopped(0) || !yield(n) {
				return
			}
		}
	}
}
