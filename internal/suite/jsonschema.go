package suite

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/draft07"
	"github.com/mcpgraph/mcpgraph/internal/project"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// SchemaID is the address of the JSON Schema of test files.
const SchemaID = project.Latest + project.TestSchema

// reference is a test file with every key.
//
//go:embed reference.test.yaml
var reference []byte

// JSONSchema returns the JSON Schema (draft-07) of test files, for editors, with an
// example for each key. Like the decoder it is made of Settings.
func JSONSchema() value.Value {
	defined := map[*config.Setting]string{
		&mockSettings[0]: "mock", &replySettings[0]: "reply", &expectSettings[0]: "expect", &callerSettings[0]: "caller",
	}
	definitions := value.NewBuilder(len(defined))
	add := func(list []config.Setting, rules ...any) {
		schema := orVariable(graph.SettingsSchema(list, defined), "")
		if rules != nil {
			schema = value.FromEntries(append(schema.Entries(), value.ObjectOf(rules...).Entries()...))
		}
		definitions.Set(defined[&list[0]], schema)
	}
	add(mockSettings, "anyOf", value.FromArray(requireOne("reply", "replies", "times")))
	add(replySettings, "if", draft07.Type("object"), "then", value.ObjectOf("oneOf", value.FromArray(requireOne(replyForms...))))
	add(expectSettings)
	add(callerSettings)
	document := draft07.Document(SchemaID, "mcpgraph tests", keysOrVariable(graph.SettingsSchema(fileSettings, defined)), definitions)
	var samples []value.Value
	if n, _ := config.ParseYAML("reference.test.yaml", reference); n != nil {
		samples = append(samples, n.Value())
	}
	return draft07.WithExamples(document, samples, func(definition string) string { return definition })
}

// requireOne returns schemas that require one key each.
func requireOne(names ...string) []value.Value {
	list := make([]value.Value, len(names))
	for i, name := range names {
		list[i] = value.ObjectOf("required", draft07.Texts(name))
	}
	return list
}

// wholeVariable matches a string that is a variable and nothing else, which may be
// written in the place of any value.
const wholeVariable = `^\$\{vars\.[^{}]*\}$`

// constant are the keys that are read before variables are known.
var constant = []string{"config", "tests", "cases", "vars"}

// orVariable returns the schema of the value of a key, or of a variable in its
// place.
func orVariable(schema value.Value, key string) value.Value {
	schema = keysOrVariable(schema)
	var types []string
	for _, t := range append(schema.Get("type").Elems(), schema.Get("type")) {
		if t.Kind() == value.String {
			types = append(types, t.Str())
		}
	}
	if len(types) == 0 || slices.Contains(types, "string") || slices.Contains(constant, key) {
		return schema
	}
	b := value.NewBuilder(schema.Len() + 1)
	for _, e := range schema.Entries() {
		if e.Key == "type" {
			e.Value = draft07.Texts(append(types, "string")...)
		}
		b.Set(e.Key, e.Value)
	}
	b.Set("pattern", draft07.Text(wholeVariable))
	// What editors show for another string.
	b.Set("patternErrorMessage", draft07.Text("Expected "+strings.Join(types, " or ")+", or a variable such as ${vars.NAME}."))
	return b.Value()
}

// keysOrVariable returns a schema that takes variables as the values of all keys.
func keysOrVariable(schema value.Value) value.Value {
	b := value.NewBuilder(schema.Len())
	for _, e := range schema.Entries() {
		switch e.Key {
		case "properties":
			properties := value.NewBuilder(e.Value.Len())
			for _, p := range e.Value.Entries() {
				properties.Set(p.Key, orVariable(p.Value, p.Key))
			}
			e.Value = properties.Value()
		case "items":
			e.Value = keysOrVariable(e.Value)
		case "anyOf":
			forms := make([]value.Value, e.Value.Len())
			for i, form := range e.Value.Elems() {
				forms[i] = orVariable(form, "")
			}
			e.Value = value.FromArray(forms)
		}
		b.Set(e.Key, e.Value)
	}
	return b.Value()
}
