package toolkit

import (
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// The schema of definitions knows every type of node, and every field that one needs.
func TestSchemaOfDefinitionsIsComplete(t *testing.T) {
	t.Parallel()
	schema, err := value.Parse(toolSchema)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range config.Settings() {
		if s.Name != "tools" {
			continue
		}
		for _, field := range s.Fields {
			if !schema.Get("properties").Has(field.Name) {
				t.Errorf("the schema has no %q of tools", field.Name)
			}
		}
	}
	node := schema.Get("properties").Get("nodes").Get("items").Get("properties")
	types := map[string]bool{}
	for _, name := range node.Get("type").Get("enum").Elems() {
		types[name.Str()] = true
	}
	for _, k := range nodes.All {
		if !types[k.Name] {
			t.Errorf("the schema has no type %q", k.Name)
		}
		for _, f := range graph.FieldsOf(k, false, false) {
			if !f.Optional && !node.Has(f.Name) {
				t.Errorf("the schema has no field %q of %s nodes", f.Name, k.Name)
			}
		}
	}
}
