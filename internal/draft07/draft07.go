// Package draft07 builds the JSON Schemas that editors use for completion, hover
// texts and checks. Their revision is draft-07, the newest that editors know
// well.
package draft07

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Document returns a whole schema: root, with the definitions that Pointer
// refers to. id is its address, where releases publish it.
func Document(id, title string, root value.Value, definitions *value.Builder) value.Value {
	entries := append([]value.Entry{
		{Key: "$schema", Value: Text("http://json-schema.org/draft-07/schema#")},
		{Key: "$id", Value: Text(id)},
		{Key: "title", Value: Text(title)},
	}, root.Entries()...)
	return value.FromEntries(append(entries, value.Entry{Key: "definitions", Value: definitions.Value()}))
}

// Map collects the keys of a map. Keys that begin with "x-" are always free.
type Map struct {
	properties *value.Builder
	required   []string
	either     []value.Value // of keys with several names
}

// NewMap returns a Map without keys.
func NewMap() *Map { return &Map{properties: value.NewBuilder(8)} }

// Add adds a key. Aliases are other names of it; only one of them may be there.
func (m *Map) Add(name string, aliases []string, required bool, schema value.Value) {
	m.properties.Set(name, schema)
	for _, alias := range aliases {
		m.properties.Set(alias, schema)
	}
	switch {
	case !required:
	case len(aliases) == 0:
		m.required = append(m.required, name)
	default:
		m.OneOf(append([]string{name}, aliases...)...)
	}
}

// OneOf requires exactly one of some keys.
func (m *Map) OneOf(names ...string) {
	one := make([]value.Value, len(names))
	for i, name := range names {
		one[i] = value.ObjectOf("required", Texts(name))
	}
	m.either = append(m.either, value.ObjectOf("oneOf", value.FromArray(one)))
}

// Schema returns the schema of the map.
func (m *Map) Schema() value.Value {
	b := value.NewBuilder(6)
	b.Set("type", Text("object"))
	if m.required != nil {
		b.Set("required", Texts(m.required...))
	}
	b.Set("properties", m.properties.Value())
	b.Set("patternProperties", value.ObjectOf("^x-", value.True))
	b.Set("additionalProperties", value.False)
	if m.either != nil {
		b.Set("allOf", value.FromArray(m.either))
	}
	return b.Value()
}

// Described returns schema with a description. Draft-07 ignores what stands
// beside a $ref, so a reference is wrapped.
func Described(doc string, schema value.Value) value.Value {
	if schema.Has("$ref") {
		return value.ObjectOf("description", Text(doc), "allOf", value.FromArray([]value.Value{schema}))
	}
	return value.FromEntries(append([]value.Entry{{Key: "description", Value: Text(doc)}}, schema.Entries()...))
}

// Choice returns the schema of one of some strings; of any string if values is
// nil.
func Choice(values []string) value.Value {
	if values == nil {
		return Type("string")
	}
	return value.ObjectOf("type", Text("string"), "enum", Texts(values...))
}

// Type returns the schema of values of some types.
func Type(names ...string) value.Value {
	if len(names) == 1 {
		return value.ObjectOf("type", Text(names[0]))
	}
	return value.ObjectOf("type", Texts(names...))
}

// AnyOf returns the schema of a value that fits one of some schemas.
func AnyOf(schemas ...value.Value) value.Value {
	return value.ObjectOf("anyOf", value.FromArray(schemas))
}

// List returns the schema of a list.
func List(items value.Value) value.Value {
	return value.ObjectOf("type", Text("array"), "items", items)
}

// Entries returns the schema of a map from names of the user's choice.
func Entries(entry value.Value) value.Value {
	return value.ObjectOf("type", Text("object"), "additionalProperties", entry)
}

// Anything returns the schema of any value.
func Anything() value.Value {
	return Type("object", "array", "string", "number", "boolean", "null")
}

// Pointer returns a reference to a definition of the document.
func Pointer(definition string) value.Value {
	return value.ObjectOf("$ref", Text(definitionsPath+definition))
}

const definitionsPath = "#/definitions/"

// Text returns a string.
func Text(s string) value.Value { return value.FromString(s) }

// Texts returns a list of strings.
func Texts(list ...string) value.Value {
	values := make([]value.Value, len(list))
	for i, s := range list {
		values[i] = Text(s)
	}
	return value.FromArray(values)
}

// With returns schema with one more key at its end.
func With(schema value.Value, key string, v value.Value) value.Value {
	return value.FromEntries(append(slices.Clip(schema.Entries()), value.Entry{Key: key, Value: v}))
}
