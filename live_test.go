package mcpgraph_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

var update = flag.Bool("update", os.Getenv("UPDATE") != "", "rewrite the expected output of docs/diagnostics.md that needs servers")

const diagnosticsPage = "docs/diagnostics.md"

// example is a code of the page, the example that shows it, and what the page
// says it prints.
var example = regexp.MustCompile("(?ms)^### ([a-z-]+)\n\n\\*\\*([a-z]+)\\*\\* · [^\n]+\n\n```yaml\n(.*?)^```\n\n```text\n(.*?)^```\n")

// installFiles puts a program mcp-files on the PATH that serves the tool that
// the examples of docs/diagnostics.md call.
func installFiles(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, text []byte, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	script := func(name, schema string) string {
		text, err := json.Marshal(mcptest.Script{Tools: []mcptest.Tool{{Name: "read_file", InputSchema: json.RawMessage(schema)}}})
		if err != nil {
			t.Fatal(err)
		}
		return write(name, text, 0o600)
	}
	good := script("good.json", `{"type": "object", "required": ["path"], "additionalProperties": false,
		"properties": {"path": {"type": "string"}, "lines": {"type": "integer"}}}`)
	broken := script("broken.json", `{"type": "objekt"}`)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	write("mcp-files", fmt.Appendf(nil, "#!/bin/sh\nscript=%q\n[ \"$1\" = --broken-schema ] && script=%q\n%s=1 exec %q \"$script\"\n",
		good, broken, fakeServer, self), 0o700)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// TestExamplesOfLiveDiagnostics runs the examples of docs/diagnostics.md that
// are about servers, and holds that every such code has one.
func TestExamplesOfLiveDiagnostics(t *testing.T) {
	installFiles(t)
	page, err := os.ReadFile(diagnosticsPage)
	if err != nil {
		t.Fatal(err)
	}
	first := slices.IndexFunc(diag.Codes, func(c diag.CodeInfo) bool { return c.Code == diag.CodeServerDown })
	codes := slices.Clone(diag.Codes[first:])
	got := example.ReplaceAllStringFunc(string(page), func(entry string) string {
		m := example.FindStringSubmatch(entry)
		code, severity, source, want := m[1], m[2], m[3], m[4]
		i := slices.IndexFunc(codes, func(c diag.CodeInfo) bool { return c.Code == code })
		if i < 0 {
			return entry // a code that needs no server
		}
		if severity != codes[i].Severity.String() {
			t.Errorf("%s is of severity %s, the page says %s", code, codes[i].Severity, severity)
		}
		codes = slices.Delete(codes, i, i+1)
		printed := runLive(t, code, source)
		if printed == "" {
			t.Errorf("the example of %s does not show it", code)
		}
		if printed != want && !*update {
			t.Errorf("the example of %s prints\n%s\nthe page says\n%s", code, printed, want)
		}
		return strings.TrimSuffix(entry, want+"```\n") + printed + "```\n"
	})
	for _, c := range codes {
		t.Errorf("the page has no example of %s", c.Code)
	}
	if *update {
		if err := os.WriteFile(diagnosticsPage, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// runLive gives what is printed for the diagnostics of a code.
func runLive(t *testing.T, code, source string) string {
	t.Helper()
	text := []byte(source + "version: \"1.0\"\nserver: {name: example, version: 1.0.0}\n")
	if !strings.Contains(source, "tools:") {
		text = append(text, "tools: []\n"...)
	}
	path := filepath.Join(t.TempDir(), "server.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	engine, err := mcpgraph.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	ds := slices.DeleteFunc(engine.CheckLive(context.Background()), func(d diag.Diagnostic) bool { return d.Code != code })
	for i := range ds {
		ds[i].File = filepath.Base(path)
	}
	var out bytes.Buffer
	if err := diag.WriteText(&out, ds, diag.Sources{"server.yaml": text}, diag.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
