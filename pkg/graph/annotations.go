package graph

import (
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// The hints of MCP 2025-11-25, Tool annotations.
const (
	hintReadOnly    = "readOnlyHint"
	hintDestructive = "destructiveHint"
	hintIdempotent  = "idempotentHint"
	hintOpenWorld   = "openWorldHint"
)

// effects is what a graph may do, by what is locked of the tools that it can call. A
// node is why, nil where it may not.
type effects struct {
	writes, destroys, open *Node
	calls                  []*Node // each once, also where it can run again
	repeats                bool    // a call may be made more than once in a run
}

// effectsOf returns what the tool of a graph may do: in its bodies, in the tools that
// it calls and after failures, too.
func effectsOf(g *Graph, locked *lock.File) *effects {
	e := &effects{}
	e.add(g, locked, map[*Graph]int{}, false)
	return e
}

// add adds what a graph may do. again is true where it may run more than once.
func (e *effects) add(g *Graph, locked *lock.File, seen map[*Graph]int, again bool) {
	const once, repeatedly = 1, 2
	if seen[g] >= repeatedly || seen[g] == once && !again {
		e.repeats = true // a tool that is called twice, or calls itself
		return
	}
	seen[g] = once
	if again {
		seen[g] = repeatedly
	}
	reached, cyclic := reachable(g)
	for i, n := range g.Nodes {
		if !reached[i] {
			continue
		}
		more := again || cyclic[i]
		if n.Server != "" && n.toolSrc != nil && n.Callee == nil {
			e.call(n, locked.Tool(n.Server, n.Tool))
			e.repeats = e.repeats || more
		}
		for _, body := range n.Bodies {
			e.add(body, locked, seen, more || n.Spread != nil && n.Spread.Each)
		}
		if n.Callee != nil {
			e.add(n.Callee, locked, seen, more)
		}
	}
}

// call adds a call of a tool, which is nil if it is not locked. What a tool does not
// say has the defaults of MCP.
func (e *effects) call(n *Node, t *lock.Tool) {
	hint := func(name string, standard bool) bool {
		if t == nil {
			return standard
		}
		if v := t.Annotations.Get(name); v.Kind() == value.Bool {
			return v.Bool()
		}
		return standard
	}
	e.calls = append(e.calls, n)
	if hint(hintOpenWorld, true) && e.open == nil {
		e.open = n
	}
	if hint(hintReadOnly, false) {
		return
	}
	if e.writes == nil {
		e.writes = n
	}
	if hint(hintDestructive, true) && e.destroys == nil {
		e.destroys = n
	}
}

// reachable reports which nodes can run, and which of them more than once in a run
// of the graph. Handlers of failures count as reached.
func reachable(g *Graph) (reached, cyclic []bool) {
	next := make([][]int32, len(g.Nodes))
	for i, n := range g.Nodes {
		for _, to := range targets(n) {
			next[i] = append(next[i], int32(to.Index))
		}
	}
	var begins []*Node
	if g.Entry != nil {
		begins = append(begins, g.Entry)
	}
	for i := range g.Handlers {
		if to := g.Handlers[i].To; to != nil {
			begins = append(begins, to)
		}
	}
	w := &walk{nodes: g.Nodes, out: next, reached: spread(next, begins...), certain: true}
	w.findParts()
	cyclic = make([]bool, len(g.Nodes))
	for i := range g.Nodes {
		cyclic[i] = w.reached[i] && w.cyclic[w.part[i]]
	}
	return w.reached, cyclic
}

// ComputeAnnotations returns the annotations of the tool: as they are written and,
// beside them, the hints that they leave out as far as the lock file tells them.
func (g *Graph) ComputeAnnotations(locked *lock.File) value.Value {
	e := effectsOf(g, locked)
	b := value.NewBuilder(5)
	for _, stated := range g.Annotations.Entries() {
		b.Set(stated.Key, stated.Value)
	}
	add := func(name string, hint bool) {
		if !g.Annotations.Has(name) {
			b.Set(name, value.FromBool(hint))
		}
	}
	add(hintReadOnly, e.writes == nil)
	add(hintDestructive, e.destroys != nil)
	if e.idempotent(locked) {
		add(hintIdempotent, true)
	}
	add(hintOpenWorld, e.open != nil)
	return b.Value()
}

// idempotent reports whether calling the tool again has no further effect.
func (e *effects) idempotent(locked *lock.File) bool {
	if e.writes == nil {
		return true
	}
	if len(e.calls) != 1 || e.repeats {
		return false
	}
	n := e.calls[0]
	t := locked.Tool(n.Server, n.Tool)
	return t != nil && t.Annotations.Get(hintIdempotent).Bool()
}

// checkAnnotations reports annotations of a tool that promise more than the lock
// file says of what it calls.
func checkAnnotations(b *reporter, g *Graph, locked *lock.File) {
	if g.Annotations.Kind() != value.Object {
		return
	}
	e := effectsOf(g, locked)
	for _, c := range []struct {
		name     string
		promise  bool
		broken   *Node
		does     string
		standard string // what a tool is that says nothing
	}{
		{hintReadOnly, true, e.writes, "may change something", "not read-only"},
		{hintDestructive, false, e.destroys, "may destroy something", "destructive"},
		{hintOpenWorld, false, e.open, "may reach the outside world", "open-world"},
	} {
		stated := g.Annotations.Get(c.name)
		if stated.Kind() != value.Bool || stated.Bool() != c.promise || c.broken == nil {
			continue
		}
		n := c.broken
		message := fmt.Sprintf("%s is %t, but node %q calls tool %q of server %q, which %s", c.name, c.promise, n.ID, n.Tool, n.Server, c.does)
		if t := locked.Tool(n.Server, n.Tool); t == nil || t.Annotations.Get(c.name).Kind() != value.Bool {
			message += fmt.Sprintf(": it has no %s, and is %s by default", c.name, c.standard)
		}
		d := diag.Diagnostic{File: g.File, Pos: g.Pos, Severity: diag.SeverityOf(diag.CodeAnnotation), Code: diag.CodeAnnotation, Message: message}
		if src := g.annotationsSrc.Get(c.name); src != nil {
			d = src.Problem(diag.CodeAnnotation, message)
		}
		d.Related = []diag.Related{{Pos: n.Pos, Message: "the node is here"}}
		b.report(d)
	}
}
