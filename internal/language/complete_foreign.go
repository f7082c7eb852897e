package language

import (
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/expr"
)

// minForeign is how much of a name has to be written before those of other languages
// are among the items.
const minForeign = 2

// foreign adds functions and methods of other languages whose names begin as what is
// written, with what expressions have for them. src is the expression up to the cursor.
func (c *completer) foreign(p exprPlace, src string) {
	if p.text || p.node || p.quoted || len(p.name) < minForeign {
		return
	}
	typed := strings.ToLower(p.name)
	value := "" // that the name stands behind
	if before, ok := strings.CutSuffix(src, "."+p.name); ok && !p.dollar {
		if value = before[strings.LastIndexAny(before, " \t\n(,[{&+=<>")+1:]; value == "" || strings.ContainsAny(value, "\"'\\`") {
			return
		}
	}
	for _, f := range expr.ForeignForms() {
		name, behind := f.Called()
		if !strings.HasPrefix(strings.ToLower(name), typed) || behind != (value != "") || expr.IsFunction(name) && !behind {
			continue
		}
		item := Item{Kind: FunctionItem, Detail: f.Write, Doc: strings.ToUpper(f.Hint()[:1]) + f.Hint()[1:]}
		if behind {
			item.Label, item.Insert = value+"."+name, f.Of(value)
			c.replacing(item, len(value)+1+len(p.name))
			continue
		}
		own, _, call := strings.Cut(f.Write, "(")
		if !call || !expr.IsFunction(strings.TrimPrefix(own, "$")) {
			continue
		}
		written := len(p.name)
		if item.Label, item.Insert = name, own; p.dollar {
			item.Label, written = "$"+name, written+1
		}
		c.replacing(item, written)
	}
}
