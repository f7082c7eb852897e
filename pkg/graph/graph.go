// Package graph turns the tools of a configuration file into compiled graphs.
//
// Build decodes every node, resolves every edge, compiles every expression and
// schema once, and reports all that is wrong in one pass. What it returns is
// immutable and serves any number of runs at once.
package graph

import (
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/value"
	"sync"
)

// Set is every tool of one file.
type Set struct {
	// File is what the graphs were built from.
	File *config.File
	// Graphs are the tools in the order of the file, then the prompts and the
	// resources.
	Graphs []*Graph

	indexed sync.Once
	callers map[string][]*Node // see calls
}

// calls returns the nodes that call tools of an upstream server.
func (s *Set) calls(server string) []*Node {
	s.indexed.Do(func() {
		s.callers = map[string][]*Node{}
		for _, g := range s.Graphs {
			for _, n := range g.all() {
				if n.Server != "" && n.toolSrc != nil {
					s.callers[n.Server] = append(s.callers[n.Server], n)
				}
			}
		}
	})
	return s.callers[server]
}

// Graph is one tool, prompt or resource: a directed, possibly cyclic graph of nodes.
type Graph struct {
	// Name, Title and Description are those of the tool; the last two may be
	// empty. Before the name of a prompt or resource stands config.Prompts or
	// config.Resources.
	Name, Title, Description string
	// Nodes are the nodes in the order of the file; Node.Index is the place in
	// this list. In the flat layout they are what the entry reaches.
	Nodes []*Node
	// Entry and Exit are the two ends.
	Entry, Exit *Node
	// Limits bound every run.
	Limits config.Limits
	// Input is never nil in a graph without errors; Output is nil where the
	// tool has no outputSchema.
	Input, Output *Schema
	// Annotations and Icons go to clients as they are written; undefined if there
	// are none.
	Annotations, Icons value.Value
	// Private is true for a tool that only call nodes, and programs, can run.
	Private bool
	// Task says whether calls of clients go on as tasks: forbidden, optional or
	// required; empty is forbidden.
	Task string
	// RequiredScopes are what a caller over HTTP needs; it may be empty.
	RequiredScopes []string
	// Offer is nil for a tool.
	Offer *Offer
	// File and Pos are where the tool is written.
	File string
	Pos  diag.Pos
	// Owner is the node whose body the graph is, nil for that of a tool.
	Owner *Node
	// Catch are the rules for failures that no rule of their own node handles;
	// their Edge is an index in Handlers.
	Catch    []CatchRule
	Handlers []Edge

	byID map[string]*Node
	// rules stands for Catch and Handlers where they were decoded, nil without.
	rules          *Node
	annotationsSrc *config.Node // nil without annotations
	scope          *scope       // nil where there are no nodes
	walk           *walk        // while it is checked
}

// Node returns the node with this id, or nil. It costs the same for any number
// of nodes.
func (g *Graph) Node(id string) *Node { return g.byID[id] }

// Node is a step of a graph and the edges that leave it.
type Node struct {
	// Index is the node's place in its graph's Nodes.
	Index int
	// ID is unique within the graph.
	ID string
	// Kind is the node type.
	Kind *Kind
	// Step is what the node does.
	Step Step
	// Edges are the ways out, in the order of the file. A step names one by its
	// index.
	Edges []Edge
	// Steps is how many executions a walk takes from the node to the exit, both
	// included; 0 where ways differ in that, or lead back.
	Steps int
	// Server and Tool name the upstream tool that the node calls; both are empty
	// if it calls none.
	Server, Tool string
	toolSrc      *config.Node // where Tool is written
	args         *Template    // nil where the call has none
	// Graph is the graph that the node is in.
	Graph *Graph
	// Policy is what happens when the node fails or takes too long.
	Policy Policy
	// Approval is not nil if a person has to agree before the node calls its Tool.
	Approval *Approval
	// Bodies are the graphs that a Fork of the node runs, Spread how; Callee is
	// the graph that an Invoke runs.
	Bodies []*Graph
	Spread *Spread
	Callee *Graph
	// Detached is true if the Callee is a run of its own where the driver has such
	// runs.
	Detached bool
	// Pos is where the node is written.
	Pos diag.Pos

	src    *config.Node
	key    string
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

// End returns the place just behind the node.
func (n *Node) End() diag.Pos { return n.src.End() }

// Edge is a place in the file that names the next node.
type Edge struct {
	// Field is the path of that place within its node, such as "next" or
	// "conditions[1].next".
	Field string
	// Label describes in pictures when the edge is taken; it is empty if the node
	// has no other edge.
	Label string
	// Default is true for the edge taken when no condition holds.
	Default bool
	// Catch is true for an edge that is taken after a failure.
	Catch bool
	// Target is the id as written, To the node it names.
	Target string
	To     *Node

	src *config.Node
}

// Pos returns where the target's id is written.
func (e *Edge) Pos() diag.Pos { return e.src.Pos() }
