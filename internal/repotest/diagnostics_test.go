package repotest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var update = flag.Bool("update", os.Getenv("UPDATE") != "", "rewrite the expected output of docs/diagnostics.md")

const diagnosticsPage = "docs/diagnostics.md"

// example is a code of the page with the example that shows it, if it has one,
// and what the page says it prints.
var example = regexp.MustCompile("(?ms)^### ([a-z-]+)\n\n\\*\\*([a-z]+)\\*\\* · [^\n]+\n\n(?:```(yaml|yaml bytes)\n(.*?)^```\n\n)?(?:```json\n(.*?)^```\n\n)?```text\n(.*?)^```\n")

// TestExamplesOfDiagnosticsRenderAsThePageSays runs the examples of
// docs/diagnostics.md, and holds that every code has one.
func TestExamplesOfDiagnosticsRenderAsThePageSays(t *testing.T) {
	installFiles(t)
	page, err := os.ReadFile(diagnosticsPage)
	if err != nil {
		t.Fatal(err)
	}
	codes := slices.Clone(diag.Codes)
	got := example.ReplaceAllStringFunc(string(page), func(entry string) string {
		m := example.FindStringSubmatch(entry)
		code, severity, language, text, lockFile, want := m[1], m[2], m[3], m[4], m[5], m[6]
		i := slices.IndexFunc(codes, isCode(code))
		if i < 0 {
			t.Errorf("the page has %s, which is no code, or has it twice", code)
			return entry
		}
		if severity != codes[i].Severity.String() {
			t.Errorf("%s is of severity %s, the page says %s", code, codes[i].Severity, severity)
		}
		codes = slices.Delete(codes, i, i+1)
		var printed string
		t.Run(code, func(t *testing.T) {
			printed = runExample(t, code, exampleSource(language, text), lockFile)
			if printed == "" {
				t.Error("the example does not show it")
			}
			if printed != want && !*update {
				t.Errorf("the example prints\n%s\nthe page says\n%s", printed, want)
			}
		})
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

func isCode(code string) func(diag.CodeInfo) bool {
	return func(c diag.CodeInfo) bool { return c.Code == code }
}

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
	script := func(name, schema, execution string) string {
		text, err := json.Marshal(mcptest.Script{Tools: []mcptest.Tool{{
			Name: "read_file", InputSchema: json.RawMessage(schema), Execution: json.RawMessage(execution),
		}}})
		if err != nil {
			t.Fatal(err)
		}
		return write(name, text, 0o600)
	}
	good := script("good.json", `{"type": "object", "required": ["path"], "additionalProperties": false,
		"properties": {"path": {"type": "string"}, "lines": {"type": "integer"}}}`, `null`)
	broken := script("broken.json", `{"type": "objekt"}`, `null`)
	task := script("task.json", `{"type": "object"}`, `{"taskSupport": "required"}`)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	write("mcp-files", fmt.Appendf(nil, "#!/bin/sh\nscript=%q\n[ \"$1\" = --broken-schema ] && script=%q\n[ \"$1\" = --tasks ] && script=%q\n%s=1 exec %q \"$script\"\n",
		good, broken, task, fakeServer, self), 0o700)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

var bytesOf = regexp.MustCompile(`<([0-9A-F]{2})(?:\*(\d+))?>`)

// exampleSource gives the bytes that an example stands for.
func exampleSource(language, text string) string {
	if language != "yaml bytes" {
		return text
	}
	return bytesOf.ReplaceAllStringFunc(text, func(s string) string {
		m := bytesOf.FindStringSubmatch(s)
		b, _ := strconv.ParseUint(m[1], 16, 8)
		n, err := strconv.Atoi(m[2])
		if err != nil {
			n = 1
		}
		return strings.Repeat(string([]byte{byte(b)}), n)
	})
}

// runExample gives what is printed for the diagnostics of a code. An example
// without a source is a file that is not there. lockFile is the lock file; it may
// be empty.
func runExample(t *testing.T, code, source, lockFile string) string {
	t.Helper()
	const name = "server.yaml"
	t.Chdir(t.TempDir())
	if source != "" {
		if code != diag.CodeEmpty && code != diag.CodeDocuments {
			source = complete(source)
		}
		if err := os.WriteFile(name, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if lockFile != "" {
		if err := os.WriteFile(lock.Path(name), []byte(completeLock(t, lockFile)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var ds []diag.Diagnostic
	var sources diag.Sources
	opts := []mcpgraph.Option{mcpgraph.WithGetenv(func(string) (string, bool) { return "", false })}
	if code == diag.CodeNoLock {
		opts = append(opts, mcpgraph.WithLockRequired())
	}
	engine, err := mcpgraph.Load(name, opts...)
	var refused *mcpgraph.LoadError
	switch {
	case err == nil:
		defer engine.Close()
		if ds, sources = engine.Diagnostics(); slices.IndexFunc(diag.Codes, isCode(code)) >= slices.IndexFunc(diag.Codes, isCode(diag.CodeServerDown)) {
			ds = engine.CheckLive(context.Background())
		}
	case errors.As(err, &refused):
		ds, sources = refused.Diagnostics, refused.Sources
	default:
		t.Fatal(err)
	}
	ds = slices.DeleteFunc(slices.Clone(ds), func(d diag.Diagnostic) bool { return d.Code != code })
	var out bytes.Buffer
	if err := diag.WriteText(&out, ds, sources, diag.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// completeLock adds the digest of a lock file that has none.
func completeLock(t *testing.T, text string) string {
	t.Helper()
	if strings.Contains(text, `"digest"`) {
		return text
	}
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(text, "{", fmt.Sprintf(`{"digest": "sha256-%x", `, sha256.Sum256(v.Get("servers").Append(nil))), 1)
}

// complete adds the required fields that an example leaves out.
func complete(source string) string {
	for _, line := range []string{"version: \"1.0\"\n", "server: {name: example, version: 1.0.0}\n", "tools: []\n"} {
		key, _, _ := strings.Cut(line, ":")
		if !strings.HasPrefix(source, key+":") && !strings.Contains(source, "\n"+key+":") {
			source = strings.TrimSuffix(source, "\n") + "\n" + line
		}
	}
	return source
}
