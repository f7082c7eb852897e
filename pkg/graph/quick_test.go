package graph

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/jsonschema"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// generator writes random schemas and values over a few names, so that they
// often have to do with one another.
type generator struct{ *rand.Rand }

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g generator) schema(depth int) string {
	var parts []string
	add := func(chance int, part func() string) {
		if g.IntN(chance) == 0 {
			parts = append(parts, part())
		}
	}
	add(2, func() string {
		return `"type":` + g.pick(`"string"`, `"number"`, `"integer"`, `"object"`, `"object"`, `"array"`, `"null"`, `"boolean"`, `["string","null"]`, `["integer","array"]`)
	})
	add(5, func() string { return `"enum":[1,"x",null,[1],{"a":1},2.5]` })
	add(4, func() string { return `"required":["a"]` })
	add(9, func() string {
		return g.pick(`"minimum":2`, `"maxItems":1`, `"minLength":2`, `"additionalProperties":false`, `"additionalProperties":true`)
	})
	add(4, func() string { return `"description":"x","default":1` })
	if depth > 0 {
		add(2, func() string { return `"properties":{"a":` + g.schema(depth-1) + `,"b":` + g.schema(depth-1) + `}` })
		add(3, func() string { return `"items":` + g.schema(depth-1) })
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (g generator) value(depth int) string {
	if depth == 0 || g.IntN(3) == 0 {
		return g.pick("1", "2.5", "3.0", `"x"`, `"long"`, "null", "true", "12345678901234567890", "-0")
	}
	if g.IntN(2) == 0 {
		return "[" + g.value(depth-1) + "," + g.value(depth-1) + "]"
	}
	return `{"` + g.pick("a", "b") + `":` + g.value(depth-1) + `,"c":` + g.value(depth-1) + `}`
}

func TestQuickAnswersAreThoseOfTheLibrary(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(3, 4))}
	accepted := 0
	for range 4000 {
		text := g.schema(2)
		schema, err := value.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		q := newQuick(schema)
		if q == nil {
			continue
		}
		c := jsonschema.NewCompiler()
		var doc any
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("s.json", doc); err != nil {
			t.Fatal(err)
		}
		full, err := c.Compile("s.json")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for range 8 {
			v, err := value.Parse(g.value(3))
			if err != nil {
				t.Fatal(err)
			}
			quickly, err := q.accepts(v), full.Validate(v.Any())
			if quickly != (err == nil) {
				t.Fatalf("schema %s, value %s: quick %v, library %v", text, v.JSON(), quickly, err)
			}
			if quickly {
				accepted++
			}
		}
	}
	if accepted < 1000 {
		t.Errorf("only %d values were accepted", accepted)
	}
}

func TestQuickLeavesOtherKeywordsToTheLibrary(t *testing.T) {
	for _, text := range []string{
		`false`, `{"minimum":1}`, `{"$ref":"#"}`, `{"anyOf":[{}]}`, `{"items":{"pattern":"x"}}`, `{"items":false}`,
		`{"properties":{"a":{"format":"date"}}}`, `{"additionalProperties":{}}`, `{"additionalProperties":false}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#"}`, `{"$id":"x"}`, `{"unknown":1}`,
	} {
		v, err := value.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if newQuick(v) != nil {
			t.Errorf("%s is taken for plain", text)
		}
	}
}
