package language

import (
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/schematext"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// expression adds what can be written in an expression.
func (c *completer) expression() {
	src := c.doc.Text[c.place.from:c.offset]
	if c.place.quote == 0 && !c.place.block && strings.HasPrefix(src, "{") {
		return
	}
	p := readExpr(src)
	if g := c.over(); g != nil {
		c.overArguments(p, g, src)
		return
	}
	defer c.foreign(p, src)
	switch {
	case p.node:
		for _, n := range c.readable() {
			c.inExpr(Item{Label: n.ID, Kind: NodeItem, Detail: nodeDetail(n)}, p.name)
		}
	case p.text:
	case p.dollar:
		c.functions(p.name)
		if p.name == "" && !p.inner {
			for _, n := range c.readable() {
				c.inExpr(Item{Label: "$." + exprName(n.ID), Kind: NodeItem, Detail: nodeDetail(n)}, "$")
			}
		}
	case p.previous:
		c.known(p, expr.PreviousRoot)
	case p.variable != "":
		c.known(p, p.variable)
	case p.rooted && len(p.path) == 0:
		if c.doc.Kind == Test {
			for _, name := range []string{"result", "error", "path", "calls", "outputs"} {
				c.inExpr(Item{Label: name, Kind: PropertyItem}, p.name)
			}
			break
		}
		for _, n := range c.readable() {
			label := exprName(n.ID)
			if p.quoted {
				label = n.ID
			}
			c.inExpr(Item{Label: label, Kind: NodeItem, Detail: nodeDetail(n)}, p.name)
		}
		if p.name == "" && strings.TrimSpace(src) == "" {
			c.functions("")
		}
	case p.rooted && c.doc.Kind != Test:
		c.members(p)
	}
}

// members adds the properties of what a path leads to.
func (c *completer) members(p exprPlace) {
	for _, n := range c.readable() {
		if n.ID != p.path[0] {
			continue
		}
		for _, f := range properties(c.doc, c.model, n, p.path[1:]) {
			c.inExpr(Item{Label: exprName(f.Name), Kind: PropertyItem, Detail: f.Type, Doc: f.Description}, p.name)
		}
		break
	}
	c.known(p, "")
}

// known adds the properties that the graph knows of what a path leads to, if they
// are not among the items.
func (c *completer) known(p exprPlace, root string) {
	n := c.node()
	if n == nil || c.doc.Kind == Test {
		return
	}
	described := len(c.items) > 0
	for _, name := range c.model.set.Members(lockOf(c.doc), n, root, p.path) {
		label := exprName(name)
		if !described || !slices.ContainsFunc(c.items, func(i Item) bool { return i.Label == label }) {
			c.inExpr(Item{Label: label, Kind: PropertyItem}, p.name)
		}
	}
}

// functions adds functions and variables; written is what is there of the name.
func (c *completer) functions(written string) {
	back := "$" + written
	if c.offset < len(back) || c.doc.Text[c.offset-len(back):c.offset] != back {
		back = ""
	}
	if n := c.node(); n != nil && n.Graph != nil {
		for _, v := range n.Graph.Variables() {
			c.inExpr(Item{Label: "$" + v, Kind: VariableItem}, back)
		}
	}
	if slices.Contains(c.place.path, any("when")) {
		c.inExpr(Item{Label: "$error", Kind: VariableItem, Doc: "The failure: name, message, node, server, tool, code"}, back)
	}
	for _, f := range functions {
		c.inExpr(Item{Label: "$" + f.name, Kind: FunctionItem, Detail: f.call, Doc: f.doc}, back)
	}
}

// inExpr adds an item that replaces what is written of a name before the cursor,
// and the rest of it behind.
func (c *completer) inExpr(i Item, written string) {
	i.Insert = i.Label
	c.replacing(i, len(written))
}

// replacing adds an item that replaces so many bytes before the cursor, and the rest of
// a name behind.
func (c *completer) replacing(i Item, written int) {
	to := c.offset
	for to < c.place.to && isNameByte(c.doc.Text[to]) {
		to++
	}
	i.Span = Span{c.offset - written, to}
	if c.place.quote != 0 {
		i.Insert = quoteValue(i.Insert, c.place.quote, false)
	}
	if c.place.space {
		i.Insert = " " + i.Insert
	}
	c.add(i)
}

// exprName returns a name as expressions write it.
func exprName(s string) string {
	if graph.IsName(s) {
		return s
	}
	return "`" + s + "`"
}

// overArguments adds what can be written in an expression over arguments.
func (c *completer) overArguments(p exprPlace, g *graph.Graph, src string) {
	switch {
	case p.node: // in the first argument of $call
		for _, tool := range c.tools() {
			if tool.Offer == nil {
				c.inExpr(Item{Label: tool.Name, Kind: ToolItem, Doc: tool.Description}, p.name)
			}
		}
	case p.text:
	case p.dollar:
		c.inExpr(callItem, "$"+p.name)
		c.functions(p.name)
	case p.rooted && len(p.path) == 0:
		for _, f := range schematext.Fields(c.model.offerInput(g.Name)) {
			label := exprName(f.Name)
			if p.quoted {
				label = f.Name
			}
			c.inExpr(Item{Label: label, Kind: PropertyItem, Detail: f.Type, Doc: f.Description}, p.name)
		}
		if p.name == "" && strings.TrimSpace(src) == "" {
			c.inExpr(callItem, "")
			c.functions("")
		}
	}
}

var callItem = Item{
	Label: "$" + expr.CallName, Kind: FunctionItem, Detail: "$call(tool[, arguments])",
	Doc: "The result of a tool of this file; in messages and complete",
}
