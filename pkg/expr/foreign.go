package expr

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
)

// Foreign is a form of another language, with what expressions have for it.
type Foreign = jsonata.Foreign

// foreignPaths are how other programs read what a graph makes.
var foreignPaths = []Foreign{
	{Form: "steps.NODE.FIELD", Write: "$.NODE.FIELD"},
	{Form: "NODE.output.FIELD", Write: "$.NODE.FIELD"},
	{Form: "inputs.FIELD", Write: "$.ENTRY.FIELD", Note: ", with the id of the entry node"},
	{Form: "$json.FIELD", Write: "$previousNode().FIELD"},
	{Form: `$node["NODE"].json.FIELD`, Write: "$.NODE.FIELD"},
	{Form: `$("NODE").item.json.FIELD`, Write: "$.NODE.FIELD"},
}

// ForeignForms returns functions and forms of other languages, and of other programs
// that run graphs.
func ForeignForms() []Foreign { return slices.Concat(jsonata.ForeignForms(), foreignPaths) }
