package graph

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// JSONSchema gives a JSON Schema (draft-07) of configuration files, for
// editors. It is made of what the decoders themselves ask for: the settings of
// package config and the fields of the kinds of nodes.
func JSONSchema(kinds []*Kind) value.Value {
	root := settings(config.Settings())
	definitions := value.NewBuilder(2 + 2*len(kinds))
	for _, flat := range []bool{false, true} {
		definitions.Set(nodeName(flat), anyNode(kinds, flat))
		for _, k := range kinds {
			definitions.Set(kindName(k, flat), node(k, flat))
		}
	}
	definitions.Set(ruleName, object(
		"description", text("A JSON Logic rule, in which var takes JSONata expressions"),
		"type", texts("object", "array", "string", "number", "boolean", "null")))
	entries := append([]value.Entry{
		{Key: "$schema", Value: text("http://json-schema.org/draft-07/schema#")},
		{Key: "title", Value: text("mcpgraph configuration")},
	}, root.Entries()...)
	return value.FromEntries(append(entries, value.Entry{Key: "definitions", Value: definitions.Value()}))
}

const ruleName = "rule"

func nodeName(flat bool) string {
	if flat {
		return "flatNode"
	}
	return "node"
}

func kindName(k *Kind, flat bool) string { return nodeName(flat) + "-" + k.Name }

// settings gives the schema of a map with these settings.
func settings(list []config.Setting) value.Value {
	m := newMap()
	for _, s := range list {
		schema := described(s.Doc, setting(s))
		// Defaults are written as JSON in the table.
		if v, err := value.Parse(s.Default); err == nil {
			schema = value.FromEntries(append(slices.Clip(schema.Entries()), value.Entry{Key: "default", Value: v}))
		}
		m.add(s.Name, nil, s.Required, schema)
	}
	return m.schema()
}

// setting gives what the shape of a setting says.
func setting(s config.Setting) value.Value {
	switch s.Shape {
	case config.BoolShape:
		return object("type", text("boolean"))
	case config.CountShape:
		return object("type", text("integer"), "minimum", value.FromInt(1))
	case config.BoundShape:
		return object("type", text("integer"), "minimum", value.FromInt(0))
	case config.StringsShape:
		return object("type", text("array"), "items", object("type", text("string")))
	case config.ScalarsShape:
		return object("type", text("object"), "additionalProperties", object("type", texts("string", "number", "boolean")))
	case config.InheritShape:
		return object("type", texts("boolean", "array"), "items", object("type", text("string")))
	case config.FactorShape:
		return object("type", text("number"), "minimum", value.FromInt(1))
	case config.PortShape:
		return object("type", text("integer"), "minimum", value.FromInt(0), "maximum", value.FromInt(65535))
	case config.FailuresShape:
		return object("type", text("array"), "items", object("type", texts("string", "integer")))
	case config.WordsShape:
		return object("type", texts("string", "array"), "items", object("type", text("string")))
	case config.SessionShape:
		return object("oneOf", value.FromArray([]value.Value{choice(s.Values), settings(s.Fields)}))
	case config.TokensShape:
		token := value.FromArray([]value.Value{object("type", text("string")), settings(s.Fields)})
		return object("type", text("object"), "additionalProperties", object("oneOf", token))
	case config.MapShape:
		return settings(s.Fields)
	case config.ListShape:
		return object("type", text("array"), "items", settings(s.Fields))
	case config.EntriesShape:
		return object("type", text("object"), "additionalProperties", settings(s.Fields))
	case config.SchemaShape:
		return object("type", texts("object", "boolean"))
	case config.NodesShape:
		return object("type", text("array"), "items", pointer(nodeName(false)))
	case config.FlatShape:
		return object("type", text("array"), "items", pointer(nodeName(true)))
	}
	return choice(s.Values)
}

// anyNode gives the schema of a node of any kind: by its type one of those of
// the kinds, so that an editor says what is wrong with the one that is meant.
func anyNode(kinds []*Kind, flat bool) value.Value {
	var types []string
	var byType []value.Value
	for _, k := range kinds {
		types = append(types, k.Name)
		byType = append(byType, object(
			"if", object("properties", object("type", object("const", text(k.Name)))),
			"then", pointer(kindName(k, flat))))
	}
	return object(
		"type", text("object"),
		"required", texts("id", "type"),
		"properties", object(
			"id", described(idDoc, object("type", text("string"), "minLength", value.FromInt(1))),
			"type", described(typeDoc, choice(types))),
		"allOf", value.FromArray(byType))
}

// node gives the schema of the nodes of one kind.
func node(k *Kind, flat bool) value.Value {
	m := newMap()
	m.add("id", nil, true, described(idDoc, object("type", text("string"))))
	m.add("type", nil, true, described(k.Doc, object("const", text(k.Name))))
	m.fields(FieldsOf(k, flat))
	return m.schema()
}

// field gives what the type of a field says.
func field(f *Field) value.Value {
	nested := func() value.Value {
		m := newMap()
		m.fields(f.Fields)
		return m.schema()
	}
	switch f.Type {
	case RuleField:
		return pointer(ruleName)
	case TemplateField:
		return object("type", text("object"))
	case ObjectField:
		return nested()
	case ListField:
		return object("type", text("array"), "items", nested())
	}
	return choice(f.Values)
}

// mapSchema collects the keys of a map.
type mapSchema struct {
	properties *value.Builder
	required   []string
	either     []value.Value // of keys with several names
}

func newMap() *mapSchema { return &mapSchema{properties: value.NewBuilder(8)} }

func (m *mapSchema) fields(fields []*Field) {
	for _, f := range fields {
		m.add(f.Name, f.Aliases, !f.Optional, described(f.Doc, field(f)))
	}
}

func (m *mapSchema) add(name string, aliases []string, required bool, schema value.Value) {
	m.properties.Set(name, schema)
	for _, alias := range aliases {
		m.properties.Set(alias, schema)
	}
	switch {
	case !required:
	case len(aliases) == 0:
		m.required = append(m.required, name)
	default:
		one := []value.Value{object("required", texts(name))}
		for _, alias := range aliases {
			one = append(one, object("required", texts(alias)))
		}
		m.either = append(m.either, object("oneOf", value.FromArray(one)))
	}
}

// schema gives the schema of the map, in which names that begin with "x-" are
// free.
func (m *mapSchema) schema() value.Value {
	b := value.NewBuilder(6)
	b.Set("type", text("object"))
	if m.required != nil {
		b.Set("required", texts(m.required...))
	}
	b.Set("properties", m.properties.Value())
	b.Set("patternProperties", object("^x-", value.True))
	b.Set("additionalProperties", value.False)
	if m.either != nil {
		b.Set("allOf", value.FromArray(m.either))
	}
	return b.Value()
}

// described puts a description before a schema. Draft-07 ignores what stands
// beside a $ref, so that one is wrapped.
func described(doc string, schema value.Value) value.Value {
	if schema.Has("$ref") {
		return object("description", text(doc), "allOf", value.FromArray([]value.Value{schema}))
	}
	return value.FromEntries(append([]value.Entry{{Key: "description", Value: text(doc)}}, schema.Entries()...))
}

func choice(values []string) value.Value {
	if values == nil {
		return object("type", text("string"))
	}
	return object("type", text("string"), "enum", texts(values...))
}

func pointer(definition string) value.Value { return object("$ref", text("#/definitions/"+definition)) }

func text(s string) value.Value { return value.FromString(s) }

func texts(list ...string) value.Value {
	values := make([]value.Value, len(list))
	for i, s := range list {
		values[i] = text(s)
	}
	return value.FromArray(values)
}

// object gives an object of keys and values that take turns.
func object(pairs ...any) value.Value {
	b := value.NewBuilder(len(pairs) / 2)
	for i := 0; i < len(pairs); i += 2 {
		b.Set(pairs[i].(string), pairs[i+1].(value.Value))
	}
	return b.Value()
}
