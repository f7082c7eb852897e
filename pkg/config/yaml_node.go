package config

import (
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Kind is the shape of a Node.
type Kind uint8

const (
	// Scalar is a string, number, boolean or null.
	Scalar Kind = iota
	// List is a YAML sequence.
	List
	// Map is a YAML mapping.
	Map
)

// Node is a YAML value that knows where it was written. Aliases and merge keys
// are resolved: what stands behind an alias has the place of the anchor. A Node
// is immutable and safe for concurrent use. A nil *Node stands for a value that
// is not there: its kind is Scalar, its value undefined.
type Node struct {
	doc *document
	written
	kind           Kind
	weight, height int32
	inner          *inner // nil for a Scalar and what is empty
	value          value.Value
	text           textMap
}

// inner is what a Map or List holds.
type inner struct {
	items  []*Node
	fields []Field
	index  map[string]int // of many fields; nil for few

	last *Node // the value that is written last in it; nil if there is none
}

// Field is one key of a Map and its value.
type Field struct {
	Key   Text
	Value *Node
}

// Kind returns the shape of the node.
func (n *Node) Kind() Kind {
	if n == nil {
		return Scalar
	}
	return n.kind
}

// File returns the path of the file that the node was read from.
func (n *Node) File() string {
	if n == nil {
		return ""
	}
	return n.doc.path
}

// Pos returns the place of the first character of the node, the zero Pos for
// nil.
func (n *Node) Pos() diag.Pos {
	if n == nil {
		return diag.Pos{}
	}
	return n.pos()
}

// End returns the place just behind the last character of the node.
func (n *Node) End() diag.Pos {
	if n == nil {
		return diag.Pos{}
	}
	return n.doc.lines.Pos(n.end())
}

// end returns the offset just behind the node.
func (n *Node) end() int {
	if n.alias {
		return n.doc.lines.Offset(n.pos()) + 1 + len(n.raw)
	}
	if n.kind == Scalar || n.IsGenerated() {
		return n.alignment().end
	}
	at := n.doc.skipProperties(&n.written)
	flow := n.style&yaml.FlowStyle != 0
	if flow {
		at++
	}
	if n.inner != nil && n.inner.last != nil {
		at = max(at, n.inner.last.end())
	}
	if !flow {
		return at
	}
	source := n.doc.source
	for at < len(source) {
		at = skipBlank(source, at)
		if at < len(source) && (source[at] == ']' || source[at] == '}') {
			return at + 1
		}
		at++
	}
	return len(source)
}

// Value returns the node as a JSON value, resolved by the core schema of YAML
// 1.2.2 (10.3.2): dates and words such as yes are strings, 010 is ten.
func (n *Node) Value() value.Value {
	if n == nil {
		return value.Undef
	}
	return n.value
}

// Text returns the string that the node is; for a number, boolean or null the
// characters it was written with; the zero Text for a Map or List.
func (n *Node) Text() Text {
	if n == nil || n.kind != Scalar {
		return Text{}
	}
	return Text{n}
}

// IsString reports whether the node is a string.
func (n *Node) IsString() bool { return n.Value().Kind() == value.String }

// IsNull reports whether the node is null, which a key without a value is too.
func (n *Node) IsNull() bool { return n.Value().IsNull() }

// Items returns the elements of a List, nil for anything else. The slice must
// not be changed.
func (n *Node) Items() []*Node {
	if n == nil || n.inner == nil {
		return nil
	}
	return n.inner.items
}

// Fields returns the keys and values of a Map in the order of the file, nil for
// anything else. The slice must not be changed.
func (n *Node) Fields() []Field {
	if n == nil || n.inner == nil {
		return nil
	}
	return n.inner.fields
}

// Get returns the value of a key of a Map, or nil if there is none.
func (n *Node) Get(key string) *Node {
	f, _ := n.Field(key)
	return f.Value
}

// Field returns a key of a Map together with its value and reports whether it
// is there.
func (n *Node) Field(key string) (Field, bool) {
	if n != nil && n.inner != nil && n.inner.index != nil {
		if i, ok := n.inner.index[key]; ok {
			return n.inner.fields[i], true
		}
		return Field{}, false
	}
	for _, f := range n.Fields() {
		if f.Key.String() == key {
			return f, true
		}
	}
	return Field{}, false
}

// At walks from the node along keys of Maps (string) and indexes of Lists (int)
// and returns the node it arrives at, or nil if the way ends before.
func (n *Node) At(path ...any) *Node {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			n = n.Get(step)
		case int:
			items := n.Items()
			if step < 0 || step >= len(items) {
				return nil
			}
			n = items[step]
		default:
			return nil
		}
	}
	return n
}

// Describe returns what the node is, for messages: "a list", "the number 3",
// "nothing".
func (n *Node) Describe() string {
	switch {
	case n == nil:
		return "nothing"
	case n.kind == Map:
		return "a map"
	case n.kind == List:
		return "a list"
	}
	switch n.value.Kind() {
	case value.Null:
		return "null"
	case value.Bool:
		return "the boolean " + n.raw
	case value.Number:
		return "the number " + n.raw
	default:
		return "the string " + quote(n.raw)
	}
}

// quote keeps long strings out of messages.
func quote(s string) string {
	const most = 40
	if r := []rune(s[:min(len(s), 4*most)]); len(r) > most {
		return strconv.Quote(string(r[:most])) + "…"
	}
	return strconv.Quote(s)
}
