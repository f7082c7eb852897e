package graph

import (
	"github.com/mcpgraph/mcpgraph/internal/draft07"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// SettingsSchema returns the schema of a map with these settings, for editors.
// Maps whose settings several keys share are definitions of the document: defined
// has their names by their first setting.
func SettingsSchema(list []config.Setting, defined map[*config.Setting]string) value.Value {
	m := draft07.NewMap()
	for _, s := range list {
		m.Add(s.Name, nil, s.Required, draft07.Described(s.Description(), withDefault(setting(s, defined), s.Default)))
	}
	return m.Schema()
}

// withDefault adds a default, which is JSON or empty, to a schema.
func withDefault(schema value.Value, absent string) value.Value {
	if v, err := value.Parse(absent); err == nil {
		return draft07.With(schema, "default", v)
	}
	return schema
}

// setting returns the schema of a setting in any of its forms.
func setting(s config.Setting, defined map[*config.Setting]string) value.Value {
	if s.Or == nil {
		return form(s, defined)
	}
	forms := []value.Value{form(s, defined)}
	for _, other := range s.Or {
		forms = append(forms, form(other, defined))
	}
	return draft07.AnyOf(forms...)
}

// form returns the schema of one form of a setting.
func form(s config.Setting, defined map[*config.Setting]string) value.Value {
	fields := func() value.Value {
		if name, ok := defined[&s.Fields[0]]; ok {
			return draft07.Pointer(name)
		}
		return SettingsSchema(s.Fields, defined)
	}
	scalar := draft07.Type("string", "number", "boolean")
	if lowest, highest, ok := s.Range(); ok {
		kind := "integer"
		if s.Shape == config.FactorShape || s.Shape == config.FractionShape {
			kind = "number"
		}
		return value.ObjectOf("type", draft07.Text(kind), "minimum", value.FromInt(lowest), "maximum", value.FromInt(highest))
	}
	switch s.Shape {
	case config.BoolShape:
		return draft07.Type("boolean")
	case config.StringsShape:
		return draft07.List(draft07.Choice(s.Values))
	case config.ExprShape:
		return draft07.Pointer(expressionName)
	case config.CompleteShape:
		return draft07.Entries(draft07.AnyOf(draft07.List(draft07.Type("string")), draft07.Pointer(expressionName)))
	case config.TextsShape:
		return draft07.List(scalar)
	case config.ScalarsShape:
		return draft07.Entries(scalar)
	case config.FailuresShape:
		return draft07.List(draft07.Type("string", "integer"))
	case config.WordsShape:
		return value.ObjectOf("type", draft07.Texts("string", "array"), "items", scalar)
	case config.TokensShape:
		token := value.FromArray([]value.Value{draft07.Type("string"), fields()})
		return draft07.Entries(value.ObjectOf("oneOf", token))
	case config.MapShape:
		return fields()
	case config.ListShape:
		return draft07.List(fields())
	case config.EntriesShape:
		return draft07.Entries(fields())
	case config.ObjectSchemaShape:
		return draft07.Type("object")
	case config.AnySchemaShape:
		return draft07.Type("object", "boolean")
	case config.NodesShape:
		return draft07.List(draft07.Pointer(nodeName(site{})))
	case config.FlatNodesShape:
		return draft07.List(draft07.Pointer(nodeName(site{flat: true})))
	case config.CatchShape:
		return rules("catch")
	case config.TextShape:
		return scalar
	case config.ValueShape:
		return draft07.Anything()
	case config.ArrayShape:
		return draft07.Type("array")
	case config.ObjectShape:
		return draft07.Type("object")
	case config.ShareShape:
		return value.ObjectOf("type", draft07.Texts("integer", "string"), "minimum", value.FromInt(0), "pattern", draft07.Text(sharePattern))
	}
	return draft07.Choice(s.Values)
}
