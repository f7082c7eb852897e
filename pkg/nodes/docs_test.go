package nodes_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

const diagnosticsPage = "../../docs/diagnostics.md"

// example is a code of the page with the example that shows it, if it has one,
// and what the page says it prints.
var example = regexp.MustCompile("(?ms)^### ([a-z-]+)\n\n\\*\\*([a-z]+)\\*\\* · [^\n]+\n\n(?:```(yaml|yaml bytes)\n(.*?)^```\n\n)?```text\n(.*?)^```\n")

// TestExamplesOfDiagnosticsRenderAsThePageSays runs the examples of
// docs/diagnostics.md and holds that every code has one, but for those that
// need servers, which have a test of their own.
func TestExamplesOfDiagnosticsRenderAsThePageSays(t *testing.T) {
	page, err := os.ReadFile(diagnosticsPage)
	if err != nil {
		t.Fatal(err)
	}
	live := diag.Codes[serverCodes():]
	codes := slices.Clone(diag.Codes[:serverCodes()])
	got := example.ReplaceAllStringFunc(string(page), func(entry string) string {
		m := example.FindStringSubmatch(entry)
		code, severity, language, text, want := m[1], m[2], m[3], m[4], m[5]
		i := slices.IndexFunc(codes, func(c diag.CodeInfo) bool { return c.Code == code })
		if slices.ContainsFunc(live, func(c diag.CodeInfo) bool { return c.Code == code }) {
			return entry
		}
		if i < 0 {
			t.Errorf("the page has %s, which is no code, or has it twice", code)
			return entry
		}
		if severity != codes[i].Severity.String() {
			t.Errorf("%s is of severity %s, the page says %s", code, codes[i].Severity, severity)
		}
		codes = slices.Delete(codes, i, i+1)
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
// without a source is a file that is not there.
func runExample(t *testing.T, code, source string) string {
	t.Helper()
	const name = "server.yaml"
	var ds []diag.Diagnostic
	if source == "" {
		_, _, ds = config.Load(name, nil, nil)
	} else {
		if code != diag.CodeEmpty && code != diag.CodeDocuments {
			source = complete(source)
		}
		ds = check(t, name, []byte(source))
	}
	ds = slices.DeleteFunc(ds, func(d diag.Diagnostic) bool { return d.Code != code })
	var out bytes.Buffer
	if err := diag.WriteText(&out, ds, diag.Sources{name: []byte(source)}, diag.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// complete adds the required fields that an example leaves out.
func complete(source string) string {
	for _, line := range []string{"version: \"1.0\"\n", "server: {name: example, version: 1.0.0}\n"} {
		key, _, _ := strings.Cut(line, ":")
		if !strings.HasPrefix(source, key+":") && !strings.Contains(source, "\n"+key+":") {
			source = strings.TrimSuffix(source, "\n") + "\n" + line
		}
	}
	return source
}

// nodeCodes gives the codes that the building of graphs reports.
func nodeCodes() []diag.CodeInfo {
	first := slices.IndexFunc(diag.Codes, func(c diag.CodeInfo) bool { return c.Code == diag.CodeNodeType })
	return diag.Codes[first:serverCodes()]
}

// serverCodes gives the place of the first code that asking servers reports.
func serverCodes() int {
	return slices.IndexFunc(diag.Codes, func(c diag.CodeInfo) bool { return c.Code == diag.CodeServerDown })
}
