package language

import (
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
)

// configShape returns the shape of a configuration.
var configShape = sync.OnceValue(func() *shape {
	return &shape{keys: fixed(settingKeys(config.Settings(), nil))}
})

// Documentation of the keys that every node has.
const (
	idDoc   = "Name of the node, unique within its graph; expressions read its latest output as $.ID"
	typeDoc = "What the node does"
)

// nodeList returns the shape of a list of nodes.
func nodeList(flat, body bool) *shape {
	return &shape{items: sync.OnceValue(func() *shape { return nodeShape(flat, body) })}
}

// nodeShape returns the shape of a node.
func nodeShape(flat, body bool) *shape {
	types := &shape{}
	byType := map[string][]key{}
	head := []key{
		{name: "id", doc: idDoc, required: true, of: anything},
		{name: "type", doc: typeDoc, required: true, of: types},
	}
	for _, k := range nodes.All {
		types.values = append(types.values, k.Name)
		byType[k.Name] = append(head[:2:2], fieldKeys(k, graph.FieldsOf(k, flat, body), flat, body)...)
	}
	return &shape{keys: func(n *config.Node) []key {
		if keys := byType[n.Get("type").Text().String()]; keys != nil {
			return keys
		}
		return head
	}}
}

// kindOf returns the node type of a name, or nil.
func kindOf(name string) *graph.Kind {
	for _, k := range nodes.All {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// fieldKeys returns the keys that fields of a node describe.
func fieldKeys(k *graph.Kind, fields []*graph.Field, flat, body bool) []key {
	var keys []key
	for _, f := range fields {
		of := fieldShape(k, f, flat, body)
		keys = append(keys, key{name: f.Name, doc: f.Doc, required: !f.Optional, of: of})
		for _, alias := range f.Aliases {
			keys = append(keys, key{name: alias, doc: f.Doc, alias: true, of: of})
		}
	}
	return keys
}

func fieldShape(k *graph.Kind, f *graph.Field, flat, body bool) *shape {
	nested := func() *shape { return &shape{keys: fixed(fieldKeys(k, f.Fields, flat, body))} }
	switch f.Type {
	case graph.EdgeField:
		return &shape{role: nodeID}
	case graph.ExprField:
		return &shape{role: expression}
	case graph.RuleField:
		return ruleShape()
	case graph.ServerField:
		return &shape{role: serverName}
	case graph.TemplateField:
		return template(flat)
	case graph.ValueField, graph.ScalarField:
		return template(false)
	case graph.ObjectField:
		return nested()
	case graph.ListField:
		return &shape{items: constant(nested())}
	case graph.RulesField:
		one := nested()
		one.items = constant(nested())
		return one
	case graph.SettingField:
		return settingShape(f.Setting, nil)
	case graph.NodesField:
		return nodeList(flat, true)
	case graph.BodyField:
		return bodyShape(flat)
	case graph.BranchesField:
		branch := bodyShape(flat)
		branch.items = nodeList(flat, true).items
		return &shape{free: constant(branch)}
	}
	switch {
	case f.Name == "tool" && k.Name == nodes.MCP.Name:
		return &shape{role: upstreamTool}
	case f.Name == "tool":
		return &shape{role: ownTool}
	}
	return &shape{values: f.Values, absent: f.Default}
}

// bodyShape returns the shape of a body with a catch of its own.
func bodyShape(flat bool) *shape {
	return &shape{keys: fixed([]key{
		{name: "nodes", doc: "The nodes of the body", required: true, of: nodeList(flat, true)},
		{name: "catch", doc: "Where to go after a failure that no rule of the failed node handles", of: catchShape()},
	})}
}

// catchShape returns the shape of the rules for failures.
func catchShape() *shape {
	for _, f := range graph.FieldsOf(nodes.Transform, false, false) {
		if f.Name == "catch" {
			return fieldShape(nodes.Transform, f, false, false)
		}
	}
	return anything
}

// template returns the shape of a value with expressions in it. In args of the
// flat layout, strings that begin with $ are expressions, too.
func template(flat bool) *shape {
	value := &shape{}
	value.keys = fixed([]key{{name: "expr", doc: "A JSONata expression whose value stands here", of: &shape{role: expression}}})
	value.free, value.items = constant(value), constant(value)
	outer := *value
	outer.named = argument
	if flat {
		direct := *value
		direct.role = expression
		outer.free = constant(&direct)
	}
	return &outer
}

// rules are the operators of JSON Logic.
var rules = [][2]string{
	{"var", "The value of a JSONata expression; in the body of map, filter and the like, a path into the element"},
	{"==", "The two values are equal after conversion"}, {"!=", "The two values differ after conversion"},
	{"===", "The two values are equal and of one type"}, {"!==", "The two values differ, or their types do"},
	{"<", "Less than; with three values, between"}, {"<=", "Less than or equal; with three values, between"},
	{">", "Greater than"}, {">=", "Greater than or equal"},
	{"!", "Not"}, {"!!", "True if the value counts as true"},
	{"and", "All are true"}, {"or", "One is true"}, {"if", "Condition, value, and so on; the last is the default"},
	{"in", "A text contains another one, or a list a value"}, {"cat", "Joins texts"}, {"substr", "Part of a text"},
	{"missing", "Those of the keys under which there is nothing"},
	{"missing_some", "Those of the keys under which there is nothing, if fewer than a number are there"},
	{"map", "The rule for each element"}, {"filter", "The elements for which the rule is true"},
	{"reduce", "One value from all elements: current, accumulator"}, {"all", "The rule is true for all elements"},
	{"some", "The rule is true for some element"}, {"none", "The rule is true for no element"},
	{"merge", "Joins lists"}, {"min", "The smallest number"}, {"max", "The largest number"},
	{"+", "Sum"}, {"-", "Difference"}, {"*", "Product"}, {"/", "Quotient"}, {"%", "Remainder"},
	{"log", "Writes the value to the log and returns it"},
}

// ruleShape returns the shape of a JSON Logic rule.
func ruleShape() *shape {
	rule := &shape{}
	reads := &shape{role: expression}
	reads.items = constant(reads)
	var keys []key
	for _, r := range rules {
		of := rule
		if r[0] == "var" {
			of = reads
		}
		keys = append(keys, key{name: r[0], doc: r[1], of: of})
	}
	rule.keys, rule.items = fixed(keys), constant(rule)
	return rule
}

// jsonSchema returns the shape of a JSON Schema.
var jsonSchema = sync.OnceValue(func() *shape {
	schema := &shape{}
	one := constant(schema)
	named := &shape{free: one}
	list := &shape{items: one}
	bool2 := &shape{values: []string{"true", "false"}}
	types := []string{"string", "number", "integer", "boolean", "object", "array", "null"}
	schema.keys = fixed([]key{
		{name: "type", doc: "Type of the value", of: &shape{values: types, items: constant(&shape{values: types})}},
		{name: "description", doc: "What the value is; models read it", of: anything},
		{name: "properties", doc: "Properties of an object, by name", of: named},
		{name: "required", doc: "Names of the properties that must be there", of: &shape{items: constant(&shape{role: property})}},
		{name: "additionalProperties", doc: "Schema of other properties; false allows none", of: &shape{keys: func(n *config.Node) []key { return schema.keys(n) }, values: bool2.values}},
		{name: "items", doc: "Schema of the elements of an array", of: schema},
		{name: "enum", doc: "All values that are allowed", of: &shape{items: constant(anything)}},
		{name: "const", doc: "The only value that is allowed", of: anything},
		{name: "default", doc: "Value that clients use if there is none", of: anything},
		{name: "examples", doc: "Examples of the value", of: &shape{items: constant(anything)}},
		{name: "title", doc: "Name for people", of: anything},
		{name: "format", doc: "Format of a string", of: &shape{values: []string{"date", "date-time", "time", "duration", "email", "uri", "uuid", "hostname", "ipv4", "ipv6"}}},
		{name: "pattern", doc: "Regular expression that a string must match", of: anything},
		{name: "minLength", doc: "Fewest characters of a string", of: anything}, {name: "maxLength", doc: "Most characters of a string", of: anything},
		{name: "minimum", doc: "Smallest number", of: anything}, {name: "maximum", doc: "Largest number", of: anything},
		{name: "exclusiveMinimum", doc: "Number that the value must exceed", of: anything}, {name: "exclusiveMaximum", doc: "Number that the value must be below", of: anything},
		{name: "multipleOf", doc: "Number that the value must be a multiple of", of: anything},
		{name: "minItems", doc: "Fewest elements of an array", of: anything}, {name: "maxItems", doc: "Most elements of an array", of: anything},
		{name: "uniqueItems", doc: "The elements of an array differ", of: bool2},
		{name: "anyOf", doc: "Schemas of which one must match", of: list}, {name: "oneOf", doc: "Schemas of which exactly one must match", of: list},
		{name: "allOf", doc: "Schemas that must all match", of: list}, {name: "not", doc: "Schema that must not match", of: schema},
		{name: "$ref", doc: "Path to another schema, such as #/$defs/NAME", of: anything}, {name: "$defs", doc: "Schemas by name, for $ref", of: named},
	})
	return schema
})
