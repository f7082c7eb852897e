package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// Fields is the YAML map of one node, or of a map inside it, as a decoder sees
// it: each ask takes one field, checks it, and reports what is wrong with it.
// Keys that no call read are reported when the decoder is done. Without a file
// behind them Fields only write down what is asked. For one goroutine.
type Fields struct {
	b     *builder     // nil where a kind is only described
	src   *config.Node // nil where a kind is only described
	node  *Node
	scope *scope // of the node
	site  site
	vars  []string // that expressions can read, without the dollar sign
	owner string   // for messages: `node "list"`
	path  string   // before the names of fields: "conditions[0]."
	keys  []string // that were asked for
	last  Field    // the latest ask
	inner []*Fields
	asked []*Field // where a kind is only described
	of    *Field   // there: the ask that gave a map inside the node
	over  *over    // what expressions read in the place of a run; nil: the run
}

// Field is the documentation of one field of a node type.
type Field struct {
	Name string
	// Aliases are older names of the field.
	Aliases []string
	// Doc describes in one sentence what the field is for.
	Doc  string
	Type FieldType
	// Optional is true where a node may leave the field out.
	Optional bool
	// Default is what the field is where the node leaves it out; empty where that is
	// nothing.
	Default string
	// Values are all that the field may be, where they can be listed.
	Values []string
	// Fields are those of the map, or of each map of the list.
	Fields []*Field
	// Types are the types of JSON that an ScalarField can be, beside an expression.
	Types []string
	// Setting describes a SettingField further.
	Setting *config.Setting
	// Instead is the name of the optional field that has to be there where this
	// one is not, and only there; empty if there is none.
	Instead string
}

// FieldType is what may be written in a field.
type FieldType uint8

// The types of fields.
const (
	StringField   FieldType = iota // a string
	EdgeField                      // the id of a node
	ExprField                      // a JSONata expression
	RuleField                      // a JSON Logic rule
	ServerField                    // the name of an upstream server
	TemplateField                  // any value, with expressions in it
	ObjectField                    // a map with fields of its own
	ListField                      // a list of such maps
	RulesField                     // one such map, or a list of them
	ValueField                     // any value, with expressions in it
	ScalarField                    // a value of Types, or an expression
	SettingField                   // what package config describes
	NodesField                     // a list of nodes
	BodyField                      // a map with nodes and catch
	BranchesField                  // a map from names to lists of nodes, or to such maps
)

// site is where a node stands: which fields it has depends on that.
type site struct {
	flat bool // in a file of the flat layout
	body bool // in the body of a node
}

// Option changes what an ask accepts.
type Option func(*Field)

// Optional lets a node leave the field out.
func Optional(f *Field) { f.Optional = true }

// Alias accepts an older name of the field too, though not both at once.
func Alias(name string) Option {
	return func(f *Field) { f.Aliases = append(f.Aliases, name) }
}

// fieldsOf returns the fields that nodes of a kind take, beside id and type, in
// the order in which the decoder asks for them. at is the place.
func fieldsOf(k *Kind, at site) []*Field {
	f := &Fields{node: &Node{facts: &facts{}}, site: at}
	f.common(k.Role)
	k.Decode(f)
	return f.asked
}

// common asks for what the builder itself reads of every node.
func (f *Fields) common(role Role) {
	if f.site.flat && !f.site.body && role.isEnd() {
		doc := "Name of the tool whose " + map[Role]string{Entry: "entry", Exit: "exit"}[role] + " this is"
		f.node.owner = f.String("tool", doc)
	}
}

// FieldsOf returns the fields that nodes of a kind take, beside id and type, in
// the order of the documentation. flat is true for a file of the flat layout,
// body for a node in the body of another one.
func FieldsOf(k *Kind, flat, body bool) []*Field { return fieldsOf(k, site{flat, body}) }

// Flat reports whether the file has the flat layout.
func (f *Fields) Flat() bool { return f.site.flat }

// InBody reports whether the node stands in the body of another one.
func (f *Fields) InBody() bool { return f.site.body }

// get registers an ask and returns the field's value, or nil if it is absent or
// null. A required field that is absent is reported.
func (f *Fields) get(t FieldType, name, doc string, opts []Option) *config.Node {
	f.last = Field{Name: name, Doc: doc, Type: t}
	ask := &f.last
	for _, o := range opts {
		o(ask)
	}
	if f.b == nil {
		ask = new(f.last)
		f.asked = append(f.asked, ask)
		if f.of != nil {
			f.of.Fields = append(f.of.Fields, ask)
		}
	}
	f.keys = append(append(f.keys, name), ask.Aliases...)
	if f.src == nil {
		return nil
	}
	got := f.src.Get(name)
	for _, alias := range ask.Aliases {
		other, ok := f.src.Field(alias)
		if !ok {
			continue
		}
		if got != nil {
			f.report(other.Key.Problem(diag.CodeConflict, fmt.Sprintf(
				"%s has both %q and %q, which mean the same", f.owner, name, alias)))
			continue
		}
		got = other.Value
	}
	if got != nil && !got.IsNull() {
		return got
	}
	if !ask.Optional {
		if got != nil {
			f.report(got.Expected(f.what(name), f.wants(t)))
		} else {
			f.report(f.src.Missing(f.owner, f.path+name))
		}
	}
	return nil
}

func (f *Fields) what(name string) string { return fmt.Sprintf("%q of %s", f.path+name, f.owner) }

func (f *Fields) wants(t FieldType) string {
	return [...]string{
		"a string", "the id of a node", "a JSONata expression", "a JSON Logic rule",
		"the name of a server", "a value", "a map", "a list of maps", "a map or a list of maps", "a value",
		"a value or {expr: …}", "a value", "a list of nodes", "a map with nodes", "a map of lists of nodes",
	}[t]
}

func (f *Fields) report(d diag.Diagnostic) {
	if f.b != nil {
		f.b.report(d)
	}
}

// Has reports whether the field is written in the file with a value other than
// null.
func (f *Fields) Has(name string) bool {
	field, ok := f.src.Field(name)
	return ok && !field.Value.IsNull()
}

// Problem reports something wrong with the field, or with the whole map where
// the field is not written. The severity is that of the code.
func (f *Fields) Problem(name, code, message, hint string) {
	if f.src == nil {
		return
	}
	place := f.src
	if field, ok := f.src.Field(name); ok {
		place = field.Value
	}
	d := place.Problem(code, f.owner+" "+message)
	d.Hint = hint
	if place == f.src {
		d.End = diag.Pos{}
	}
	f.report(d)
}

// text returns the string in a field, reporting anything else.
func (f *Fields) text(t FieldType, name, doc string, opts []Option) (*config.Node, string) {
	n := f.get(t, name, doc, opts)
	switch {
	case n == nil:
		return nil, ""
	case !n.IsString():
		d := n.Expected(f.what(name), f.wants(t))
		if n.Kind() == config.Scalar || t == ExprField {
			d.Hint = notText(n)
		}
		f.report(d)
		return nil, ""
	case n.Text().String() == "":
		f.report(n.Problem(diag.CodeValue, fmt.Sprintf("%s is empty; expected %s", f.what(name), f.wants(t))))
		return nil, ""
	}
	return n, n.Text().String()
}

// String returns a string that is not empty, or "" if there is none.
func (f *Fields) String(name, doc string, opts ...Option) string {
	_, s := f.text(StringField, name, doc, opts)
	return s
}

// Default sets the default of a field.
func Default(v string) Option { return func(f *Field) { f.Default = v } }

// Choice asks for one of some strings. It returns "" if there is none.
func (f *Fields) Choice(name, doc string, values []string, opts ...Option) string {
	opts = append(slices.Clone(opts), func(f *Field) { f.Values = values })
	n, s := f.text(StringField, name, doc, opts)
	if n == nil || slices.Contains(values, s) {
		return s
	}
	d := n.Problem(diag.CodeValue, fmt.Sprintf("%s is %q; expected %s", f.what(name), s, diag.List(values)))
	d.Hint = diag.Meant(diag.Nearest(s, values))
	f.report(d)
	return ""
}

// Edge asks for the id of the node to go to and returns the index of the edge,
// or NoEdge if there is none.
func (f *Fields) Edge(name, doc string, opts ...Option) int {
	n, id := f.text(EdgeField, name, doc, opts)
	if n == nil {
		if f.src != nil && (f.Has(name) || !f.last.Optional) {
			f.node.broken = true
		}
		return NoEdge
	}
	if f.b.stopped(edgeBytes) {
		return NoEdge
	}
	f.node.Edges = append(f.node.Edges, Edge{Field: f.path + name, Target: id, src: n})
	return len(f.node.Edges) - 1
}

// Next asks for the id of the node to go to afterwards and returns the index of
// the edge. In a body a node may leave it out: it then ends the body.
func (f *Fields) Next() int {
	if f.site.body {
		edge := f.Edge("next", "The next node; without it the body ends here, and this output is its result", Optional)
		f.node.ends = edge == NoEdge && f.src != nil && !f.Has("next")
		return edge
	}
	return f.Edge("next", "The next node")
}

// LabelEdge sets the label of an edge in pictures, and whether it is the one
// taken when no condition holds. It does nothing for NoEdge.
func (f *Fields) LabelEdge(edge int, label string, isDefault bool) {
	if edge != NoEdge {
		f.node.Edges[edge].Label = label
		f.node.Edges[edge].Default = isDefault
	}
}

// Targets returns the ids that the edges asked for so far lead to.
func (f *Fields) Targets() []string {
	ids := make([]string, len(f.node.Edges))
	for i := range ids {
		ids[i] = f.node.Edges[i].Target
	}
	return ids
}

// Object asks for a map with fields of its own, which the caller then asks
// for. It is never nil.
func (f *Fields) Object(name, doc string, opts ...Option) *Fields {
	n := f.get(ObjectField, name, doc, opts)
	if n != nil && n.Kind() != config.Map {
		f.report(n.Expected(f.what(name), "a map"))
		n = nil
	}
	return f.sub(n, name)
}

// List asks for a list of maps. Where a kind is only described it returns one
// element, so that the decoder's asks are seen.
func (f *Fields) List(name, doc string, opts ...Option) []*Fields {
	n := f.get(ListField, name, doc, opts)
	switch {
	case f.b == nil:
		return []*Fields{f.sub(nil, name)}
	case n == nil:
		return nil
	case n.Kind() != config.List:
		f.report(n.Expected(f.what(name), "a list"))
		f.node.broken = true
		return nil
	}
	return f.list(n, name)
}

// list returns the maps in a list.
func (f *Fields) list(n *config.Node, name string) []*Fields {
	if n.Kind() != config.List {
		f.report(n.Expected(f.what(name), "a map or a list"))
		f.node.broken = true
		return nil
	}
	list := make([]*Fields, 0, len(n.Items()))
	for i, item := range n.Items() {
		element := fmt.Sprintf("%s[%d]", name, i)
		if item.Kind() != config.Map {
			f.report(item.Expected(f.what(element), "a map"))
			f.node.broken = true
			continue
		}
		list = append(list, f.sub(item, element))
	}
	return list
}

func (f *Fields) sub(src *config.Node, name string) *Fields {
	s := &Fields{
		b: f.b, src: src, node: f.node, scope: f.scope, site: f.site, vars: f.vars,
		owner: f.owner, path: f.path + name + ".",
	}
	if f.b == nil {
		s.of = f.asked[len(f.asked)-1]
	}
	f.inner = append(f.inner, s)
	return s
}

// finish reports the keys that were not read, in f and in the maps in it.
func (f *Fields) finish(known ...string) {
	valid := append(slices.Clip(known), f.keys...)
	owner := f.owner
	if f.path != "" {
		owner = strings.TrimSuffix(f.path, ".") + " of " + owner
	}
	for _, field := range f.src.Fields() {
		if key := field.Key.String(); !config.IsFree(key) && !slices.Contains(valid, key) {
			f.report(field.Key.Unknown(owner, valid))
		}
	}
	for _, inner := range f.inner {
		inner.finish()
	}
}
