package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

// schemaKeywords has, for every keyword of JSON Schema, members of a schema of an object
// that an object with {"a": 1} fits, unless the value says otherwise.
var schemaKeywords = []string{
	`"properties":{"a":true}`, `"properties":{"b":false}`, `"properties":{"a":{"type":["integer","null"]}}`, `"required":[]`,
	`"properties":{"o":{"type":"object","properties":{"b":true,"c":false}}}`, `"properties":{"b":{"items":true}}`, `"properties":{"b":{"items":false}}`,
	`"additionalProperties":true`, `"additionalProperties":{"type":"integer"}`, `"unevaluatedProperties":{}`, `"propertyNames":{"pattern":"^[a-z]"}`,
	`"patternProperties":{"^x":true,"^y":false}`, `"minProperties":0,"maxProperties":5`, `"dependentRequired":{"b":["a"]}`,
	`"dependentSchemas":{"b":true,"c":{"required":["a"]}}`, `"dependencies":{"b":["a"],"c":{"required":["a"]}}`,
	`"allOf":[true,{}]`, `"anyOf":[true,false]`, `"oneOf":[true,false]`, `"not":false`, `"if":true,"then":true,"else":false`, `"if":{"required":["zz"]},"then":false`,
	`"properties":{"a":{"enum":[1,"x",null]}}`, `"properties":{"b":{"enum":[]}}`, `"properties":{"a":{"const":1}}`,
	`"properties":{"a":{"minimum":0,"maximum":2,"exclusiveMinimum":0,"exclusiveMaximum":3,"multipleOf":0.5}}`,
	`"properties":{"b":{"type":"string","minLength":1,"maxLength":2,"pattern":"^\\p{L}+$","format":"email"}}`, `"properties":{"b":{"type":"string","format":"own"}}`,
	`"properties":{"b":{"minItems":1,"maxItems":2,"uniqueItems":true,"prefixItems":[true],"unevaluatedItems":false}}`,
	`"properties":{"b":{"contains":{"type":"string"},"minContains":1,"maxContains":2}}`,
	`"properties":{"b":{"contentEncoding":"base64","contentMediaType":"image/png","contentSchema":true}}`,
	`"title":"t","description":"d","$comment":"c","default":{},"examples":[{}],"deprecated":true,"readOnly":true,"writeOnly":false`,
	`"x-own":1,"nullable":true,"properties":{"a":{"nullable":true}},"discriminator":{"propertyName":"a"},"id":"own"`,
	`"properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}`, `"properties":{"a":{"$ref":"#/definitions/n","description":"d"}},"definitions":{"n":{"$ref":"#/definitions/m"},"m":true}`,
	`"properties":{"a":{"$ref":"#/$defs/a~1b%25"}},"$defs":{"a/b%":{"type":"integer"}}`,
	`"properties":{"o":{"$ref":"#"}}`, `"properties":{"o":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"o":{"$ref":"#/$defs/n"}}}}`,
	`"properties":{"a":{"$ref":"#n"}},"$defs":{"n":{"$anchor":"n","type":"integer"}}`,
	`"$dynamicAnchor":"n","properties":{"o":{"$dynamicRef":"#n"}}`, `"$id":"https://example.com/a","properties":{"a":{"$id":"https://example.com/b"}}`,
	`"$schema":"https://json-schema.org/draft/2020-12/schema"`, `"$schema":"https://json-schema.org/draft/2019-09/schema","properties":{"o":{"$recursiveRef":"#"}}`,
	`"$schema":"http://json-schema.org/draft-07/schema#","properties":{"b":{"items":[true],"additionalItems":false},"a":{"$ref":"#/definitions/n","type":"string"}},"definitions":{"n":{"type":"integer"}}`,
	`"$schema":"http://json-schema.org/draft-06/schema#"`,
	`"$schema":"http://json-schema.org/draft-04/schema#","id":"http://example.com/c","properties":{"a":{"type":"integer","minimum":0,"exclusiveMinimum":true,"maximum":1,"exclusiveMaximum":false}}`,
}

// schemasFile writes a file whose tools have each keyword in both of their schemas.
func schemasFile(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("version: \"1.0\"\nserver: {name: schemas, version: \"1\"}\ntools:\n")
	for i, members := range schemaKeywords {
		fmt.Fprintf(&b, "  - {name: t%d, description: d, inputSchema: {type: object, %s}, outputSchema: {type: object, %s}, nodes: ["+
			"{id: entry, type: entry, next: x}, {id: x, type: transform, transform: {expr: '{\"a\": 1}'}, next: exit}, {id: exit, type: exit}]}\n", i, members, members)
	}
	file := filepath.Join(t.TempDir(), "schemas.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestClientsReadEverySchema lets SDKs list and call tools that have each keyword in both
// of their schemas.
func TestClientsReadEverySchema(t *testing.T) {
	t.Parallel()
	bin := mcptest.RealServers(t)
	file := schemasFile(t)
	for _, client := range []string{"@modelcontextprotocol/sdk", "sdk-old", "@modelcontextprotocol/client"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			mcptest.RealPackage(t, client)
			out, err := exec.Command(filepath.Join(bin, "node"), "testdata/schemas.mjs", filepath.Dir(bin), client, binary, file).Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, stderrOf(err))
			}
			var got struct {
				Listed int
				Failed []struct{ Tool, Error string }
			}
			// Validators may log what they do not know.
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil {
				t.Fatalf("%v in %s", err, out)
			}
			if got.Listed != len(schemaKeywords) {
				t.Errorf("%d tools are listed, want %d", got.Listed, len(schemaKeywords))
			}
			for _, f := range got.Failed {
				var i int
				_, _ = fmt.Sscanf(f.Tool, "t%d", &i)
				t.Errorf("%s: %s", schemaKeywords[i], f.Error)
			}
		})
	}
}
