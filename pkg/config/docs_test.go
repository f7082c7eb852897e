package config

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

const diagnosticsPage = "../../docs/diagnostics.md"

// example is a code of the page with the example that shows it, if it has one,
// and what the page says it prints.
var example = regexp.MustCompile("(?ms)^### ([a-z-]+)\n\n\\*\\*([a-z]+)\\*\\* · [^\n]+\n\n(?:```(yaml|yaml bytes)\n(.*?)^```\n\n)?```text\n(.*?)^```\n")

var bytesOf = regexp.MustCompile(`<([0-9A-F]{2})(?:\*(\d+))?>`)

// exampleSource gives the bytes that an example stands for.
func exampleSource(language, text string) string {
	if language == "yaml bytes" {
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
	return text
}

// fileCodes gives the codes that this package reports.
func fileCodes() []diag.CodeInfo {
	last := slices.IndexFunc(diag.Codes, func(c diag.CodeInfo) bool { return c.Code == diag.CodePassthrough })
	return diag.Codes[:last+1]
}

// TestExamplesOfDiagnostics runs the examples of docs/diagnostics.md that are
// about files, and holds that every code has one.
func TestExamplesOfDiagnostics(t *testing.T) {
	page, err := os.ReadFile(diagnosticsPage)
	if err != nil {
		t.Fatal(err)
	}
	codes := fileCodes()
	got := example.ReplaceAllStringFunc(string(page), func(entry string) string {
		m := example.FindStringSubmatch(entry)
		code, severity, language, text, want := m[1], m[2], m[3], m[4], m[5]
		i := slices.IndexFunc(codes, func(c diag.CodeInfo) bool { return c.Code == code })
		if i < 0 {
			return entry // a code of nodes
		}
		if severity != codes[i].Severity.String() {
			t.Errorf("%s is of severity %s, the page says %s", code, codes[i].Severity, severity)
		}
		codes = slices.Delete(slices.Clone(codes), i, i+1)
		printed := runExample(t, code, exampleSource(language, text))
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

// runExample gives what is printed for the diagnostics of a code.
func runExample(t *testing.T, code, source string) string {
	t.Helper()
	const name = "server.yaml"
	var ds []diag.Diagnostic
	if source == "" {
		_, _, ds = Load(name, nil, nothingSet)
	} else {
		if code != diag.CodeEmpty && code != diag.CodeDocuments {
			source = complete(source)
		}
		_, ds = Parse(name, []byte(source), Options{Getenv: nothingSet})
	}
	ds = slices.DeleteFunc(ds, func(d diag.Diagnostic) bool { return d.Code != code })
	return render(t, name, []byte(source), ds)
}
