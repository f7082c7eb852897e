// Package graph turns the tools of a configuration file into compiled graphs.
//
// Build decodes every node, resolves every edge, compiles every expression and
// schema once, and reports all that is wrong in one pass. What it returns is
// immutable and serves any number of runs at once.
package graph

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
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
	*facts // nothing that a run needs
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

// all returns the nodes of the graph and of the bodies in it, and what stands
// for the rules of the graphs themselves.
func (g *Graph) all() []*Node {
	nodes := slices.Clip(g.Nodes)
	if g.rules != nil {
		nodes = append(nodes, g.rules)
	}
	for _, n := range g.Nodes {
		for _, body := range n.Bodies {
			nodes = append(nodes, body.all()...)
		}
	}
	return nodes
}

// handle sets the graph's rules for failures that no rule of the node itself
// handles.
func (g *Graph) handle(rules *Node) {
	if g.rules = rules; rules != nil {
		g.Catch, g.Handlers = rules.Policy.Catch, rules.Edges
		rules.Graph = g
	}
}

// top returns the graph of the tool that a body is part of.
func (g *Graph) top() *Graph {
	for g.Owner != nil {
		g = g.Owner.Graph
	}
	return g
}

// what names the graph in messages.
func (g *Graph) what() string {
	if g.Owner == nil {
		return Quoted(g.Name)
	}
	return g.scope.what
}

// entryName names the node at which a walk begins, for messages.
func (g *Graph) entryName() string {
	if g.Entry.Kind != nil && g.Entry.Kind.Role == Entry {
		return fmt.Sprintf("entry node %q", g.Entry.ID)
	}
	return fmt.Sprintf("node %q", g.Entry.ID)
}

// sees reports whether expressions in g can read the nodes of another graph:
// whether that is g or around it.
func (g *Graph) sees(other *Graph) bool {
	for ; g != nil; g = g.around() {
		if g == other {
			return true
		}
	}
	return false
}

// around returns the graph that a body is part of, nil for that of a tool.
func (g *Graph) around() *Graph {
	if g.Owner == nil {
		return nil
	}
	return g.Owner.Graph
}

// visible returns the node that an expression in g reads under an id, or nil if
// there is none.
func (g *Graph) visible(id string) *Node {
	for ; g != nil; g = g.around() {
		if n := g.byID[id]; n != nil {
			return n
		}
	}
	return nil
}

// nearestNode returns the id of a node that expressions in g can read and that is
// near to a name: of that in the innermost scope that has one.
func (g *Graph) nearestNode(name string) (string, bool) {
	for ; g != nil; g = g.around() {
		if near, ok := g.scope.names().Nearest(name); ok {
			return near, true
		}
	}
	return "", false
}

// ends returns the nodes at which a walk can end.
func (g *Graph) ends() []*Node {
	ends := []*Node{g.Exit}
	for _, n := range g.Nodes {
		if n.Kind != nil && n.Kind.Role == Stop || n.ends {
			ends = append(ends, n)
		}
	}
	return ends
}

// Variables returns the names, without the dollar sign, of the variables that
// expressions of the graph's nodes can read.
func (g *Graph) Variables() []string {
	if g.scope == nil {
		return nil
	}
	return g.scope.vars
}

// Asks reports whether the graph, or what it runs, has a question to the client.
func (g *Graph) Asks() bool { return asks(g, map[*Graph]bool{}) }

// ResultAdvice returns what to change if a result does not fit the outputSchema: the
// node that made it, and the schema, with their lines. last is the id of the node that
// ran before the exit; if it is empty, the node is named only if no other can have.
func (g *Graph) ResultAdvice(last string) string {
	if g.Output == nil || g.Exit == nil {
		return ""
	}
	if last == "" {
		before, _ := newKnowledge(nil).before(g.Exit)
		if len(before) == 1 && before[0] != nil {
			last = before[0].ID
		}
	}
	place := func(pos diag.Pos) string { return fmt.Sprintf("%s:%d", filepath.Base(g.File), pos.Line) }
	schema := fmt.Sprintf("the outputSchema (%s)", place(g.Output.src.Pos()))
	n := g.byID[last]
	if n == nil {
		return "change what the exit gets, or " + schema
	}
	at := n.Pos
	if n.yields != nil {
		at = n.yields.src.Pos()
	}
	return fmt.Sprintf("change the output of node %q (%s) or, if that is right, %s", last, place(at), schema)
}

// Source returns the node as it is written.
func (n *Node) Source() *config.Node { return n.src }

// AskMethod returns the request of the client that an [Ask] of the node is.
func (n *Node) AskMethod() string {
	if n.Approval == nil && n.Kind != nil && n.Kind.Asks != "" {
		return n.Kind.Asks
	}
	return AskPerson
}

// Way returns the edge that an execution of n with this outcome took: one of
// its own or, beyond those, one of the Handlers of its graph. It returns nil for
// NoEdge and for any other number.
func (n *Node) Way(edge int) *Edge {
	if edge < 0 {
		return nil
	}
	if edge < len(n.Edges) {
		return &n.Edges[edge]
	}
	if i := edge - len(n.Edges); n.Graph != nil && i < len(n.Graph.Handlers) {
		return &n.Graph.Handlers[i]
	}
	return nil
}

// Key names the node among all nodes of its file: the name of the tool, "#" and the
// static path of the node in it, such as "report#info", "report#sizes[].info" (in the
// body of a map) and "report#both.news.fetch" (in the branch "news" of "both").
func (n *Node) Key() string { return n.key }

// setKeys sets the keys of the nodes of a graph and of the bodies in it. path is what
// stands before their ids.
func setKeys(g *Graph, path string) {
	for _, n := range g.Nodes {
		n.key = path + n.ID
		for i, body := range n.Bodies {
			switch {
			case n.Spread == nil:
			case n.Spread.Each:
				setKeys(body, n.key+"[].")
			case i < len(n.Spread.Names):
				setKeys(body, n.key+"."+n.Spread.Names[i]+".")
			}
		}
	}
}
