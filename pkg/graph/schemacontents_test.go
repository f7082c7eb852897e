package graph

import (
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestSchemasSayWhichPropertiesAreNeverThere(t *testing.T) {
	for _, c := range []struct{ schema, path, want string }{
		// Open: only a name that is nearly right.
		{`{"properties": {"directory": {}}}`, "dirctory", "directory"},
		{`{"properties": {"directory": {}}}`, "folder", ""},
		{`{"properties": {"directory": {}}}`, "directory.any", ""},
		{`{"properties": {"ab": {}, "line2": {}, "kind": {}}}`, "ac", ""},
		{`{"properties": {"line2": {}}}`, "line1", ""},
		{`{"properties": {"name": {}}}`, "game", "name"},
		{`{"properties": {"name": {}}}`, "lamb", ""},
		{`{"properties": {"names": {}}, "required": ["name"]}`, "name", ""},
		{`{"properties": {"names": {}}, "additionalProperties": true}`, "name", ""},
		{`{"properties": {"names": {}}, "additionalProperties": {"type": "string"}}`, "name", ""},
		{`{"properties": {"names": {}}, "patternProperties": {"^x": {}}}`, "name", ""},
		{`{"properties": {"names": {}}, "unevaluatedProperties": {}}`, "name", ""},
		{`true`, "name", ""},
		{`{}`, "name", ""},
		// Closed.
		{`{"properties": {"a": {}, "b": {}}, "additionalProperties": false}`, "c", "a b"},
		{`{"properties": {"a": {}}, "patternProperties": {"^x-": {}}, "additionalProperties": false}`, "x-1", ""},
		{`{"properties": {"a": {}}, "patternProperties": {"^x-": {}}, "additionalProperties": false}`, "y", "a"},
		{`{"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}`, "a", ""},
		{`{"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}`, "z", "a"},
		{`{"allOf": [{"properties": {"a": {}}, "additionalProperties": false}]}`, "z", "a"},
		{`{"anyOf": [{"properties": {"a": {}}, "additionalProperties": false}, {"properties": {"b": {}}}]}`, "z", ""},
		{`{"anyOf": [{"properties": {"a": {}}, "additionalProperties": false}, {"properties": {"b": {}}}]}`, "b", ""},
		// Other schemas.
		{`{"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"name": {}}}}}`, "nmae", "name"},
		{`{"$ref": "#/$defs/gone"}`, "nmae", ""},
		{`{"$ref": "other.json", "properties": {"name": {}}}`, "nmae", ""},
		{`{"$ref": "#anchor", "properties": {"name": {}}}`, "nmae", ""},
		{`{"$dynamicRef": "#x", "properties": {"name": {}}, "additionalProperties": false}`, "nmae", ""},
		{`{"properties": {"kind": {}}, "if": {}, "then": {"properties": {"kinds": {}}}}`, "kinds", ""},
		{`{"properties": {"names": {}}, "dependentRequired": {"names": ["name"]}}`, "name", ""},
		{`{"properties": {"names": {}}, "dependentSchemas": {"names": {"properties": {"name": {}}}}}`, "name", ""},
		// Values without properties, and arrays.
		{`{"properties": {"s": {"type": "string"}}}`, "s.x", "is a string"},
		{`{"properties": {"s": {"type": ["integer", "null"]}}}`, "s.x", "is an integer or null"},
		{`{"properties": {"s": {"type": ["string", "object"]}}}`, "s.x", ""},
		{`{"properties": {"s": {"anyOf": [{"type": "string"}, {"type": "object"}]}}}`, "s.x", ""},
		{`{"properties": {"l": {"type": "array", "items": {"properties": {"name": {}}}}}}`, "l.nmae", "name"},
		{`{"properties": {"l": {"items": {"properties": {"name": {}}}}}}`, "l.0.nmae", "name"},
		{`{"properties": {"l": {"type": "array", "items": {"type": "array", "items": {"properties": {"name": {}}}}}}}`, "l.nmae", "name"},
		{`{"properties": {"l": {"type": ["array", "object"], "items": {"type": "string"}, "properties": {"x": {}}}}}`, "l.x", ""},
		{`{"properties": {"l": {"type": "array", "prefixItems": [{"properties": {"name": {}}}], "items": {"type": "string"}}}}`, "l.name", ""},
		{`{"properties": {"l": {"type": "array"}}}`, "l.x", ""},
		// Without end.
		{`{"type": "array", "items": {"$ref": "#"}}`, "x", ""},
		{`{"properties": {"next": {"$ref": "#"}}, "additionalProperties": false}`, "next.next.nxt", "next"},
		{`{"allOf": [{"$ref": "#"}], "properties": {"name": {}}}`, "nmae", "name"},
	} {
		v, err := value.Parse(c.schema)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		var known contents = newSchemaContents(v)
		for _, step := range strings.Split(c.path, ".") {
			below, wrong := known.step(step)
			if wrong != nil {
				got = strings.Join(wrong.others.All(), " ")
				if wrong.scalar != "" {
					got = "is " + wrong.scalar
				}
			}
			if below == nil {
				break
			}
			known = below
		}
		if got != c.want {
			t.Errorf("%s in %s: got %q, want %q", c.path, c.schema, got, c.want)
		}
	}
}
