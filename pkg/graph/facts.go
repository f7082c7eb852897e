package graph

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// facts are what was decoded of a node for the checks, and for editors.
type facts struct {
	name   string   // for messages
	owner  string   // the tool that an entry or exit of the flat layout is for
	broken bool     // an edge could not be decoded
	ends   bool     // the body that the node is in may end after it
	bodies []*scope // what Bodies are made of
	rules  []failureName
	fails  string // the name of the failure that the node ends its walk with
	refs   []reference
	found  []finding
	reads  []read
	// programs are the expressions over the run, yields the one whose value is the
	// output; it is nil if there is none.
	programs []*Program
	yields   *Program
	texts    []sentText  // in values that are sent as they are written
	given    []reference // to arguments, of expressions that read those alone
	// toolUses are the names of tools in calls of $call.
	toolUses []*config.Node
	shape    *expr.Shape // of the output; nil where nothing is sure
	whole    *rooted     // the path that the output is; nil if it is none
	reply    replyPart   // what of a reply is the output
	items    *Template   // of a map
	// literal returns the output along an edge, and where it is written, if that
	// is known before any run; else it is nil.
	literal func(*Edge) (value.Value, *config.Node)
}

// isFound reports whether a finding already covers the name that a reference
// reads.
func (n *Node) isFound(r reference) bool {
	return slices.ContainsFunc(n.found, func(f finding) bool {
		named := slices.Contains([]expr.FindingKind{expr.UnknownFunction, expr.OddCharacter, expr.ForeignForm}, f.found.Kind)
		return named && f.program == r.program && slices.Equal(f.found.Path, r.ref.Path) &&
			r.ref.Offset <= f.found.Offset && f.found.Offset < r.ref.End
	})
}

// mayFail reports whether a step may read the failure of a node, in the place of its
// output.
func (n *Node) mayFail(first expr.Step) bool {
	return first.Name == "error" && n.handled()
}

// handled reports whether the failure of a node may be handled, so that reading the
// node returns the failure.
func (n *Node) handled() bool { return len(n.Policy.Catch) > 0 || len(n.Graph.Catch) > 0 }

// problem returns a diagnostic at the node's id.
func (n *Node) problem(code, message string) diag.Diagnostic {
	return n.src.Get("id").Problem(code, message)
}
