package scaffold

import (
	"github.com/mcpgraph/mcpgraph/internal/schematext"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxSchema is how long a schema may be to stand in a new file, in bytes of JSON.
const maxSchema = 8 << 10

// maxNesting is how deep a schema may be.
const maxNesting = 32

var anyObject = value.ObjectOf("type", value.FromString("object"))

// cleaned returns a schema without what says nothing to readers or is no keyword of
// JSON Schema, and with descriptions on one line.
func cleaned(schema value.Value) value.Value {
	if schema.Kind() != value.Object || schema.LongerThan(4*maxSchema) {
		return anyObject
	}
	return clean(schema, 0)
}

func clean(schema value.Value, depth int) value.Value {
	if schema.Kind() != value.Object || depth > maxNesting {
		return schema
	}
	b := value.NewBuilder(schema.Len())
	for _, e := range schema.Entries() {
		switch {
		case e.Key == "$schema" || e.Key == "$id" || !graph.IsKeyword(e.Key):
			continue
		case e.Key == "description" || e.Key == "title":
			if e.Value.Kind() != value.String {
				continue
			}
			e.Value = value.FromString(plainText(e.Value.Str(), maxFieldText))
		default:
			switch schemas, byName := graph.InnerSchemas(e.Key); {
			case schemas && !byName:
				e.Value = cleanInside(e.Value, depth)
			case schemas:
				inner := value.NewBuilder(e.Value.Len())
				for _, p := range e.Value.Entries() {
					inner.Set(p.Key, cleanInside(p.Value, depth))
				}
				e.Value = inner.Value()
			}
		}
		b.Set(e.Key, e.Value)
	}
	return b.Value()
}

// cleanInside cleans a schema or a list of them.
func cleanInside(v value.Value, depth int) value.Value {
	if v.Kind() != value.Array {
		return clean(v, depth+1)
	}
	list := make([]value.Value, v.Len())
	for i, e := range v.Elems() {
		list[i] = clean(e, depth+1)
	}
	return value.FromArray(list)
}

// simplified returns a schema with the types and descriptions of its properties
// alone.
func simplified(schema value.Value) value.Value {
	if schema.Kind() != value.Object {
		return anyObject
	}
	properties := value.NewBuilder(schema.Get("properties").Len())
	var required []value.Value
	for _, f := range schematext.Fields(schema) {
		p := value.NewBuilder(2)
		if types := schematext.Types(schema, f.Schema); len(types) == 1 && isType(types[0]) {
			p.Set("type", value.FromString(types[0]))
		}
		if text := plainText(f.Description, maxFieldText); text != "" {
			p.Set("description", value.FromString(text))
		}
		properties.Set(f.Name, p.Value())
		if f.Required {
			required = append(required, value.FromString(f.Name))
		}
	}
	if properties.Len() == 0 {
		return anyObject
	}
	out := value.ObjectOf("type", value.FromString("object"), "properties", properties.Value())
	if required == nil {
		return out
	}
	return value.ObjectOf("type", value.FromString("object"), "properties", properties.Value(), "required", value.FromArray(required))
}

func isType(name string) bool {
	switch name {
	case "array", "boolean", "integer", "null", "number", "object", "string":
		return true
	}
	return false
}
