package graph

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestPlainSchemasCompile(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(9, 10))}
	values := []string{
		"true", "false", "null", "0", "1", "-1", "1.5", "2e3", `""`, `"x"`, `"a+"`, `"("`, `"(?=a)"`, `"string"`, "[]", "{}", `["a"]`, `["a","a"]`, `[1]`,
		`["string","null"]`, `["string","string"]`, `["text"]`, `{"a":{"type":"string"}}`, `{"a":1}`, `{"a":[]}`, `[{"type":"object"}]`, "1e999",
		strings.Repeat("[", 40) + strings.Repeat("]", 40), `"https://json-schema.org/draft/2020-12/schema"`,
	}
	plain := map[string]int{}
	for range 20_000 {
		var parts []string
		for range 1 + g.IntN(3) {
			parts = append(parts, fmt.Sprintf("%q:%s", keywords[g.IntN(len(keywords))], values[g.IntN(len(values))]))
		}
		text := "{" + strings.Join(parts, ",") + "}"
		if g.IntN(3) == 0 {
			text = `{"properties":{"a":` + text + `,"b":` + g.schema(2) + `}}`
		}
		schema, err := value.Parse(text)
		if err != nil || !isPlainSchema(schema, 0) {
			continue
		}
		for _, part := range parts {
			plain[strings.Split(part, `"`)[1]]++
		}
		if _, err := compileSchema(schema.Any()); err != nil {
			t.Errorf("%s is plain and does not compile: %v", text, err)
		}
	}
	for _, name := range []string{
		"additionalProperties", "const", "default", "deprecated", "description", "enum", "examples", "exclusiveMaximum", "exclusiveMinimum", "format",
		"items", "maxItems", "maxLength", "maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "pattern",
		"properties", "readOnly", "required", "title", "type", "uniqueItems", "writeOnly",
	} {
		if plain[name] == 0 {
			t.Errorf("no schema with %q was plain", name)
		}
		delete(plain, name)
	}
	delete(plain, "$comment")
	if len(plain) > 0 {
		t.Errorf("schemas with %v are plain", plain)
	}
}

// A plain schema judges as one that was compiled at once.
func TestPlainSchemasJudgeAsOthers(t *testing.T) {
	schema, err := value.Parse(`{"type":"object","properties":{"a":{"type":"string","pattern":"^x+$"},"b":{"type":"integer","minimum":2,"default":1}},"required":["a"],"additionalProperties":false}`)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSchema(schema)
	if err != nil {
		t.Fatal(err)
	}
	if s.compiled != nil {
		t.Error("a plain schema is compiled before it is needed")
	}
	if acceptsItsValues(schema) {
		t.Error("a default below the minimum is accepted")
	}
	for text, fits := range map[string]bool{`{"a":"xx","b":3}`: true, `{"a":"y"}`: false, `{"b":1}`: false, `{"a":"x","c":1}`: false} {
		v, err := value.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		compiled, err := compileValue(schema)
		if err != nil {
			t.Fatal(err)
		}
		full := (&Schema{compiled: compiled}).Validate(v)
		if got := s.Validate(v); fmt.Sprint(got) != fmt.Sprint(full) {
			t.Errorf("%s: %v, compiled at once: %v", text, got, full)
		}
		if fits != (full == nil) {
			t.Errorf("%s: %v", text, full)
		}
	}
}
