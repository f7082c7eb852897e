package graph

import (
	"slices"
	"strconv"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// JSONSchema returns a JSON Schema (draft-07) of configuration files, for
// editors. It is made of what the decoders themselves ask for: the settings of
// package config and the fields of the kinds of nodes.
func JSONSchema(kinds []*Kind) value.Value {
	root := settings(config.Settings())
	definitions := value.NewBuilder(8 + 4*len(kinds))
	for _, at := range []site{{}, {flat: true}, {body: true}, {flat: true, body: true}} {
		definitions.Set(nodeName(at), anyNode(kinds, at))
		for _, k := range kinds {
			definitions.Set(kindName(k, at), node(k, at))
		}
		if at.body {
			definitions.Set(bodyName(at), wholeBody(at))
		}
	}
	definitions.Set(catchName, catchRules())
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

const catchName = "catch"

func nodeName(at site) string {
	switch {
	case at.flat && at.body:
		return "flatBodyNode"
	case at.flat:
		return "flatNode"
	case at.body:
		return "bodyNode"
	}
	return "node"
}

func kindName(k *Kind, at site) string { return nodeName(at) + "-" + k.Name }

func bodyName(at site) string {
	if at.flat {
		return "flatBody"
	}
	return "body"
}

// wholeBody returns the schema of a body with a catch of its own.
func wholeBody(at site) value.Value {
	m := newMap()
	m.add("nodes", nil, true, described("The nodes of the body", bodyNodes(at)))
	m.add("catch", nil, false, pointer(catchName))
	return m.schema()
}

func bodyNodes(at site) value.Value {
	at.body = true
	return object("type", text("array"), "items", pointer(nodeName(at)))
}

// catchRules returns the schema of the rules for failures.
func catchRules() value.Value {
	f := &Fields{node: &Node{}}
	f.Catch()
	return described(f.asked[0].Doc, field(f.asked[0], site{}))
}

// settings returns the schema of a map with these settings.
func settings(list []config.Setting) value.Value {
	m := newMap()
	for _, s := range list {
		m.add(s.Name, nil, s.Required, described(s.Description(), withDefault(setting(s), s.Default)))
	}
	return m.schema()
}

// withDefault adds a default, which is JSON or empty, to a schema.
func withDefault(schema value.Value, absent string) value.Value {
	if v, err := value.Parse(absent); err == nil {
		return value.FromEntries(append(slices.Clip(schema.Entries()), value.Entry{Key: "default", Value: v}))
	}
	return schema
}

// setting returns the schema of a setting in any of its forms.
func setting(s config.Setting) value.Value {
	if s.Or == nil {
		return form(s)
	}
	forms := []value.Value{form(s)}
	for _, other := range s.Or {
		forms = append(forms, form(other))
	}
	return object("anyOf", value.FromArray(forms))
}

// form returns the schema of one form of a setting.
func form(s config.Setting) value.Value {
	list := func(items value.Value) value.Value { return object("type", text("array"), "items", items) }
	scalar := object("type", texts("string", "number", "boolean"))
	if lowest, highest, ok := s.Range(); ok {
		kind := "integer"
		if s.Shape == config.FactorShape {
			kind = "number"
		}
		return object("type", text(kind), "minimum", value.FromInt(lowest), "maximum", value.FromInt(highest))
	}
	switch s.Shape {
	case config.BoolShape:
		return object("type", text("boolean"))
	case config.StringsShape:
		return list(object("type", text("string")))
	case config.TextsShape:
		return list(scalar)
	case config.ScalarsShape:
		return object("type", text("object"), "additionalProperties", scalar)
	case config.FailuresShape:
		return list(object("type", texts("string", "integer")))
	case config.WordsShape:
		return object("type", texts("string", "array"), "items", scalar)
	case config.TokensShape:
		token := value.FromArray([]value.Value{object("type", text("string")), settings(s.Fields)})
		return object("type", text("object"), "additionalProperties", object("oneOf", token))
	case config.MapShape:
		return settings(s.Fields)
	case config.ListShape:
		return list(settings(s.Fields))
	case config.EntriesShape:
		return object("type", text("object"), "additionalProperties", settings(s.Fields))
	case config.ObjectSchemaShape:
		return object("type", text("object"))
	case config.AnySchemaShape:
		return object("type", texts("object", "boolean"))
	case config.NodesShape:
		return list(pointer(nodeName(site{})))
	case config.FlatNodesShape:
		return list(pointer(nodeName(site{flat: true})))
	case config.CatchShape:
		return pointer(catchName)
	case config.TextShape:
		return scalar
	case config.ValueShape:
		return object("type", texts("object", "array", "string", "number", "boolean", "null"))
	case config.ObjectShape:
		return object("type", text("object"))
	case config.ShareShape:
		return object("type", texts("integer", "string"), "minimum", value.FromInt(0), "pattern", text(sharePattern))
	}
	return choice(s.Values)
}

// anyNode returns the schema of a node of any kind: by its type one of those of
// the kinds, so that an editor reports problems of the type that is meant.
func anyNode(kinds []*Kind, at site) value.Value {
	var types []string
	var byType []value.Value
	for _, k := range kinds {
		types = append(types, k.Name)
		byType = append(byType, object(
			"if", object("properties", object("type", object("const", text(k.Name)))),
			"then", pointer(kindName(k, at))))
	}
	return object(
		"type", text("object"),
		"required", texts("id", "type"),
		"properties", object(
			"id", described(idDoc, object("type", text("string"), "minLength", value.FromInt(1))),
			"type", described(typeDoc, choice(types))),
		"allOf", value.FromArray(byType))
}

// node returns the schema of the nodes of one kind.
func node(k *Kind, at site) value.Value {
	m := newMap()
	m.add("id", nil, true, described(idDoc, object("type", text("string"))))
	m.add("type", nil, true, described(k.Doc, object("const", text(k.Name))))
	m.fields(fieldsOf(k, at), at)
	return m.schema()
}

// field returns the schema of the type of a field.
func field(f *Field, at site) value.Value {
	nested := func() value.Value {
		m := newMap()
		m.fields(f.Fields, at)
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
	case RulesField:
		rule := nested()
		return object("anyOf", value.FromArray([]value.Value{rule, object("type", text("array"), "items", rule)}))
	case ValueField:
		return object("type", texts("object", "array", "string", "number", "boolean", "null"))
	case ScalarField:
		return orExpression(f.Types...)
	case SettingField:
		return withDefault(setting(*f.Setting), f.Setting.Default)
	case NodesField:
		return bodyNodes(at)
	case BodyField:
		return pointer(bodyName(at))
	case BranchesField:
		body := object("anyOf", value.FromArray([]value.Value{bodyNodes(at), pointer(bodyName(at))}))
		return object("type", text("object"), "minProperties", value.FromInt(1), "additionalProperties", body)
	}
	if f.Default != "" {
		return withDefault(choice(f.Values), strconv.Quote(f.Default))
	}
	return choice(f.Values)
}

// orExpression returns the schema of a value of some types, or of an
// expression.
func orExpression(types ...string) value.Value {
	m := newMap()
	m.add(exprKey, nil, true, described("A JSONata expression", object("type", text("string"))))
	return object("anyOf", value.FromArray([]value.Value{object("type", texts(types...)), m.schema()}))
}

// mapSchema collects the keys of a map.
type mapSchema struct {
	properties *value.Builder
	required   []string
	either     []value.Value // of keys with several names
}

func newMap() *mapSchema { return &mapSchema{properties: value.NewBuilder(8)} }

func (m *mapSchema) fields(fields []*Field, at site) {
	for _, f := range fields {
		m.add(f.Name, f.Aliases, !f.Optional, described(f.Doc, field(f, at)))
		if f.Instead != "" {
			m.oneOf(f.Name, f.Instead)
		}
	}
}

// oneOf requires one of some keys.
func (m *mapSchema) oneOf(names ...string) {
	one := make([]value.Value, len(names))
	for i, name := range names {
		one[i] = object("required", texts(name))
	}
	m.either = append(m.either, object("oneOf", value.FromArray(one)))
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
		m.oneOf(append([]string{name}, aliases...)...)
	}
}

// schema returns the schema of the map, in which names that begin with "x-" are
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

// object returns an object of keys and values that take turns.
func object(pairs ...any) value.Value {
	b := value.NewBuilder(len(pairs) / 2)
	for i := 0; i < len(pairs); i += 2 {
		b.Set(pairs[i].(string), pairs[i+1].(value.Value))
	}
	return b.Value()
}
