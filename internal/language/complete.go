package language

import (
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
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
func Complete(d *Document, offset int) (items []Item, whole bool) {
	if d.Kind == Other || len(d.Text) > MaxBytes {
		return nil, true
	}
	offset = min(max(offset, 0), len(d.Text))
	c := &completer{cursor: cursor{doc: d, place: findPlace(d.Text, offset), offset: offset}}
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

// completer collects what can be written at a cursor.
type completer struct {
	cursor
	items []Item
}

func shapeOf(d *Document) *shape {
	if d.Kind == Test {
		return suiteShape()
	}
	return configShape()
}

func (c *completer) add(i Item) { c.items = append(c.items, i) }

func (c *completer) complete() {
	at, _ := shapeOf(c.doc).find(c.place.path, c.model.root)
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

// upstreamTools adds the tools of the server that the map at the cursor names:
// those that are locked, and those that other nodes call.
func (c *completer) upstreamTools() {
	home, m := c.doc.home(), c.configModel()
	if m == nil || len(c.place.path) == 0 {
		return
	}
	server := c.model.root.At(c.place.path[:len(c.place.path)-1]...).Get("server").Text().String()
	seen := map[string]bool{}
	add := func(i Item) {
		if !seen[i.Label] {
			seen[i.Label] = true
			c.value(i)
		}
	}
	file := lockOf(home)
	if s := file.Server(server); s != nil {
		for _, name := range s.ToolNames {
			i := Item{Label: name, Kind: ToolItem, Detail: "tool of " + server}
			if t := s.Tool(name); t != nil {
				i.Doc = t.Description
			}
			add(i)
		}
	}
	for i := range m.units {
		for _, n := range m.units[i].Nodes {
			if n.Tool != "" && n.Server == server && n != c.node() {
				add(Item{Label: n.Tool, Kind: ToolItem, Detail: "called by node " + n.ID})
			}
		}
	}
}
