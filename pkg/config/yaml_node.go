package config

import (
	"strconv"
	"sync/atomic"

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
	inner atomic.Pointer[inner]
}

// inner is what a Map or List holds, nil for those that are empty, and what a Scalar has
// once somebody asked for it.
type inner struct {
	items  []*Node
	fields []Field
	index  map[string]int // of many fields; nil for few

	last *Node // the value that is written last in it; nil if there is none

	weight, height int32                       // what a Map or List stands for
	value          atomic.Pointer[value.Value] // of a Map or List, once somebody asked for it
	text           *alignment                  // of a Scalar, and of what is generated
}

var nothing inner

// holds returns what a Map or List holds.
func (n *Node) holds() *inner {
	if n == nil {
		return &nothing
	}
	if in := n.inner.Load(); in != nil {
		return in
	}
	return &nothing
}

// size returns how many values a node stands for, and how deeply they are nested. A long
// string counts for more, since every alias for it is a copy once it is written out.
func (n *Node) size() (weight, height int32) {
	if in := n.holds(); in.weight > 0 {
		return in.weight, in.height
	}
	if n.kind != Scalar {
		return 1, 1
	}
	return 1 + int32(min(len(n.raw)/64, maxExpansion)), 1
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
	flow := n.style()&yaml.FlowStyle != 0
	if flow {
		at++
	}
	if last := n.holds().last; last != nil {
		at = max(at, last.end())
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

// alignment returns where the bytes of a scalar are written.
func (n *Node) alignment() *alignment {
	if a := n.holds().text; a != nil {
		return a
	}
	a := n.doc.align(&n.written)
	n.inner.Store(&inner{text: a})
	return a
}

// Value returns the node as a JSON value, resolved by the core schema of YAML
// 1.2.2 (10.3.2): dates and words such as yes are strings, 010 is ten.
func (n *Node) Value() value.Value {
	switch {
	case n == nil:
		return value.Undef
	case n.kind != Scalar:
		return n.composed()
	}
	switch n.as {
	case value.String:
		return value.FromString(n.raw)
	case value.Null:
		return value.NullValue
	case value.Undefined:
		return value.Undef
	}
	v, _ := resolve(&n.written)
	return v
}

// composed returns the value of a Map or List. It is made when somebody asks for it: most
// of a file is read node by node.
func (n *Node) composed() value.Value {
	in := n.holds()
	if v := in.value.Load(); v != nil {
		return *v
	}
	var v value.Value
	if n.kind == List {
		elems := make([]value.Value, len(in.items))
		for i, item := range in.items {
			elems[i] = item.Value()
		}
		v = value.FromArray(elems)
	} else {
		entries := make([]value.Entry, len(in.fields))
		for i, f := range in.fields {
			entries[i] = value.Entry{Key: f.Key.String(), Value: f.Value.Value()}
		}
		v = value.FromEntries(entries)
	}
	if in != &nothing {
		in.value.Store(&v)
	}
	return v
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
func (n *Node) IsString() bool { return n != nil && n.kind == Scalar && n.as == value.String }

// IsNull reports whether the node is null, which a key without a value is too.
func (n *Node) IsNull() bool { return n != nil && n.kind == Scalar && n.as == value.Null }

// Items returns the elements of a List, nil for anything else. The slice must
// not be changed.
func (n *Node) Items() []*Node {
	return n.holds().items
}

// Fields returns the keys and values of a Map in the order of the file, nil for
// anything else. The slice must not be changed.
func (n *Node) Fields() []Field {
	return n.holds().fields
}

// Get returns the value of a key of a Map, or nil if there is none.
func (n *Node) Get(key string) *Node {
	f, _ := n.Field(key)
	return f.Value
}

// Field returns a key of a Map together with its value and reports whether it
// is there.
func (n *Node) Field(key string) (Field, bool) {
	in := n.holds()
	if in.index != nil {
		if i, ok := in.index[key]; ok {
			return in.fields[i], true
		}
		return Field{}, false
	}
	for _, f := range in.fields {
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
	switch n.as {
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
