package suite

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func compileEditorSchema(t *testing.T, place string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource(SchemaID, JSONSchema().Any()); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(SchemaID + "#" + place)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReferenceIsValid(t *testing.T) {
	_, ds := Parse("reference.test.yaml", reference)
	for _, d := range ds {
		t.Error(d)
	}
	n, _ := config.ParseYAML("reference.test.yaml", reference)
	if err := compileEditorSchema(t, "").Validate(n.Value().Any()); err != nil {
		t.Error(err)
	}
}

// keysOf calls f for each key that a schema knows, with its place in the schema.
func keysOf(place string, v value.Value, f func(place string, key value.Value)) {
	for _, e := range v.Entries() {
		if strings.HasSuffix(place, "/properties") {
			f(place+"/"+e.Key, e.Value)
		}
		if e.Key != "examples" {
			keysOf(place+"/"+e.Key, e.Value, f)
		}
	}
	for i, item := range v.Elems() {
		keysOf(place+"/"+strconv.Itoa(i), item, f)
	}
}

func TestEditorSchemaDescribesEveryKeyWithExamples(t *testing.T) {
	keys := 0
	keysOf("", JSONSchema(), func(place string, key value.Value) {
		keys++
		if key.Get("description").Str() == "" {
			t.Errorf("%s has no description", place)
		}
		examples := key.Get("examples")
		if examples.Len() == 0 {
			t.Errorf("%s has no example", place)
			return
		}
		s := compileEditorSchema(t, place)
		for _, example := range examples.Elems() {
			if err := s.Validate(example.Any()); err != nil {
				t.Errorf("%s: the example %s is not valid: %v", place, example.JSON(), err)
			}
		}
	})
	if keys < 60 {
		t.Errorf("found only %d keys", keys)
	}
}

// candidates are values of every type.
var candidates = []string{
	`"text"`, `""`, `"accept"`, `"2026-01-01T00:00:00Z"`, `"timeout"`, "true", "false", "null", "0", "1", "-1", "1.5", "70000", "3000000000", "1e300",
	"[]", `["a"]`, "[1]", "[[]]", `[{}]`, "{}", `{"a":"b"}`, `{"a":1}`, `{"a":[]}`, `"${vars.v}"`, `["${vars.v}"]`,
}

// TestDecoderAndEditorSchemaAgreeOnEveryKey gives each key values of every type. The
// schema refuses those, and only those, that the decoder refuses because of their
// type or range.
func TestDecoderAndEditorSchemaAgreeOnEveryKey(t *testing.T) {
	const call = `"name":"t","tool":"x"`
	const mock = `"server":"s","tool":"t"`
	wrongShape := []string{diag.CodeType, diag.CodeLimit, diag.CodeMissing, diag.CodeMisspelt}
	schema := compileEditorSchema(t, "")
	for _, s := range []struct {
		name     string
		settings []config.Setting
		file     string // with MAP in the place of the map
		members  string
		without  []string // keys of which the map has only one
	}{
		{"file", fileSettings, "MAP", `"tests":[]`, nil},
		{"test", testSettings, `{"tests":[MAP]}`, call, nil},
		{"case", caseSettings, `{"tests":[{` + call + `,"cases":[MAP]}]}`, `"name":"c"`, nil},
		{"mock", mockSettings, `{"tests":[{` + call + `,"mocks":[MAP]}]}`, mock + `,"reply":{"text":"x"}`, []string{"reply", "replies"}},
		{"times", timesSettings, `{"tests":[{` + call + `,"mocks":[{` + mock + `,"reply":{"text":"x"},"times":MAP}]}]}`, "", nil},
		{"reply", replySettings, `{"tests":[{` + call + `,"mocks":[{` + mock + `,"reply":MAP}]}]}`, `"text":"x"`, replyForms},
		{"expect", expectSettings, `{"tests":[{` + call + `,"expect":MAP}]}`, "", nil},
		{"caller", callerSettings, `{"tests":[{` + call + `,"caller":MAP}]}`, "", nil},
	} {
		for _, key := range s.settings {
			refused := 0
			for _, text := range candidates {
				members, err := value.Parse("{" + s.members + "}")
				if err != nil {
					t.Fatal(err)
				}
				v, err := value.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				entries := slices.DeleteFunc(slices.Clone(members.Entries()), func(e value.Entry) bool {
					return e.Key == key.Name || slices.Contains(s.without, e.Key) && slices.Contains(s.without, key.Name)
				})
				filled := value.FromEntries(append(entries, value.Entry{Key: key.Name, Value: v}))
				source := strings.Replace(s.file, "MAP", filled.JSON(), 1)
				_, ds := Parse("x.test.yaml", []byte(source))
				errs := slices.DeleteFunc(slices.Clone(ds), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
				byShape := slices.ContainsFunc(errs, func(d diag.Diagnostic) bool { return slices.Contains(wrongShape, d.Code) })
				if byShape {
					refused++
				}
				n, _ := config.ParseYAML("x.test.yaml", []byte(source))
				err = schema.Validate(n.Value().Any())
				has := func(code string) bool {
					return slices.ContainsFunc(ds, func(d diag.Diagnostic) bool { return d.Code == code })
				}
				switch {
				case has(diag.CodeSubstitution): // there are no variables here
				case len(errs) == 0 && err != nil && !has(diag.CodeUnknownField):
					t.Errorf("%s: the decoder accepts it, the schema does not: %v", source, err)
				case byShape && err == nil:
					t.Errorf("%s: the schema accepts it, the decoder does not: %v", source, errs)
				}
			}
			if refused == 0 && key.Shape != config.ValueShape {
				t.Errorf("%s: the decoder does not read %s", s.name, key.Name)
			}
		}
	}
}

func TestEditorSchemaTakesVariablesForAnyValue(t *testing.T) {
	schema := compileEditorSchema(t, "")
	for part, good := range map[string]bool{
		`arguments: "${vars.v}"`:                                   true,
		`arguments: "a ${vars.v}"`:                                 false,
		`arguments: {a: ["${vars.v}"]}`:                            true,
		`timeoutMs: "${vars.v}"`:                                   true,
		`answers: {sure: "${vars.v}"}`:                             true,
		`answers: {sure: [7]}`:                                     true,
		`answers: 7`:                                               false,
		`mocks: [{server: s, tool: t, reply: "${vars.v}"}]`:        true,
		`mocks: [{server: s, tool: t, times: "${vars.v}"}]`:        true,
		`mocks: [{server: s, tool: t}]`:                            false,
		`mocks: [{server: s, tool: t, reply: {text: a, json: b}}]`: false,
		`mocks: [{server: s, tool: t, reply: {delayMs: 1}}]`:       false,
		`expect: "${vars.v}"`:                                      true,
	} {
		n, ds := config.ParseYAML("x.test.yaml", []byte("tests: [{name: n, tool: t, "+part+"}]"))
		if n == nil {
			t.Fatal(ds)
		}
		if err := schema.Validate(n.Value().Any()); (err == nil) != good {
			t.Errorf("%s: %v", part, err)
		}
	}
}
