package schematext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/schematext"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func schema(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestType(t *testing.T) {
	for text, want := range map[string]string{
		`{"type": "string"}`: "string",
		`{"type": "string", "format": "uri", "maxLength": 9}`:            "string (uri), at most 9 characters",
		`{"type": "string", "minLength": 1, "pattern": "^a"}`:            "string, at least 1 character that matches ^a",
		`{"type": "integer", "minimum": 1, "maximum": 100}`:              "integer from 1 to 100",
		`{"type": "number", "exclusiveMinimum": 0}`:                      "number, more than 0",
		`{"type": "number", "minimum": 0, "exclusiveMinimum": true}`:     "number, more than 0",
		`{"type": "integer", "maximum": 5, "multipleOf": 5}`:             "integer, at most 5, a multiple of 5",
		`{"type": ["string", "null"]}`:                                   "string or null",
		`{"type": "string", "nullable": true}`:                           "string or null",
		`{"anyOf": [{"type": "integer"}, {"type": "null"}]}`:             "integer or null",
		`{"allOf": [{"title": "x"}, {"type": "boolean"}]}`:               "boolean",
		`{"enum": ["a", "b", 3]}`:                                        "a, b, 3",
		`{"const": true}`:                                                "true",
		`{"type": "array", "items": {"type": "string"}, "minItems": 1}`:  "array of string, at least 1 element",
		`{"type": "array", "items": {"type": ["string", "null"]}}`:       "array of (string or null)",
		`{"type": "array", "minItems": 2, "maxItems": 2}`:                "array, 2 elements",
		`{"type": "object", "additionalProperties": {"type": "number"}}`: "object with values: number",
		`{"properties": {}}`:                                             "object",
		`{"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}`:      "string",
		`{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}`:   "any",
		`{"$ref": "https://example.com/schema"}`:                         "any",
		`{"$ref": "#/anyOf/1", "anyOf": [{}, {"type": "boolean"}]}`:      "boolean",
		`{"type": "array", "items": {"$ref": "#"}}`:                      "array of array of array of array of array",
		`true`:  "any",
		`false`: "nothing",
		`7`:     "any",
		`{"type": 7, "enum": {}, "anyOf": 3, "minimum": "x", "required": null}`: "any",
	} {
		if got := schematext.Type(schema(t, text), schema(t, text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestTypes(t *testing.T) {
	for text, want := range map[string]string{
		`{"type": "string"}`: "string",
		`{"anyOf": [{"type": "integer"}, {"type": "null"}]}`: "integer null",
		`{"anyOf": [{"type": "integer"}, {}]}`:               "",
		`{"enum": ["1", 2]}`:                                 "string number",
		`{"const": "1"}`:                                     "string",
		`{}`:                                                 "",
	} {
		if got := strings.Join(schematext.Types(schema(t, text), schema(t, text)), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func outline(fields []schematext.Field) string {
	var parts []string
	for _, f := range fields {
		text := f.Name
		if f.Required {
			text += "!"
		}
		if len(f.Fields) > 0 {
			text += "{" + outline(f.Fields) + "}"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

func TestFields(t *testing.T) {
	for text, want := range map[string]string{
		`{"properties": {"a": {}, "b": {}}, "required": ["b"]}`:                                                                 "b! a",
		`{"properties": {"a": {"items": {"properties": {"x": {}}}}}}`:                                                           "a{x}",
		`{"properties": {"a": {"anyOf": [{"type": "null"}, {"properties": {"x": {}}}]}}}`:                                       "a{x}",
		`{"allOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}}]}`:                                  "a! b",
		`{"$ref": "#/$defs/t", "$defs": {"t": {"properties": {"kids": {"items": {"$ref": "#/$defs/t"}}}}}}`:                     "kids",
		`{"properties": {"kids": {"items": {"$ref": "#"}}}}`:                                                                    "kids{kids}",
		`{"properties": {"a": {"properties": {"b": {"properties": {"c": {"properties": {"d": {"properties": {"e": {}}}}}}}}}}}`: "a{b{c{d}}}",
		`{"properties": [1]}`: "",
		`true`:                "",
	} {
		if got := outline(schematext.Fields(schema(t, text))); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestFieldsAreBounded describes a schema that doubles with every level.
func TestFieldsAreBounded(t *testing.T) {
	var defs []string
	for i := range 30 {
		defs = append(defs, fmt.Sprintf(`"d%d": {"properties": {"a": {"$ref": "#/$defs/d%d"}, "b": {"$ref": "#/$defs/d%[2]d"}}}`, i, i+1))
	}
	var wide []string
	for i := range 1000 {
		wide = append(wide, fmt.Sprintf(`"p%d": {"$ref": "#/$defs/d0"}`, i))
	}
	s := schema(t, `{"properties": {`+strings.Join(wide, ",")+`}, "$defs": {`+strings.Join(defs, ",")+`}}`)
	if n := strings.Count(outline(schematext.Fields(s)), " ") + 1; n > 300 {
		t.Errorf("%d fields", n)
	}
	if got := schematext.Fields(s)[0].Name; got != "p0" {
		t.Errorf("the first field is %s", got)
	}
}
