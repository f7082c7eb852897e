package graph

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// replyPart is what of a reply is the output of a node.
type replyPart uint8

const (
	unknownPart replyPart = iota
	structuredPart
	wholePart
	textPart
)

// YieldsStructured declares that the node's output is the structured content of the
// reply, if the called tool has an outputSchema.
func (f *Fields) YieldsStructured() { f.node.reply = structuredPart }

// YieldsReply declares that the node's output is the whole reply.
func (f *Fields) YieldsReply() { f.node.reply = wholePart }

// YieldsText declares that the node's output is a string.
func (f *Fields) YieldsText() { f.node.reply = textPart }

// knowledge is what is known of the values in the graphs of a file with its lock
// file: of outputs, of what comes before a node, and of variables.
type knowledge struct {
	locked  *lock.File
	outputs map[*Node]contents
	types   map[*Node]jsonata.Kinds
	// Nodes of which something is being found, which may depend on itself.
	busy, busyBefore, busyTypes map[*Node]bool
	depth                       int // of paths that lead to paths
	left                        int // paths that may still be followed
	into                        map[*Graph]map[*Node][]*Node
	schemas                     map[any]*schemaContents // of tools, by what has them
}

// schema returns what a schema declares, which of has: a tool, or a Schema.
func (k *knowledge) schema(of any, schema value.Value) *schemaContents {
	known := k.schemas[of]
	if known == nil {
		known = newSchemaContents(schema)
		k.schemas[of] = known
	}
	return known
}

// maxPaths bounds how many paths are followed for a file: alternatives that lead to
// alternatives could be any number.
const maxPaths = 100_000

func newKnowledge(locked *lock.File) *knowledge {
	return &knowledge{left: maxPaths, locked: locked, outputs: map[*Node]contents{}, busy: map[*Node]bool{}, busyBefore: map[*Node]bool{}, busyTypes: map[*Node]bool{}, types: map[*Node]jsonata.Kinds{}, into: map[*Graph]map[*Node][]*Node{}, schemas: map[any]*schemaContents{}}
}

// output returns what is known of the output of a node, or nil.
func (k *knowledge) output(n *Node) contents {
	known, ok := k.outputs[n]
	if ok || k.busy[n] {
		return known
	}
	k.busy[n] = true
	known = k.find(n)
	delete(k.busy, n)
	k.outputs[n] = known
	return known
}

func (k *knowledge) find(n *Node) contents {
	switch {
	case n.Kind == nil:
		return nil
	case n.Kind.Role == Entry:
		return k.given(n.Graph)
	case n.reply == textPart:
		return scalarContents("a string")
	case n.reply != unknownPart && n.Server != "":
		tool := k.locked.Tool(n.Server, n.Tool)
		if tool == nil || tool.OutputSchema.Kind() != value.Object {
			return nil
		}
		structured := k.schema(tool, tool.OutputSchema)
		if n.reply == wholePart {
			return replyContents{structured}
		}
		return structured
	case n.Callee != nil:
		if n.Callee.Output != nil {
			return k.schema(n.Callee.Output, n.Callee.Output.src.Value())
		}
		return k.result(n.Callee)
	case n.Spread != nil && n.Spread.Each:
		if n.Spread.Tolerate > 0 || n.Spread.TolerateShare > 0 || len(n.Bodies) != 1 {
			return nil // some results may be errors
		}
		return listOf(k.result(n.Bodies[0]))
	case n.whole != nil:
		if known := k.path(n, *n.whole); known != nil && n.yields != nil {
			return pathContents{known, n.yields.prog.Kinds(k.pathTypes(n))}
		}
		return nil
	case n.shape != nil:
		kinds := jsonata.Kinds{Of: jsonata.TypesOf("string")}
		if n.yields != nil {
			kinds = n.yields.prog.Kinds(nil)
		}
		return newKnownShape(k, n, n.shape, kinds)
	}
	return nil
}

// given returns what is known of what a graph is given: the arguments of a tool, the
// item of a map, or what comes before the node that has the body.
func (k *knowledge) given(g *Graph) contents {
	switch owner := g.Owner; {
	case owner == nil && g.Input != nil:
		return k.schema(g.Input, g.Input.src.Value())
	case owner == nil:
		return nil
	case owner.Spread != nil && owner.Spread.Each:
		return k.items(owner)
	case owner.Kind != nil && owner.Callee == nil:
		return k.previous(owner)
	}
	return nil
}

// items returns what is known of the items of a map. Lists need not be told from
// their elements: a path goes through them.
func (k *knowledge) items(n *Node) contents {
	if n.items == nil || n.items.program == nil {
		return nil
	}
	if root, steps, ok := n.items.program.prog.Whole(); ok {
		if list := k.path(n, rooted{root, steps}); list != nil {
			return itemContents{list}
		}
	}
	return nil
}

// rooted is a path of names that begins at a root as expr.Program.Whole has it.
type rooted struct {
	root  string
	steps []string
}

// path follows a path that an expression of a node reads.
func (k *knowledge) path(n *Node, p rooted) contents {
	if k.depth >= maxContentsDepth || k.left == 0 {
		return nil
	}
	k.left--
	k.depth++
	defer func() { k.depth-- }()
	known, steps := k.start(n, p)
	for _, step := range steps {
		if known == nil {
			return nil
		}
		known, _ = known.step(step)
	}
	return known
}

// start returns what is known of the value that a path begins at, and its steps in
// that value.
func (k *knowledge) start(n *Node, p rooted) (contents, []string) {
	switch p.root {
	case "":
		if len(p.steps) == 0 {
			return nil, nil
		}
		target := n.Graph.visible(p.steps[0])
		if target == nil || len(p.steps) > 1 && p.steps[1] == "error" {
			return nil, nil
		}
		return k.output(target), p.steps[1:]
	case expr.PreviousRoot:
		return k.previous(n), p.steps
	}
	return k.variable(n.Graph, p.root), p.steps
}

// variable returns what is known of a variable that expressions in a graph can
// read, or nil.
func (k *knowledge) variable(g *Graph, name string) contents {
	for ; g != nil && g.Owner != nil; g = g.around() {
		spread := g.Owner.Spread
		switch {
		case spread == nil || !spread.Each:
		case spread.As == name:
			return k.items(g.Owner)
		case spread.At == name:
			return scalarContents("a number")
		}
	}
	return nil
}

// previous returns what is known of the output of the node before another one. It
// is nil if any of the ways to the node brings something unknown.
func (k *knowledge) previous(n *Node) contents {
	before, certain := k.before(n)
	if !certain || k.busyBefore[n] {
		return nil
	}
	k.busyBefore[n] = true
	defer delete(k.busyBefore, n)
	var all []contents
	if n == n.Graph.Entry && n.Kind.Role != Entry {
		before = append(slices.Clip(before), nil) // a body that begins here
	}
	for _, m := range before {
		known := contents(nil)
		if m == nil {
			known = k.given(n.Graph)
		} else {
			known = k.output(m)
		}
		if known == nil {
			return nil
		}
		all = append(all, known)
	}
	return anyOf(all)
}

// before returns the nodes that lead to a node, and reports false if a failure may
// lead there, too.
func (k *knowledge) before(n *Node) ([]*Node, bool) {
	g := n.Graph
	for i := range g.Handlers {
		if g.Handlers[i].To == n {
			return nil, false
		}
	}
	into := k.into[g]
	if into == nil {
		into = map[*Node][]*Node{}
		for _, m := range g.Nodes {
			for i := range m.Edges {
				to := m.Edges[i].To
				switch {
				case to == nil:
				case m.Edges[i].Catch:
					into[to] = append(into[to], nil)
				case !slices.Contains(into[to], m):
					into[to] = append(into[to], m)
				}
			}
		}
		k.into[g] = into
	}
	return into[n], !slices.Contains(into[n], nil)
}

// result returns what is known of the result of a graph.
func (k *knowledge) result(g *Graph) contents {
	if g.Exit != nil {
		return k.previous(g.Exit)
	}
	var all []contents
	for _, n := range g.Nodes {
		if !n.ends {
			continue
		}
		known := k.output(n)
		if known == nil {
			return nil
		}
		all = append(all, known)
	}
	return anyOf(all)
}
