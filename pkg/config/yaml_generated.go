package config

import (
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// generatedMark marks a node that the file means without writing it.
var generatedMark = &properties{tag: "!generated"}

// Generated returns a node with a JSON value that stands in the place of n: what the
// file means there without writing it. No edit of the file can change it.
func (n *Node) Generated(v value.Value) *Node {
	out := n.generated(v)
	out.inner = &inner{}
	switch v.Kind() {
	case value.Object:
		for _, e := range v.Entries() {
			out.inner.fields = append(out.inner.fields, Field{Text{n.generated(value.FromString(e.Key))}, n.Generated(e.Value)})
		}
	case value.Array:
		for _, e := range v.Elems() {
			out.inner.items = append(out.inner.items, n.Generated(e))
		}
	}
	return out
}

// generated returns a node without its fields and items.
func (n *Node) generated(v value.Value) *Node {
	pos := n.Pos()
	out := &Node{doc: n.doc, value: v, weight: 1, height: 1, written: written{
		properties: generatedMark, line: int32(pos.Line), col: int32(pos.Col),
	}}
	switch v.Kind() {
	case value.Object:
		out.kind = Map
	case value.Array:
		out.kind = List
	case value.String:
		out.raw = v.Str()
	default:
		out.raw = v.JSON()
	}
	end := n.doc.lines.Offset(n.End())
	out.text.p.Store(&alignment{tail: end, end: end})
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
	out.text.p.Store(a)
	return out
}

// With returns a generated map with one more field, whose value may be a node of the
// file. n is not changed.
func (n *Node) With(key string, v *Node) *Node {
	entries := append(append([]value.Entry(nil), n.value.Entries()...), value.Entry{Key: key, Value: v.Value()})
	out := n.generated(value.FromEntries(entries))
	out.inner = &inner{fields: append([]Field(nil), n.Fields()...)}
	out.inner.fields = append(out.inner.fields, Field{Text{n.generated(value.FromString(key))}, v})
	return out
}

// IsGenerated reports whether the node is one that the file means without writing
// it.
func (n *Node) IsGenerated() bool { return n != nil && n.properties == generatedMark }
