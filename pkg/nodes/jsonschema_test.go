package nodes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// editorSchema compiles the schema that editors are given.
func editorSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mcpgraph.json", graph.JSONSchema(nodes.All).Any()); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mcpgraph.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// anyYAML returns a file as an editor's schema sees it.
func anyYAML(t *testing.T, source []byte) any {
	t.Helper()
	// The whole file is read as the nodes of another one, which makes its
	// values accessible.
	indented := "nodes:\n  - " + strings.ReplaceAll(strings.TrimSpace(string(source)), "\n", "\n    ")
	file, _ := config.Parse("x.yaml", []byte(indented), config.Options{})
	if file == nil || len(file.Nodes) != 1 {
		t.Fatalf("cannot read\n%s", indented)
	}
	return file.Nodes[0].Value().Any()
}

func TestEditorSchemaAcceptsEveryFileWithoutProblems(t *testing.T) {
	schema := editorSchema(t)
	for _, pattern := range []string{"../../testdata/ok/*.yaml", "../../examples/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(anyYAML(t, source)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

func TestEditorSchemaAcceptsTheFilesOfRuns(t *testing.T) {
	schema := editorSchema(t)
	files, err := filepath.Glob("../../testdata/run/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if f.Name != "config.yaml" {
				continue
			}
			if err := schema.Validate(anyYAML(t, f.Data)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// What stands in bodies, rules and values of the control-flow nodes is described,
// too, so that an editor marks what decoders refuse.
func TestEditorSchemaKnowsControlFlow(t *testing.T) {
	schema := editorSchema(t)
	const body = "nodes: [{id: x, type: transform, transform: {expr: '1'}}]"
	for node, good := range map[string]bool{
		"{id: n, type: map, items: [1], " + body + ", next: e}":                                       true,
		"{id: n, type: map, items: {expr: $.a}, body: {" + body + ", catch: {next: x}}, next: e}":     true,
		"{id: n, type: map, items: [1], next: e}":                                                     false,
		"{id: n, type: map, items: [1], " + body + ", body: {" + body + "}, next: e}":                 false,
		"{id: n, type: map, items: [1], " + body + "}":                                                false,
		"{id: n, type: map, items: [1], tolerateFailures: 10%, " + body + ", next: e}":                true,
		"{id: n, type: map, items: [1], tolerateFailures: ten, " + body + ", next: e}":                false,
		"{id: n, type: map, items: [1], maxConcurrency: 0, " + body + ", next: e}":                    true,
		"{id: n, type: map, items: [1], nodes: [{id: x, type: transform}], next: e}":                  false,
		"{id: n, type: map, items: [1], nodes: [{id: x, type: mapp}], next: e}":                       false,
		"{id: n, type: parallel, branches: {a: [{id: x, type: exit}]}, wait: first, next: e}":         true,
		"{id: n, type: parallel, branches: {a: {" + body + "}}, next: e}":                             true,
		"{id: n, type: parallel, branches: {a: 5}, next: e}":                                          false,
		"{id: n, type: parallel, branches: {}, next: e}":                                              false,
		"{id: n, type: wait, ms: 5, next: e}":                                                         true,
		"{id: n, type: wait, ms: {expr: $.a}, next: e}":                                               true,
		"{id: n, type: wait, ms: 5, until: 7, next: e}":                                               false,
		"{id: n, type: wait, ms: soon, next: e}":                                                      false,
		"{id: n, type: wait, next: e}":                                                                false,
		"{id: n, type: fail}":                                                                         true,
		"{id: n, type: fail, error: gone, message: {expr: $.a}, data: [1]}":                           true,
		"{id: n, type: fail, next: e}":                                                                false,
		"{id: n, type: call, tool: t, retry: {errors: [5xx, 503, -32001]}, next: e}":                  true,
		"{id: n, type: call, tool: t, retry: [{maxAttempts: 0}], next: e}":                            false,
		"{id: n, type: call, tool: t, catch: {errors: [timeout], when: {expr: a}, next: e}, next: e}": true,
		"{id: n, type: call, tool: t, catch: [{errors: [timeout]}], next: e}":                         false,
		"{id: n, type: call, tool: t, timeoutMs: 0, next: e}":                                         false,
		"{id: n, type: transform, transform: {expr: '1'}, timeoutMs: 5, next: e}":                     false,
	} {
		source := "version: \"1.0\"\nserver: {name: n, version: v}\ntools:\n  - name: t\n    inputSchema: {}\n    nodes:\n      - " + node + "\n"
		if err := schema.Validate(anyYAML(t, []byte(source))); (err == nil) != good {
			t.Errorf("%s: %v", node, err)
		}
	}
}

func TestEditorSchemaRefusesWhatDecodersRefuse(t *testing.T) {
	schema := editorSchema(t)
	for _, file := range []string{"fields", "unknown-node-type", "conflicts-flat"} {
		source, err := os.ReadFile("../../testdata/diag/graph/" + file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(anyYAML(t, source)); err == nil {
			t.Errorf("%s is accepted", file)
		}
	}
}

// TestEditorSchemaKnowsTheFieldsThatDecodersTake decodes a node of each kind
// with a field that does not exist: the valid names of the diagnostic are those
// of the schema.
func TestEditorSchemaKnowsTheFieldsThatDecodersTake(t *testing.T) {
	root := graph.JSONSchema(nodes.All)
	for _, kind := range nodes.All {
		properties := root.Get("definitions").Get("node-" + kind.Name).Get("properties")
		var want []string
		for _, e := range properties.Entries() {
			want = append(want, e.Key)
			if e.Value.Get("description").Str() == "" {
				t.Errorf("field %s of %s has no description", e.Key, kind.Name)
			}
		}
		source := `
version: "1.0"
server: {name: test, version: "1"}
tools:
  - name: t
    description: Test
    inputSchema: {type: object}
    nodes: [{id: n, type: ` + kind.Name + `, resembling_nothing: 1}]
`
		found := false
		for _, d := range check(t, "x.yaml", []byte(source)) {
			if d.Code == diag.CodeUnknownField {
				found = strings.Contains(d.Hint, diag.List(want))
			}
		}
		if !found {
			t.Errorf("%s: the decoder does not take %s", kind.Name, diag.List(want))
		}
	}
}

func TestEditorSchemaIsDraft07WithDescriptions(t *testing.T) {
	root := graph.JSONSchema(nodes.All)
	if got := root.Get("$schema").Str(); got != "http://json-schema.org/draft-07/schema#" {
		t.Errorf("$schema is %q", got)
	}
	var walk func(path string, v value.Value)
	walk = func(path string, v value.Value) {
		for _, e := range v.Get("properties").Entries() {
			if path != "nodes" && e.Value.Get("description").Str() == "" {
				t.Errorf("%s.%s has no description", path, e.Key)
			}
			walk(path+"."+e.Key, e.Value)
			walk(path+"."+e.Key, e.Value.Get("items"))
			walk(path+"."+e.Key, e.Value.Get("additionalProperties"))
		}
	}
	walk("", root)
}

func TestEditorSchemaTakesCallersTokensInBothForms(t *testing.T) {
	schema := editorSchema(t)
	for token, good := range map[string]bool{
		`"${TOKEN}"`:                             true,
		"{token: x, scopes: [a]}":                true,
		"{token: x, scopes: a b, x-note: [...]}": true,
		"7":                                      false,
		"{scopes: [a]}":                          false,
		"{token: x, scope: a}":                   false,
	} {
		source := "version: \"1.0\"\nserver: {name: n, version: v, auth: {type: bearer, tokens: {ann: " + token + "}}}\n"
		if err := schema.Validate(anyYAML(t, []byte(source))); (err == nil) != good {
			t.Errorf("%s: %v", token, err)
		}
	}
}
