package nodes_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

const diagnosticsPage = "../../docs/diagnostics.md"

// example is a code of the page, the example that shows it, and what the page
// says it prints.
var example = regexp.MustCompile("(?ms)^### ([a-z-]+)\n\n\\*\\*([a-z]+)\\*\\* · [^\n]+\n\n```yaml\n(.*?)^```\n\n```text\n(.*?)^```\n")

// nodeCodes gives the codes that the building of graphs reports.
func nodeCodes() []diag.CodeInfo {
	first := slices.IndexFunc(diag.Codes, func(c diag.CodeInfo) bool { return c.Code == diag.CodeNodeType })
	end := slices.IndexFunc(diag.Codes, func(c diag.CodeInfo) bool { return c.Code == diag.CodeServerDown })
	return diag.Codes[first:end]
}

// TestExamplesOfDiagnosticsRenderAsThePageSays runs the examples of
// docs/diagnostics.md that are about nodes and graphs, and holds that every
// such code has one.
func TestExamplesOfDiagnosticsRenderAsThePageSays(t *testing.T) {
	page, err := os.ReadFile(diagnosticsPage)
	if err != nil {
		t.Fatal(err)
	}
	codes := slices.Clone(nodeCodes())
	got := example.ReplaceAllStringFunc(string(page), func(entry string) string {
		m := example.FindStringSubmatch(entry)
		code, severity, source, want := m[1], m[2], m[3], m[4]
		i := slices.IndexFunc(codes, func(c diag.CodeInfo) bool { return c.Code == code })
		if i < 0 {
			return entry // a code of reading a file, or of servers
		}
		if severity != codes[i].Severity.String() {
			t.Errorf("%s is of severity %s, the page says %s", code, codes[i].Severity, severity)
		}
		codes = slices.Delete(codes, i, i+1)
		printed := runExample(t, code, source)
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
	text := []byte(source + "version: \"1.0\"\nserver: {name: example, version: 1.0.0}\n")
	ds := slices.DeleteFunc(check(t, name, text), func(d diag.Diagnostic) bool { return d.Code != code })
	var out bytes.Buffer
	if err := diag.WriteText(&out, ds, diag.Sources{name: text}, diag.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
