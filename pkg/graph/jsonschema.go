package graph

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/draft07"
	"github.com/mcpgraph/mcpgraph/internal/project"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// SchemaID is the address of the JSON Schema of configuration files.
const SchemaID = project.Latest + project.ConfigSchema

// JSONSchema returns a JSON Schema (draft-07) of configuration files, for
// editors. It is made of what the decoders themselves ask for: the settings of
// package config and the fields of the kinds of nodes. Its examples are what the
// samples, which are YAML files without problems, have at each key.
func JSONSchema(kinds []*Kind, samples ...[]byte) value.Value {
	definitions := value.NewBuilder(8 + 4*len(kinds))
	defined := map[*config.Setting]string{&upstreams()[0]: upstreamName}
	for _, at := range []site{{}, {flat: true}, {body: true}, {flat: true, body: true}} {
		definitions.Set(nodeName(at), anyNode(kinds, at))
		for _, k := range kinds {
			definitions.Set(kindName(k, at), node(k, at))
		}
		if at.body {
			definitions.Set(bodyName(at), wholeBody(at))
		}
	}
	policy := &Fields{node: &Node{facts: &facts{}}}
	policy.Retry()
	policy.Catch()
	for _, f := range policy.asked {
		m := draft07.NewMap()
		addFields(m, f.Fields, site{})
		definitions.Set(rulesName(f.Name), m.Schema())
	}
	expression := draft07.NewMap()
	expression.Add(exprKey, nil, true, draft07.Described("A JSONata expression", draft07.Type("string")))
	definitions.Set(expressionName, expression.Schema())
	definitions.Set(upstreamName, SettingsSchema(upstreams(), nil))
	definitions.Set(ruleName, draft07.Described("A JSON Logic rule, in which var takes JSONata expressions", draft07.Anything()))
	document := draft07.Document(SchemaID, "mcpgraph configuration", SettingsSchema(config.Settings(), defined), definitions)
	var values []value.Value
	for _, sample := range samples {
		if n, _ := config.ParseYAML("sample.yaml", sample); n != nil {
			values = append(values, n.Value())
		}
	}
	return draft07.WithExamples(document, values, alike)
}

// alike returns the name that the definitions of a node in the flat layout, in a
// body, and in both have in common.
func alike(definition string) string {
	for _, at := range []site{{flat: true, body: true}, {flat: true}, {body: true}} {
		if rest, ok := strings.CutPrefix(definition, nodeName(at)); ok {
			return nodeName(site{}) + rest
		}
		if definition == bodyName(at) {
			return bodyName(site{})
		}
	}
	return definition
}

const (
	ruleName       = "rule"
	expressionName = "expression"
)

const upstreamName = "upstream"

// upstreams returns the settings of an upstream server, which mcpServers and its
// older name share.
func upstreams() []config.Setting {
	all := config.Settings()
	return all[slices.IndexFunc(all, func(s config.Setting) bool { return s.Name == "mcpServers" })].Fields
}

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
	m := draft07.NewMap()
	m.Add("nodes", nil, true, draft07.Described("The nodes of the body", bodyNodes(at)))
	m.Add("catch", nil, false, draft07.Described("Where to go after a failure that no rule of the failed node handles", rules("catch")))
	return m.Schema()
}

func bodyNodes(at site) value.Value {
	at.body = true
	return draft07.List(draft07.Pointer(nodeName(at)))
}

// rulesName returns the name of the definition of one rule of retry or catch.
func rulesName(field string) string { return field + "Rule" }

// rules returns the schema of the rules of retry or catch: one, or a list.
func rules(field string) value.Value {
	rule := draft07.Pointer(rulesName(field))
	return draft07.AnyOf(rule, draft07.List(rule))
}

// anyNode returns the schema of a node of any kind: by its type one of those of
// the kinds, so that an editor reports problems of that type.
func anyNode(kinds []*Kind, at site) value.Value {
	var types []string
	var byType []value.Value
	for _, k := range kinds {
		types = append(types, k.Name)
		byType = append(byType, value.ObjectOf(
			"if", value.ObjectOf("properties", value.ObjectOf("type", value.ObjectOf("const", draft07.Text(k.Name)))),
			"then", draft07.Pointer(kindName(k, at))))
	}
	return value.ObjectOf(
		"type", draft07.Text("object"),
		"required", draft07.Texts("id", "type"),
		"properties", value.ObjectOf(
			"id", draft07.Described(idDoc, value.ObjectOf("type", draft07.Text("string"), "minLength", value.FromInt(1))),
			"type", draft07.Described(typeDoc, draft07.Choice(types))),
		"allOf", value.FromArray(byType))
}

// node returns the schema of the nodes of one kind.
func node(k *Kind, at site) value.Value {
	m := draft07.NewMap()
	m.Add("id", nil, true, draft07.Described(idDoc, draft07.Type("string")))
	m.Add("type", nil, true, draft07.Described(k.Doc, value.ObjectOf("const", draft07.Text(k.Name))))
	addFields(m, fieldsOf(k, at), at)
	return m.Schema()
}

// field returns the schema of the type of a field.
func field(f *Field, at site) value.Value {
	nested := func() value.Value {
		m := draft07.NewMap()
		addFields(m, f.Fields, at)
		return m.Schema()
	}
	switch f.Type {
	case RuleField:
		return draft07.Pointer(ruleName)
	case TemplateField:
		return draft07.Type("object")
	case ObjectField:
		return nested()
	case ListField:
		return draft07.List(nested())
	case RulesField:
		return rules(f.Name)
	case ValueField:
		return draft07.Anything()
	case ScalarField:
		return orExpression(f.Types...)
	case SettingField:
		return withDefault(setting(*f.Setting, nil), f.Setting.Default)
	case NodesField:
		return bodyNodes(at)
	case BodyField:
		return draft07.Pointer(bodyName(at))
	case BranchesField:
		body := draft07.AnyOf(bodyNodes(at), draft07.Pointer(bodyName(at)))
		return value.ObjectOf("type", draft07.Text("object"), "minProperties", value.FromInt(1), "additionalProperties", body)
	}
	if f.Default != "" {
		return withDefault(draft07.Choice(f.Values), strconv.Quote(f.Default))
	}
	return draft07.Choice(f.Values)
}

// orExpression returns the schema of a value of some types, or of an
// expression.
func orExpression(types ...string) value.Value {
	return draft07.AnyOf(draft07.Type(types...), draft07.Pointer(expressionName))
}

// addFields adds the fields of a node, or of a map inside it.
func addFields(m *draft07.Map, fields []*Field, at site) {
	for _, f := range fields {
		m.Add(f.Name, f.Aliases, !f.Optional, draft07.Described(f.Doc, field(f, at)))
		if f.Instead != "" {
			m.OneOf(f.Name, f.Instead)
		}
	}
}
