package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
)

// Names by which other programs that run graphs read what ours reads otherwise.
var (
	nodesNames  = []string{"steps", "nodes", "tasks", "jobs", "outputs", "results", "states"}
	outputNames = []string{"output", "outputs", "json"}
	inputNames  = []string{"inputs", "input", "args", "arguments", "params", "parameters", "trigger"}
)

// foreignPath returns what to write for a path that begins with a name that is no
// node, or "".
func foreignPath(g *Graph, name string, steps []expr.Step) string {
	switch {
	case slices.Contains(nodesNames, name) && len(steps) > 0 && g.visible(steps[0].Name) != nil:
		below := steps[1:]
		if len(below) > 1 && slices.Contains(outputNames, below[0].Name) {
			below = below[1:]
		}
		return fmt.Sprintf("the output of a node is read as %s", pathText(steps[0].Name, below))
	case slices.Contains(inputNames, name) && g.top().Entry != nil:
		return fmt.Sprintf("the arguments are the output of the entry node: %s", pathText(g.top().Entry.ID, steps))
	}
	return ""
}

// foreignVariable returns what to write for a variable of another program, or "".
func foreignVariable(name string) string {
	switch {
	case name == "json":
		return "the output of the node before is $previousNode()"
	case name == "node" || slices.Contains(nodesNames, name):
		return "the output of a node is read as $.NODE.FIELD"
	case slices.Contains(inputNames, name):
		return "the arguments are the output of the entry node: $.ENTRY.FIELD"
	}
	return ""
}

// pathText writes how an expression reads a path in the output of a node.
func pathText(id string, steps []expr.Step) string {
	var b strings.Builder
	b.WriteString(readNode(id))
	for _, s := range steps {
		if IsName(s.Name) {
			b.WriteString("." + s.Name)
		} else {
			b.WriteString(".`" + s.Name + "`")
		}
	}
	return b.String()
}

// checkOutputField reports a path such as $.read.output.text, as other programs write it, if
// the fields of the node's output are not known. A node may have a field "output":
// who means that writes it in back-quotes.
func checkOutputField(b *reporter, n *Node, r reference, k *knowledge) {
	steps := r.ref.Steps
	target := n.Graph.visible(r.ref.Node)
	if target == nil || r.ref.Func != "" || r.ref.Path != nil || len(steps) < 2 || !slices.Contains(outputNames, steps[0].Name) || k.output(target) != nil {
		return
	}
	if text := r.program.src.Text().String(); steps[0].Offset < len(text) && text[steps[0].Offset] == '`' {
		return
	}
	d := r.program.src.Problem(diag.CodeAssumedField, fmt.Sprintf("%q is read as a field of the output of node %q", steps[0].Name, target.ID))
	d.Pos, d.End = r.program.place(nil, steps[0].Offset, steps[0].End)
	d.Hint = fmt.Sprintf("the output itself is %s: write %s", readNode(target.ID), pathText(target.ID, steps[1:]))
	b.report(d)
}
