package graph_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// build compiles a source and returns what is found.
func build(t testing.TB, source string) (*graph.Set, []diag.Diagnostic) {
	t.Helper()
	file, ds := config.Parse("test.yaml", []byte(source), config.Options{})
	if file == nil {
		t.Fatal(ds)
	}
	set, more := graph.Build(file, nodes.All)
	return set, append(ds, more...)
}

// schema compiles one JSON Schema as the inputSchema of a tool.
func schema(t testing.TB, text string) *graph.Schema {
	t.Helper()
	set, ds := build(t, fmt.Sprintf(`
version: "1.0"
server: {name: test, version: "1"}
tools:
  - name: t
    description: Test
    inputSchema: %s
    nodes:
      - {id: entry, type: entry, next: exit}
      - {id: exit, type: exit}
`, text))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	return set.Graphs[0].Input
}

func TestSchemaErrorsSayWhichArgumentWhatWasFoundAndWhatWasExpected(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`{type: object, properties: {a: {type: string}}}`, `{"a":5}`, `a: expected a string, found the number 5`},
		{`{type: object, properties: {a: {type: string}, b: true}, required: [a, b]}`, `{}`,
			`missing required property "a"; missing required property "b"`},
		{`{type: object}`, `[1]`, `expected an object, found an array of 1 element`},
		{`{type: object, properties: {o: {type: object, properties: {list: {type: array, items: {type: integer}}}}}}`,
			`{"o":{"list":[1,2.5,"x"]}}`, `o.list[1]: expected an integer, found the number 2.5; o.list[2]: expected an integer, found the string "x"`},
		{`{type: object, properties: {a: {enum: [red, green, 3]}}}`, `{"a":"blue"}`, `a: expected "red", "green" or 3, found the string "blue"`},
		{`{type: object, properties: {a: {const: 1}}}`, `{"a":null}`, `a: expected 1, found null`},
		{`{type: object, properties: {a: {anyOf: [{type: string}, {type: "null"}]}}}`, `{"a":1}`, `a: expected a string or null, found the number 1`},
		{`{type: object, properties: {a: {type: [string, "null"]}}}`, `{"a":true}`, `a: expected null or a string, found the boolean true`},
		{`{type: object, properties: {a: {oneOf: [{type: object, properties: {k: {const: x}, n: {type: number}}}, {type: string}]}}}`,
			`{"a":{"k":"x","n":"1"}}`, `a.n: expected a number, found the string "1"`},
		{`{type: object, properties: {a: {oneOf: [{type: number}, {minimum: 3}]}}}`, `{"a":4}`, `a: expected to fit exactly one of the alternatives, found a value that fits 2`},
		{`{type: object, additionalProperties: false, properties: {path: {}}}`, `{"paht":"x"}`, `unexpected property "paht"`},
		{`{type: object, properties: {"two words": {minLength: 3}}}`, `{"two words":"x"}`, `["two words"]: expected a string of at least 3 characters, found the string "x"`},
		{`{type: object, properties: {a: {minimum: 1, maximum: 9, multipleOf: 0.5}}}`, `{"a":9.7}`, `a: expected a multiple of 0.5, found the number 9.7; a: expected a number of at most 9, found the number 9.7`},
		{`{type: object, properties: {a: {pattern: "^(?!x)"}}}`, `{"a":"xyz"}`, `a: expected a string that matches ^(?!x), found the string "xyz"`},
		{`{type: object, properties: {a: {maxItems: 1, uniqueItems: true}}}`, `{"a":[1,1]}`,
			`a: expected an array of at most 1 element, found an array of 2 elements; a: expected an array without equal elements (0 and 1 are), found an array of 2 elements`},
		{`{type: object, properties: {a: {$ref: "#/$defs/name"}}, $defs: {name: {type: string}}}`, `{"a":1}`, `a: expected a string, found the number 1`},
		{`{type: object, properties: {a: {not: {type: string}}}}`, `{"a":"x"}`, `a: expected a value that does not fit the schema under "not", found the string "x"`},
		{`{type: object, dependentRequired: {a: [b]}}`, `{"a":1}`, `b: expected a value, which "a" requires, found nothing`},
		{`{type: object, propertyNames: {maxLength: 2}}`, `{"long":1}`, `expected its keys to be a string of at most 2 characters, found the key "long"`},
		{`{type: object, properties: {a: false}}`, `{"a":1}`, `a: expected no value at all, found the number 1`},
		{`{type: object, properties: {a: {prefixItems: [{type: string}], items: false}}}`, `{"a":["x",1]}`, `a[1]: expected no value at all, found the number 1`},
		{`{type: object, properties: {a: {contains: {type: string}}}}`, `{"a":[1]}`, `a: expected an array with an element that fits "contains", found an array of 1 element`},
		{`{type: object, properties: {a: {if: {type: string}, then: {minLength: 2}}}}`, `{"a":"x"}`, `a: expected a string of at least 2 characters, found the string "x"`},
		{`{type: object, unevaluatedProperties: false}`, `{"a":"x"}`, `a: expected no value at all, found the string "x"`},
	} {
		v, err := value.Parse(c.value)
		if err != nil {
			t.Fatal(err)
		}
		err = schema(t, c.schema).Validate(v)
		var wrong *graph.SchemaError
		if !errors.As(err, &wrong) || wrong.Error() != c.want {
			t.Errorf("%s\n  %s\n  got  %v\n  want %s", c.schema, c.value, err, c.want)
		}
	}
}

func TestValuesThatFitTheirSchemaAreAccepted(t *testing.T) {
	s := schema(t, `{type: object, properties: {n: {type: integer}, e: {enum: [a, null]}, l: {items: {type: [string, "null"]}}}, required: [n]}`)
	for _, text := range []string{`{"n":1}`, `{"n":12345678901234567890}`, `{"n":1.0,"e":null,"l":["x",null],"more":{}}`} {
		v, _ := value.Parse(text)
		if err := s.Validate(v); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestManyProblemsAreCounted(t *testing.T) {
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 50), ",") + "]"
	v, _ := value.Parse(`{"l":` + list + `}`)
	err := schema(t, `{type: object, properties: {l: {items: {type: string}}}}`).Validate(v)
	if err == nil || !strings.HasSuffix(err.Error(), "; and 30 more") {
		t.Errorf("got %v", err)
	}
}

func TestSchemaKeepsTheOrderOfItsKeys(t *testing.T) {
	s := schema(t, `{required: [b], type: object, $defs: {z: {type: string}, a: {anyOf: [{$ref: "#/$defs/z"}, {enum: [1, 2.50, 12345678901234567890]}]}}, properties: {z: {}, b: {items: {}}}}`)
	want := `{"required":["b"],"type":"object","$defs":{"z":{"type":"string"},"a":{"anyOf":[{"$ref":"#/$defs/z"},{"enum":[1,2.5,12345678901234567890]}]}},"properties":{"z":{},"b":{"items":{}}}}`
	if s.Raw() != want {
		t.Errorf("got  %s\nwant %s", s.Raw(), want)
	}
}

func TestOtherDraftsAreFollowedWhereTheSchemaNamesThem(t *testing.T) {
	s := schema(t, `{$schema: "http://json-schema.org/draft-07/schema#", type: object, properties: {a: {items: [{type: string}], additionalItems: false}}}`)
	v, _ := value.Parse(`{"a":["x","y"]}`)
	if err := s.Validate(v); err == nil {
		t.Error("additionalItems of draft-07 is not followed")
	}
}
