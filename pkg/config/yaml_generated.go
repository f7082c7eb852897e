package config

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// generatedMark marks a node that the file means without writing it.
var generatedMark = &properties{tag: "!generated"}

// Generated returns a node with a JSON value that stands in the place of n: what the
// file means there without writing it. No edit of the file can change it.
func (n *Node) Generated(v value.Value) *Node {
	out := n.generated(v)
	in := out.inner.Load()
	switch v.Kind() {
	case value.Object:
		for _, e := range v.Entries() {
			in.fields = append(in.fields, Field{Text{n.generated(value.FromString(e.Key))}, n.Generated(e.Value)})
		}
	case value.Array:
		for _, e := range v.Elems() {
			in.items = append(in.items, n.Generated(e))
		}
	}
	return out
}

// generated returns a node without its fields and items.
func (n *Node) generated(v value.Value) *Node {
	pos := n.Pos()
	out := &Node{doc: n.doc, written: written{
		properties: generatedMark, line: int32(pos.Line), col: int32(pos.Col), as: v.Kind(),
	}}
	in := &inner{}
	out.inner.Store(in)
	switch v.Kind() {
	case value.Object:
		out.kind = Map
		in.value.Store(&v)
	case value.Array:
		out.kind = List
		in.value.Store(&v)
	case value.String:
		out.raw = v.Str()
	default:
		out.raw = v.JSON()
	}
	end := n.doc.lines.Offset(n.End())
	in.text = &alignment{tail: end, end: end}
	return out
}

// GeneratedAt is Generated for a string that a literal in the string n means: the
// bytes from from up to to, quotation marks included.
func (n *Node) GeneratedAt(text string, from, to int) *Node {
	out := n.generated(value.FromString(text))
	pos := n.Text().At(from)
	out.line, out.col = int32(pos.Line), int32(pos.Col)
	start, end := n.doc.lines.Offset(pos), n.doc.lines.Offset(n.Text().After(to))
	a := &alignment{tail: end, end: end}
	if end-start == len(text)+2 && string(n.doc.source[start+1:end-1]) == text {
		a.tail, a.pieces = end-1, []piece{{value: 0, source: start + 1}}
	}
	out.inner.Load().text = a
	return out
}

// With returns a generated map with one more field, whose value may be a node of the
// file. n is not changed.
func (n *Node) With(key string, v *Node) *Node {
	entries := append(slices.Clone(n.Value().Entries()), value.Entry{Key: key, Value: v.Value()})
	out := n.generated(value.FromEntries(entries))
	out.inner.Load().fields = append(slices.Clone(n.Fields()), Field{Text{n.generated(value.FromString(key))}, v})
	return out
}

// IsGenerated reports whether the node is one that the file means without writing
// it.
func (n *Node) IsGenerated() bool { return n != nil && n.properties == generatedMark }
