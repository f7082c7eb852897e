package config

import (
	"fmt"
	"math"

	"go.yaml.in/yaml/v4"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxExpansion is how many nodes the aliases of a file may stand for.
const maxExpansion = 1_000_000

// builder turns the library's tree into Nodes, children first.
type builder struct {
	doc         *document
	restore     func(s string, double bool) string
	anchors     map[*yaml.Node]*Node // nil while the node is being built
	slab        []Node
	own         int // what the file weighs without its aliases and merge keys
	merged      int // keys that merge keys brought
	diagnostics []diag.Diagnostic
	fatal       bool
	meter       *memory.Meter
	stopped     bool // by the meter
	keepTree    bool // the library's, while Nodes are made of it
}

func (b *builder) report(d diag.Diagnostic) { b.diagnostics = append(b.diagnostics, d) }

func (b *builder) node(y *yaml.Node) *Node {
	if len(b.slab) == 0 {
		b.slab = make([]Node, 146) // 8 KiB
		b.stopped = b.stopped || !b.meter.Hold(len(b.slab)*nodeBytes)
	}
	n := &b.slab[0]
	b.slab = b.slab[1:]
	if y.Line > b.doc.lines.Count() {
		// A value left out at the very end has its place on a line of its own.
		end := b.doc.lines.Pos(len(b.doc.source))
		y.Line, y.Column = end.Line, end.Col
	}
	b.own++
	n.doc, n.written = b.doc, writtenOf(y)
	return n
}

func (b *builder) build(y *yaml.Node) *Node {
	if y.Kind == yaml.AliasNode {
		return b.alias(y)
	}
	if b.stopped {
		return b.node(&yaml.Node{Kind: yaml.ScalarNode, Line: y.Line, Column: y.Column}) // the rest is not read
	}
	if y.Anchor != "" {
		b.anchors[y] = nil
	}
	if y.Kind == yaml.ScalarNode && b.restore != nil {
		y.Value = b.restore(y.Value, y.Style&yaml.DoubleQuotedStyle != 0)
	}
	n := b.node(y)
	switch y.Kind {
	case yaml.MappingNode:
		b.buildMap(n, y.Content)
	case yaml.SequenceNode:
		b.buildList(n, y.Content)
	default:
		b.buildScalar(n)
	}
	if y.Anchor != "" {
		b.anchors[y] = n
	}
	return n
}

// alias returns the node behind an alias, and refuses one that holds itself.
func (b *builder) alias(y *yaml.Node) *Node {
	if n := b.anchors[y.Alias]; n != nil {
		return n
	}
	n := b.node(y)
	n.as = value.Null
	d := n.Problem(diag.CodeAlias, fmt.Sprintf("alias *%s refers to itself", y.Value))
	d.Related = []diag.Related{{
		Pos: diag.Pos{Line: y.Alias.Line, Col: y.Alias.Column}, Message: "the anchor is here"}}
	b.fail(d)
	return n
}

func (b *builder) fail(d diag.Diagnostic) {
	if !b.fatal {
		b.report(d)
	}
	b.fatal = true // one such problem says it; the rest follows from it
}

// addChild counts a child towards what its parent stands for.
func (b *builder) addChild(n, child *Node, place *yaml.Node) {
	in := n.holds()
	weight, height := child.size()
	in.height = max(in.height, height+1)
	in.weight = int32(min(int64(in.weight)+int64(weight), math.MaxInt32))
	switch {
	case place.Kind == yaml.AliasNode && in.weight > maxExpansion:
		b.fail(b.problemAt(child, place, diag.CodeAliasBomb, fmt.Sprintf(
			"alias *%s expands the file to more than %d values", place.Value, maxExpansion)))
	case in.weight > maxExpansion && int(in.weight)-b.own > maxExpansion:
		b.fail(b.problemAt(child, place, diag.CodeAliasBomb, fmt.Sprintf(
			"aliases expand the file to more than %d values", maxExpansion)))
	case place.Kind == yaml.AliasNode && in.height > maxDepth:
		b.fail(b.problemAt(child, place, diag.CodeDepth, fmt.Sprintf(
			"alias *%s nests the file more than %d levels deep", place.Value, maxDepth)))
	}
}

// problemAt is a problem of a value that stands at a place: of the alias for it, if
// there is one.
func (b *builder) problemAt(n *Node, place *yaml.Node, code, message string) diag.Diagnostic {
	return b.at(n, place).Problem(code, message)
}

// at returns n or, if place is an alias for it, a node that stands for the alias.
func (b *builder) at(n *Node, place *yaml.Node) *Node {
	if place.Kind != yaml.AliasNode {
		return n
	}
	return &Node{doc: b.doc, written: writtenOf(place)}
}

func (b *builder) buildList(n *Node, content []*yaml.Node) {
	n.kind = List
	b.checkTag(n, "!!seq")
	if len(content) == 0 {
		return
	}
	in := &inner{items: make([]*Node, 0, len(content)), weight: 1, height: 1}
	n.inner.Store(in)
	for i, y := range content {
		child := b.build(y)
		b.addChild(n, child, y)
		in.items = append(in.items, child)
		if i+1 == len(content) {
			in.last = b.at(child, y)
		}
		b.release(content, i)
	}
}

// release lets go of the library's value, which takes more room than its Node.
func (b *builder) release(content []*yaml.Node, i int) {
	if !b.keepTree {
		content[i] = nil
	}
}

func (b *builder) buildScalar(n *Node) {
	weight, _ := n.size()
	b.own += int(weight) - 1
	b.lookalike(n)
	v, problem := resolve(&n.written)
	n.as = v.Kind()
	if problem.code != "" {
		d := n.Problem(problem.code, problem.message)
		d.Hint = problem.hint
		b.report(d)
	}
}

// checkTag reports a tag that is neither the usual one of its kind nor absent.
func (b *builder) checkTag(n *Node, usual string) {
	if n.style()&yaml.TaggedStyle != 0 && n.tag() != usual {
		b.report(unknownTagOf(n))
	}
}

func unknownTagOf(n *Node) diag.Diagnostic {
	d := n.Problem(diag.CodeTag, unknownTag(n.tag()))
	d.End = diag.Pos{Line: d.Pos.Line, Col: d.Pos.Col + len(n.tag())}
	d.Hint = knownTags
	return d
}
