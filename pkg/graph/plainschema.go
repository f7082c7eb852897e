package graph

import (
	"math"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const (
	// maxPlainText is how long a schema is at most, in bytes, that counts as plain.
	maxPlainText = 4 << 10
	// maxPlainDepth is how deeply lists and maps are nested in it at most.
	maxPlainDepth = 32
)

// isPlainSchema reports that the library certainly compiles a schema, whose text
// is not longer than maxPlainText: what stands in it is as the metaschema of draft
// 2020-12 has it, and it refers to nothing. Such a schema is compiled when a value
// comes for which its quick form does not suffice. False means that this is not
// known.
func isPlainSchema(schema value.Value, depth int) bool {
	if schema.Kind() == value.Bool {
		return true
	}
	if schema.Kind() != value.Object || depth > maxPlainDepth {
		return false
	}
	for _, e := range schema.Entries() {
		if !isPlainKeyword(e.Key, e.Value, depth+1) {
			return false
		}
	}
	return true
}

func isPlainKeyword(name string, v value.Value, depth int) bool {
	switch name {
	case "title", "description", "$comment", "format":
		return v.Kind() == value.String
	case "default", "const":
		return isShallow(v, depth)
	case "enum", "examples":
		return v.Kind() == value.Array && isShallow(v, depth)
	case "deprecated", "readOnly", "writeOnly", "uniqueItems":
		return v.Kind() == value.Bool
	case "type":
		return v.Kind() == value.String && slices.Contains(schemaTypes, v.Str()) ||
			v.Len() > 0 && areNames(v) && !slices.ContainsFunc(v.Elems(), func(t value.Value) bool { return !slices.Contains(schemaTypes, t.Str()) })
	case "required":
		return areNames(v)
	case "properties":
		if v.Kind() != value.Object {
			return false
		}
		for _, e := range v.Entries() {
			if !isPlainSchema(e.Value, depth+1) {
				return false
			}
		}
		return true
	case "items", "additionalProperties":
		return isPlainSchema(v, depth)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return isFinite(v)
	case "multipleOf":
		return isFinite(v) && v.Float() > 0
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		f := v.Float()
		return f >= 0 && f <= math.MaxInt32 && f == math.Trunc(f)
	case "pattern":
		if v.Kind() != value.String {
			return false
		}
		_, err := compilePattern(v.Str())
		return err == nil
	}
	return false
}

func isFinite(v value.Value) bool {
	f := v.Float()
	return !math.IsNaN(f) && !math.IsInf(f, 0)
}

// areNames reports whether v is a list of strings, each there once.
func areNames(v value.Value) bool {
	if v.Kind() != value.Array {
		return false
	}
	seen := make(map[string]bool, v.Len())
	for _, name := range v.Elems() {
		if name.Kind() != value.String || seen[name.Str()] {
			return false
		}
		seen[name.Str()] = true
	}
	return true
}

// isShallow reports whether a value is nested as deeply as a plain schema may be,
// and has no number that JSON does not have.
func isShallow(v value.Value, depth int) bool {
	switch v.Kind() {
	case value.Number:
		return isFinite(v)
	case value.Array, value.Object:
		if depth > maxPlainDepth {
			return false
		}
	}
	for _, e := range v.Elems() {
		if !isShallow(e, depth+1) {
			return false
		}
	}
	for _, e := range v.Entries() {
		if !isShallow(e.Value, depth+1) {
			return false
		}
	}
	return true
}

// acceptsItsValues reports that each default and example in a plain schema fits the
// part of the schema that it stands in; false means that this is not known.
func acceptsItsValues(schema value.Value) bool {
	own := schema.Get("examples").Elems()
	if v := schema.Get("default"); !v.IsUndefined() {
		own = append(slices.Clone(own), v)
	}
	if len(own) > 0 {
		q := newQuick(schema)
		if q == nil || slices.ContainsFunc(own, func(v value.Value) bool { return !q.accepts(v) }) {
			return false
		}
	}
	for _, e := range schema.Get("properties").Entries() {
		if !acceptsItsValues(e.Value) {
			return false
		}
	}
	items := schema.Get("items")
	return items.IsUndefined() || acceptsItsValues(items)
}
