package graph

import (
	"fmt"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
)

// CheckLock compares the graphs with a lock file: calls of tools that are missing
// or not locked, arguments that do not fit, properties that expressions read and
// that no output has, results that cannot fit the outputSchema of their tool, and
// annotations that promise too much. The Set must be without errors. The
// diagnostics are sorted by place.
func (s *Set) CheckLock(locked *lock.File) []diag.Diagnostic {
	b := &builder{reporter: &reporter{}, file: s.File}
	for _, up := range s.File.Upstreams {
		checkLockedCalls(b.reporter, s, up, locked.Server(up.Name))
	}
	k, unlocked := newKnowledge(locked), newKnowledge(nil)
	for _, g := range s.Graphs {
		checkLockedProperties(b.reporter, g, k)
		checkTypes(b.reporter, g, k, unlocked)
		checkCertainResult(b.reporter, g, k, unlocked)
		checkAnnotations(b.reporter, g, locked)
	}
	diag.Sort(b.ds)
	return b.ds
}

// checkLockedCalls reports the calls of a server that do not fit what is locked of it.
func checkLockedCalls(b *reporter, s *Set, up *config.Upstream, locked *lock.Server) {
	l := &live{up: up, tools: map[string]*liveTool{}}
	if locked != nil {
		l.names = diag.NewNames(slices.Clone(locked.ToolNames))
		for _, t := range locked.Tools {
			l.tools[t.Name] = &liveTool{schema: t.InputSchema, uncallable: locked.NoTasks && lock.IsTaskOnly(t.Execution)}
		}
	}
	for _, n := range s.calls(up.Name) {
		switch {
		case locked == nil:
			l.report(notLocked(n, fmt.Sprintf("server %q is not in the lock file: calls of its tools fail", up.Name)))
		case l.tools[n.Tool] == nil && l.names.Has(n.Tool):
			l.report(notLocked(n, fmt.Sprintf("tool %q of server %q is not in the lock file: calls of it fail", n.Tool, up.Name)))
		default:
			l.check(n)
		}
	}
	b.ds = append(b.ds, l.diagnostics...)
}

func notLocked(n *Node, message string) diag.Diagnostic {
	d := n.toolSrc.Problem(diag.CodeNotLocked, message)
	d.Hint = "lock it with `mcpgraph lock`"
	return d
}

// checkLockedProperties reports what expressions of a graph, and of the bodies in it,
// read that is never there, where only the lock file, or the ways through the
// graph, tell.
func checkLockedProperties(b *reporter, top *Graph, k *knowledge) {
	input := newInputContents(top)
	for _, n := range top.all() {
		for _, r := range n.refs {
			target := n.Graph.visible(r.ref.Node)
			if len(r.ref.Steps) == 0 || target == nil || n.isFound(r) || target.mayFail(r.ref.Steps[0]) {
				continue
			}
			known := k.output(target)
			if known == nil || absentIn(input.of(target), r.ref.Steps) {
				continue // reported without the lock file already
			}
			checkProperty(b, top, target, r, known)
		}
		for _, r := range n.reads {
			p := propertyPath{
				program: r.program, path: r.of.Path, steps: r.of.Steps, whole: "$" + r.of.Variable,
				related: diag.Related{Pos: n.Pos, Message: "the node is here"},
			}
			known := contents(nil)
			if r.of.Variable == "" {
				p.whole = "the output of the node before"
				known = k.previous(n)
			} else {
				known = k.variable(n.Graph, r.of.Variable)
			}
			if known != nil {
				followPath(b, p, known)
			}
		}
	}
}

// absentIn reports whether a path leads to a property that is never there.
func absentIn(known contents, steps []expr.Step) bool {
	for _, step := range steps {
		if known == nil {
			return false
		}
		var wrong *absent
		if known, wrong = known.step(step.Name); wrong != nil {
			return true
		}
	}
	return false
}

// isLiteral reports whether the output of a node is compared with the schema as a
// value.
func isLiteral(n *Node) bool {
	for i := range n.Edges {
		if v, _ := n.literal(&n.Edges[i]); !v.IsUndefined() {
			return true
		}
	}
	return false
}
