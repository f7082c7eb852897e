package language

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// ItemKind is what an Item inserts.
type ItemKind uint8

// The kinds of items.
const (
	KeyItem ItemKind = iota
	ValueItem
	NodeItem
	ServerItem
	ToolItem
	FunctionItem
	VariableItem
	PropertyItem
)

// Item is one way to complete what is written.
type Item struct {
	// Label is what lists show, Insert what replaces the bytes of Span.
	Label, Insert string
	Span
	Kind ItemKind
	// Detail is a short text beside the label, Doc a longer one; both may be empty.
	Detail, Doc string
	// First is true for what is probably wanted: required keys that are missing.
	First bool
	// Deprecated is true for older names.
	Deprecated bool
}

// maxItems bounds the answer of Complete.
const maxItems = 1000

// Complete returns what can be written at an offset, the most likely first. whole
// is false if there is more.
func (d *Document) Complete(offset int) (items []Item, whole bool) {
	if d.Kind == Other || len(d.Text) > MaxBytes {
		return nil, true
	}
	offset = min(max(offset, 0), len(d.Text))
	c := &completer{doc: d, place: findPlace(d.Text, offset), offset: offset}
	if !c.place.isKey && !c.place.isValue {
		return nil, true
	}
	if c.model = d.near(c.place); c.model == nil {
		c.model = &model{}
	}
	c.complete()
	if len(c.items) > maxItems {
		return c.items[:maxItems], false
	}
	return c.items, true
}

type completer struct {
	doc    *Document
	place  place
	offset int
	model  *model
	items  []Item
}

func (d *Document) shape() *shape {
	if d.Kind == Test {
		return suiteShape()
	}
	return configShape()
}

func (c *completer) add(i Item) { c.items = append(c.items, i) }

func (c *completer) complete() {
	at, _ := c.doc.shape().find(c.place.path, c.model.root)
	if at == nil {
		return
	}
	if c.place.isKey && !c.place.block {
		c.keys(at)
		if at.keys == nil && at.items != nil && !c.place.flow && c.place.quote == 0 {
			c.element(at)
		}
	}
	if c.place.isValue {
		c.values(at)
	}
}

// keys adds the keys of a map.
func (c *completer) keys(at *shape) {
	node := c.model.root.At(c.place.path...)
	if at.keys != nil {
		for _, k := range at.keys(node) {
			if !c.written(node, k.name) {
				c.key(k)
			}
		}
	}
	switch at.named {
	case argument:
		for _, p := range c.arguments() {
			if !c.written(node, p.Name) {
				c.key(key{name: p.Name, doc: described(p), required: p.Required, of: anything})
			}
		}
	case anyNodeID:
		for _, n := range c.testedNodes() {
			if !c.written(node, n.ID) {
				c.key(key{name: n.ID, doc: nodeDetail(n), of: anything})
			}
		}
	}
}

// written reports whether a map has a key already, other than the one under the
// cursor.
func (c *completer) written(node *config.Node, name string) bool {
	f, ok := node.Field(name)
	if !ok {
		return slices.Contains(c.place.written, name)
	}
	return !c.place.colon || c.doc.Offset(f.Key.Pos()) != c.wordStart()
}

func (c *completer) wordStart() int {
	if c.place.quote != 0 {
		return c.place.from - 1
	}
	return c.place.from
}

func (c *completer) key(k key) {
	i := Item{
		Label: k.name, Span: Span{c.place.from, c.place.to}, Kind: KeyItem,
		Detail: k.detail(), Doc: k.doc, First: k.required, Deprecated: k.alias,
	}
	i.Insert = quoteKey(k.name, c.place.quote)
	switch indent := strings.Repeat(" ", c.place.column+2); {
	case c.place.colon || c.place.quote != 0:
	case c.place.flow || !k.isMap() && !k.isList() || k.of.role != plain && k.of.role != argument:
		i.Insert += ": "
	case k.isList():
		i.Insert += ":\n" + indent + "- "
	default:
		i.Insert += ":\n" + indent
	}
	c.add(i)
}

// detail returns a few words about the value of a key.
func (k *key) detail() string {
	var words []string
	if k.required {
		words = append(words, "required")
	}
	switch {
	case k.of.absent != "":
		words = append(words, "default "+k.of.absent)
	case k.of.role == expression:
		words = append(words, "JSONata")
	case k.of.role == nodeID:
		words = append(words, "node")
	case k.isList():
		words = append(words, "list")
	case k.isMap():
		words = append(words, "map")
	}
	return strings.Join(words, ", ")
}

// element adds the beginning of an element of a list.
func (c *completer) element(at *shape) {
	below := at.items()
	if below.keys == nil || c.place.column == 0 && len(c.place.path) > 1 {
		return
	}
	for _, k := range below.keys(nil) {
		if k.required {
			c.add(Item{Label: "- " + k.name, Insert: "- " + k.name + ": ", Span: Span{c.place.from, c.place.to}, Kind: KeyItem, Doc: k.doc, First: true})
			return
		}
	}
}

// values adds the values that a place can have.
func (c *completer) values(at *shape) {
	for _, v := range at.values {
		c.value(Item{Label: v, Kind: ValueItem, Doc: c.valueDoc(v)})
	}
	switch at.role {
	case nodeID:
		for _, n := range c.targets() {
			c.value(Item{Label: n.ID, Kind: NodeItem, Detail: nodeDetail(n)})
		}
	case anyNodeID:
		for _, n := range c.testedNodes() {
			c.value(Item{Label: n.ID, Kind: NodeItem, Detail: nodeDetail(n)})
		}
	case serverName:
		for _, s := range c.servers() {
			c.value(Item{Label: s.Name, Kind: ServerItem, Detail: s.Transport})
		}
	case upstreamTool:
		c.upstreamTools()
	case ownTool:
		for _, g := range c.tools() {
			c.value(Item{Label: g.Name, Kind: ToolItem, Doc: g.Description})
		}
	case failureName:
		for _, name := range failureNames() {
			c.value(Item{Label: name[0], Kind: ValueItem, Doc: name[1]})
		}
	case property:
		if n := len(c.place.path); n >= 2 {
			for _, f := range c.model.root.At(c.place.path[:n-2]...).Get("properties").Fields() {
				c.value(Item{Label: f.Key.String(), Kind: PropertyItem, Doc: f.Value.Get("description").Text().String()})
			}
		}
	case expression:
		c.expression()
	}
}

// value adds an item that replaces a scalar.
func (c *completer) value(i Item) {
	i.Span = Span{c.place.from, c.place.to}
	i.Insert = quoteValue(i.Label, c.place.quote, i.Kind == ValueItem)
	if c.place.space {
		i.Insert = " " + i.Insert
	}
	c.add(i)
}

func (c *completer) valueDoc(v string) string {
	if n := len(c.place.path); n > 0 && c.place.path[n-1] == "type" && c.doc.Kind == Config {
		if k := kindOf(v); k != nil {
			return k.Doc
		}
	}
	return ""
}

// node returns the graph node around the cursor, or nil.
func (c *completer) node() *graph.Node { return c.model.nodeAt(c.place.path) }

// nodeAt returns the innermost graph node that a path leads into, or nil.
func (m *model) nodeAt(path []any) *graph.Node {
	var found *graph.Node
	at := m.root
	for _, step := range path {
		at = at.At(step)
		if n := m.byNode[at]; n != nil && at != nil {
			found = n
		}
	}
	return found
}

// unitAt returns the unit that a path leads into, or nil.
func (m *model) unitAt(path []any) *graph.Unit {
	if m.file == nil {
		return nil
	}
	if m.file.Flat && len(m.units) > 0 && len(path) > 0 && path[0] != "prompts" && path[0] != "resources" {
		return &m.units[0]
	}
	g := m.toolAt(path)
	for i := range m.units {
		if g != nil && slices.Contains(m.units[i].Graphs, g) {
			return &m.units[i]
		}
	}
	return nil
}

// toolAt returns the tool, prompt or resource that a path leads into, or nil.
func (m *model) toolAt(path []any) *graph.Graph {
	if m.set == nil || len(path) < 2 {
		return nil
	}
	at := m.root.At(path[:2]...)
	if at != nil && (path[0] == "prompts" || path[0] == "resources") {
		for _, g := range m.set.Graphs {
			if g.Offer != nil && g.Pos == at.Pos() && at.File() == g.File {
				return g
			}
		}
	}
	if path[0] != "tools" {
		return nil
	}
	for i, t := range m.file.Tools {
		if t.Node == at && at != nil && i < len(m.set.Graphs) {
			return m.set.Graphs[i]
		}
	}
	return nil
}

// targets returns the nodes that an edge at the cursor can lead to.
func (c *completer) targets() []*graph.Node {
	unit := c.model.unitAt(c.place.path)
	if unit == nil {
		return nil
	}
	self := c.node()
	var found []*graph.Node
	for _, n := range unit.Nodes {
		sameBody := self == nil || around(n) == around(self)
		if n.ID != "" && sameBody && (n.Kind == nil || n.Kind.Role != graph.Entry) {
			found = append(found, n)
		}
	}
	return found
}

// around returns the node in whose body a node is, or nil.
func around(n *graph.Node) *graph.Node {
	if n.Graph == nil {
		return nil
	}
	return n.Graph.Owner
}

// readable returns the nodes whose output an expression at the cursor can read.
func (c *completer) readable() []*graph.Node {
	if n := c.node(); n != nil && n.Graph != nil {
		var found []*graph.Node
		for g := n.Graph; g != nil; {
			found = append(found, g.Nodes...)
			if g.Owner == nil {
				break
			}
			g = g.Owner.Graph
		}
		return slices.DeleteFunc(found, func(n *graph.Node) bool { return n.ID == "" || n.Kind != nil && n.Kind.Role == graph.Exit })
	}
	return c.targetsAndEntry()
}

func (c *completer) targetsAndEntry() []*graph.Node {
	unit := c.model.unitAt(c.place.path)
	if unit == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(unit.Nodes), func(n *graph.Node) bool { return n.ID == "" })
}

// configModel returns the model of the configuration: of this file or of the one
// that it tests; nil if there is none.
func (c *completer) configModel() *model {
	if c.doc.Kind != Test {
		return c.model
	}
	if cfg := c.doc.configOf(c.model); cfg != nil {
		return cfg.current()
	}
	return nil
}

func (c *completer) servers() []*config.Upstream {
	m := c.configModel()
	if m == nil || m.file == nil {
		return nil
	}
	return m.file.Upstreams
}

func (c *completer) tools() []*graph.Graph {
	if m := c.configModel(); m != nil && m.set != nil {
		return m.set.Graphs
	}
	return nil
}

// testedNodes returns the nodes of the tool that the test at the cursor calls.
func (c *completer) testedNodes() []*graph.Node {
	m := c.configModel()
	if m == nil {
		return nil
	}
	tool := c.testedTool()
	var found []*graph.Node
	for i := range m.units {
		for _, n := range m.units[i].Nodes {
			top := n.Graph
			for top != nil && top.Owner != nil {
				top = top.Owner.Graph
			}
			if n.ID != "" && top != nil && (tool == "" || top.Name == tool) {
				found = append(found, n)
			}
		}
	}
	return found
}

// testedTool returns the name of the tool that the test at the cursor calls.
func (c *completer) testedTool() string {
	for i := len(c.place.path); i > 0; i-- {
		if t := c.model.root.At(c.place.path[:i]...).Get("tool"); t.IsString() && c.model.root.At(c.place.path[:i]...).Get("server") == nil {
			return t.Text().String()
		}
	}
	return ""
}

// nodeDetail returns a few words about a node.
func nodeDetail(n *graph.Node) string {
	switch {
	case n.Kind == nil:
		return ""
	case n.Server != "":
		return fmt.Sprintf("%s, calls %s of %s", n.Kind.Name, n.Tool, n.Server)
	}
	return n.Kind.Name
}
