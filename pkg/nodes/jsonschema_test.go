package nodes_test

import (
	"os"
	"path/filepath"
	"strconv"
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
	if err := c.AddResource("mcpgraph.json", nodes.JSONSchema().Any()); err != nil {
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
			if strings.HasSuffix(file, ".test.yaml") {
				continue
			}
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
	root := nodes.JSONSchema()
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

// keysOf calls f for each key that a schema knows, with its place in the schema.
func keysOf(place string, v value.Value, f func(place string, key value.Value)) {
	switch v.Kind() {
	case value.Object:
		for _, e := range v.Entries() {
			inner := place + "/" + e.Key
			if strings.HasSuffix(place, "/properties") && !strings.Contains(place, "/if/") {
				f(inner, e.Value)
			}
			if e.Key != "examples" && e.Key != "default" {
				keysOf(inner, e.Value, f)
			}
		}
	case value.Array:
		for i, item := range v.Elems() {
			keysOf(place+"/"+strconv.Itoa(i), item, f)
		}
	}
}

func TestEditorSchemaDescribesEveryKeyWithExamples(t *testing.T) {
	root := nodes.JSONSchema()
	if got := root.Get("$schema").Str(); got != "http://json-schema.org/draft-07/schema#" {
		t.Errorf("$schema is %q", got)
	}
	if got := root.Get("$id").Str(); got != graph.SchemaID {
		t.Errorf("$id is %q", got)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(graph.SchemaID, root.Any()); err != nil {
		t.Fatal(err)
	}
	keys := 0
	keysOf("", root, func(place string, key value.Value) {
		keys++
		if key.Get("description").Str() == "" {
			t.Errorf("%s has no description", place)
		}
		examples := key.Get("examples")
		if examples.Len() == 0 {
			t.Errorf("%s has no example", place)
			return
		}
		s, err := c.Compile(graph.SchemaID + "#" + place)
		if err != nil {
			t.Fatal(err)
		}
		for _, example := range examples.Elems() {
			if err := s.Validate(example.Any()); err != nil {
				t.Errorf("%s: the example %s is not valid: %v", place, example.JSON(), err)
			}
		}
	})
	if keys < 450 {
		t.Errorf("found only %d keys", keys)
	}
}

// The examples of the schema come from files that are valid as a whole.
func TestReferenceFilesAreValid(t *testing.T) {
	schema := editorSchema(t)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "files.env"), []byte("A=b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, source := range nodes.References() {
		file, ds := config.Parse(filepath.Join(folder, "x.yaml"), source, config.Options{
			Getenv: func(name string) (string, bool) { return "the-value-of-" + name, true },
		})
		_, more := graph.Build(file, nodes.All)
		for _, d := range append(ds, more...) {
			if d.Code == diag.CodeUnusedServer {
				continue // those with the settings of servers have no tools
			}
			t.Errorf("%v\n%s", d, source)
		}
		if err := schema.Validate(anyYAML(t, source)); err != nil {
			t.Errorf("%v\n%s", err, source)
		}
	}
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
