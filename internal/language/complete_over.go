package language

import (
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/schematext"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// callStart is how a call of a tool begins in an expression.
const callStart = "$" + expr.CallName + "("

// over returns the prompt or resource whose arguments the expression at the cursor
// reads in the place of a run: in messages and in complete. It returns nil elsewhere.
func (c *completer) over() *graph.Graph {
	path := c.place.path
	if c.doc.Kind == Test || len(path) < 3 || path[0] != "prompts" && path[0] != "resources" {
		return nil
	}
	if path[2] == "messages" || path[2] == "complete" || path[2] == "arguments" && slices.Contains(path, any("complete")) {
		return c.model.toolAt(path)
	}
	return nil
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
