package repotest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

// editorSchemas writes the schemas that `mcpgraph schema` prints into a folder.
func editorSchemas(t *testing.T, folder string) {
	t.Helper()
	for name, args := range map[string][]string{
		"mcpgraph.schema.json":      {"schema"},
		"mcpgraph-test.schema.json": {"schema", "--test"},
	} {
		out, err := exec.Command("mcpgraph", args...).Output()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), out, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	configModeline = "# yaml-language-server: $schema=mcpgraph.schema.json\n"
	testModeline   = "# yaml-language-server: $schema=mcpgraph-test.schema.json\n"
)

// modeline returns the line that names the schema of a file.
func modeline(file string) string {
	if suite.IsTestFile(file) {
		return testModeline
	}
	return configModeline
}

// problemsAt returns diagnostics as "LINE:COLUMN MESSAGE", counted from 1.
func problemsAt(list []lspDiagnostic) []string {
	var out []string
	for _, d := range list {
		out = append(out, fmt.Sprintf("%d:%d %s", d.Range.Start.Line+1, d.Range.Start.Character+1, d.Message))
	}
	slices.Sort(out)
	return out
}

// editorCase is a file with a mark (‸) where an editor asks for completion or a
// hover text.
type editorCase struct {
	name, text string
	// completion is what is offered, as names and the begin of their descriptions.
	completion map[string]string
	// hover is what the hover text has.
	hover []string
}

// TestYAMLLanguageServer drives the server that most editors use with the
// schemas. Quick runs have the tests of the schemas in pkg/nodes and internal/suite.
func TestYAMLLanguageServer(t *testing.T) {
	t.Parallel()
	testscale.OnlyFull(t)
	s := startYAMLServer(t)
	folder := t.TempDir()
	editorSchemas(t, folder)

	files := map[string]string{} // by their URIs
	for _, pattern := range []string{"examples/*.yaml", "pkg/nodes/reference/*.yaml", "internal/suite/*.test.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		for _, name := range names {
			files[s.open(filepath.Join(folder, filepath.Base(name)), modeline(name)+readFile(t, name))] = name
		}
	}
	for uri, name := range files {
		if problems := s.diagnostics(uri); len(problems) > 0 {
			t.Errorf("%s: %q", name, problemsAt(problems))
		}
	}

	for _, c := range []struct {
		file, text string
		want       []string
	}{
		{"mistakes.yaml", configModeline + `version: "1.0"
server: {name: n, version: 1.0.0, maxCallWaitMs: soon}
mcpServers:
  files: {command: npx, argz: [x]}
tools:
  - name: t
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: list}
      - {id: list, type: mcp, server: files, next: exit}
      - {id: say, type: transfrom, next: exit}
      - {id: exit, type: exit, retries: 3}
`, []string{
			`11:9 Missing property "tool".`,
			`12:25 Value is not accepted. Valid values: "entry", "mcp", "transform", "switch", "map", "parallel", "call", "wait", "ask", "sample", "roots", "fail", "exit".`,
			`13:32 Property retries is not allowed.`,
			`3:50 Incorrect type. Expected "integer".`,
			`5:25 Property argz is not allowed.`,
		}},
		{"mistakes.test.yaml", testModeline + `tests:
  - name: counts
    tool: count_files
    argument: {folder: .}
    timeoutMs: soon
    mocks:
      - {server: files, reply: {text: a}}
      - {server: files, tool: list_directory, reply: {text: a, json: b}}
    expect: {path: entry}
  - tool: count_files
`, []string{
			`10:20 Expected array, or a variable such as ${vars.NAME}.`,
			`11:5 Missing property "name".`,
			`5:5 Property argument is not allowed.`,
			`6:16 Expected integer, or a variable such as ${vars.NAME}.`,
			`8:9 Missing property "tool".`,
			`9:54 Matches multiple schemas when only one must validate.`,
		}},
	} {
		wrong := s.open(filepath.Join(folder, c.file), c.text)
		if got := problemsAt(s.diagnostics(wrong)); !slices.Equal(got, c.want) {
			t.Errorf("problems are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}

	for _, c := range []editorCase{
		{name: "top", text: configModeline + "version: \"1.0\"\n‸", completion: map[string]string{
			"mcpServers": "Upstream MCP servers", "tools": "The tools that the server offers",
		}},
		{name: "server", text: configModeline + "server:\n  name: n\n  ‸", completion: map[string]string{
			"version": "Version of the server", "maxCallWaitMs": "How long a call waits",
		}},
		{name: "upstream", text: configModeline + "mcpServers:\n  files:\n    ‸", completion: map[string]string{
			"command": "Program to start", "retry": "Retry failed calls",
		}},
		{name: "node", text: configModeline + "tools:\n  - name: t\n    nodes:\n      - id: a\n        type: map\n        ‸", completion: map[string]string{
			"items": "The list", "tolerateFailures": "How many",
		}},
		{name: "hover", text: configModeline + "executionLimits:\n  max‸CallDepth: 3\n", hover: []string{
			"Largest depth of tools that call tools", "4",
		}},
		{name: "hover-node", text: configModeline + "tools:\n  - name: t\n    nodes:\n      - id: a\n        type: mcp\n        ou‸tput: text\n", hover: []string{
			"Which part of the reply becomes the node's output", "content",
		}},
		{name: "test", text: testModeline + "tests:\n  - name: a\n    ‸", completion: map[string]string{
			"cases": "Runs the test once for each case", "answers": "Answers to questions", "tool": "The tool to call",
		}},
		{name: "mock", text: testModeline + "mocks:\n  - server: files\n    ‸", completion: map[string]string{
			"replies": "Replies to one call after the other", "times": "How often the mock must be called",
		}},
		{name: "expect", text: testModeline + "tests:\n  - name: a\n    expect:\n      dur‸ationMs: 5\n", hover: []string{
			"How long the run took", "5000",
		}},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, s, folder) })
	}
}

func (c editorCase) run(t *testing.T, s *languageServer, folder string) {
	before, after, found := strings.Cut(c.text, "‸")
	if !found {
		t.Fatal("the text has no mark")
	}
	uri := s.open(filepath.Join(folder, "case-"+c.name+".yaml"), before+after)
	at := map[string]any{
		"textDocument": map[string]any{"uri": uri},
		"position":     lspPosition{strings.Count(before, "\n"), len(before) - 1 - strings.LastIndex(before, "\n")},
	}
	if c.completion != nil {
		var answer struct {
			Items []struct {
				Label         string
				Documentation any
			}
		}
		s.call("textDocument/completion", at, &answer)
		got := map[string]string{}
		for _, item := range answer.Items {
			got[item.Label] = fmt.Sprint(item.Documentation)
		}
		for label, doc := range c.completion {
			if !strings.Contains(got[label], doc) {
				t.Errorf("completion offers %s with %q, want %q; all: %q", label, got[label], doc, got)
			}
		}
	}
	if c.hover != nil {
		var answer struct{ Contents struct{ Value string } }
		s.call("textDocument/hover", at, &answer)
		for _, want := range c.hover {
			if !strings.Contains(answer.Contents.Value, want) {
				t.Errorf("the hover text is %q, want %q in it", answer.Contents.Value, want)
			}
		}
	}
}
