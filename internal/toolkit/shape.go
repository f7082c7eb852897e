package toolkit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of shapes and inferred schemas.
const (
	maxShapeDepth  = 8
	maxShapeFields = 60
	maxShapeItems  = 200
)

// inferred returns a JSON Schema that all values fit.
func inferred(values []value.Value) value.Value { return inferredAt(values, 0) }

func inferredAt(values []value.Value, depth int) value.Value {
	var types []string
	var objects, items []value.Value
	for _, v := range values {
		name := ""
		switch v.Kind() {
		case value.Null, value.Undefined:
			name = "null"
		case value.Bool:
			name = "boolean"
		case value.Number:
			if name = "number"; v.Float() == math.Trunc(v.Float()) {
				name = "integer"
			}
		case value.String:
			name = "string"
		case value.Array:
			name = "array"
			items = append(items, v.Elems()[:min(v.Len(), maxShapeItems)]...)
		case value.Object:
			name = "object"
			objects = append(objects, v)
		}
		if !slices.Contains(types, name) {
			types = append(types, name)
		}
	}
	if slices.Contains(types, "number") {
		types = slices.DeleteFunc(types, func(s string) bool { return s == "integer" })
	}
	out := value.FromEntries(nil)
	switch len(types) {
	case 0:
		return out
	case 1:
		out = value.ObjectOf("type", types[0])
	default:
		var list []value.Value
		for _, t := range types {
			list = append(list, value.FromString(t))
		}
		out = value.ObjectOf("type", list)
	}
	if depth >= maxShapeDepth {
		return out
	}
	if len(items) > 0 {
		out = with(out, "items", inferredAt(items[:min(len(items), maxShapeItems)], depth+1))
	}
	if len(objects) > 0 {
		out = withProperties(out, objects, depth)
	}
	return out
}

// withProperties adds the properties of objects to a schema. Objects whose keys are
// data, of which there are very many, have none.
func withProperties(out value.Value, objects []value.Value, depth int) value.Value {
	var keys []string
	byKey := map[string][]value.Value{}
	for _, o := range objects {
		for _, e := range o.Entries() {
			if byKey[e.Key] == nil {
				keys = append(keys, e.Key)
			}
			byKey[e.Key] = append(byKey[e.Key], e.Value)
		}
	}
	if len(keys) > maxShapeFields || len(keys) == 0 {
		return out
	}
	properties := value.NewBuilder(len(keys))
	var required []value.Value
	for _, key := range keys {
		properties.Set(key, inferredAt(byKey[key], depth+1))
		if len(byKey[key]) == len(objects) {
			required = append(required, value.FromString(key))
		}
	}
	out = with(out, "properties", properties.Value())
	if required != nil {
		out = with(out, "required", required)
	}
	return out
}

// shape returns in one text what a value looks like, without its data:
// {name: string, sizes: [12 × integer]}.
func shape(v value.Value) string {
	var b strings.Builder
	writeShape(&b, v, 0)
	return b.String()
}

func writeShape(b *strings.Builder, v value.Value, depth int) {
	switch v.Kind() {
	case value.Array:
		if v.Len() == 0 {
			b.WriteString("[]")
			return
		}
		fmt.Fprintf(b, "[%d × ", v.Len())
		writeSchema(b, inferredAt(v.Elems()[:min(v.Len(), maxShapeItems)], depth))
		b.WriteString("]")
	case value.Object:
		b.WriteString("{")
		for i, e := range v.Entries() {
			if i > 0 {
				b.WriteString(", ")
			}
			if i == maxShapeFields || depth > maxShapeDepth {
				fmt.Fprintf(b, "… %d more", v.Len()-i)
				break
			}
			b.WriteString(e.Key + ": ")
			writeShape(b, e.Value, depth+1)
		}
		b.WriteString("}")
	case value.String:
		fmt.Fprintf(b, "string(%d)", len(v.Str()))
	default:
		writeSchema(b, inferredAt([]value.Value{v}, depth))
	}
}

// writeSchema writes what an inferred schema allows.
func writeSchema(b *strings.Builder, s value.Value) {
	types := s.Get("type").Elems()
	if types == nil {
		types = []value.Value{s.Get("type")}
	}
	for i, t := range types {
		if i > 0 {
			b.WriteString(" | ")
		}
		switch {
		case t.Str() == "object" && s.Has("properties"):
			b.WriteString("{")
			for i, p := range s.Get("properties").Entries() {
				if i > 0 {
					b.WriteString(", ")
				}
				b.WriteString(p.Key)
				if !slices.ContainsFunc(s.Get("required").Elems(), func(v value.Value) bool { return v.Str() == p.Key }) {
					b.WriteString("?")
				}
				b.WriteString(": ")
				writeSchema(b, p.Value)
			}
			b.WriteString("}")
		case t.Str() == "array" && s.Has("items"):
			b.WriteString("[")
			writeSchema(b, s.Get("items"))
			b.WriteString("]")
		default:
			b.WriteString(t.Str())
		}
	}
}
