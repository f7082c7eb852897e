package repotest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/expr"
)

// foreignTable is the generated table of forms of other languages.
var foreignTable = regexp.MustCompile(`(?s)(<!-- foreign forms -->\n).*?(<!-- end -->)`)

// TestForeignFormsAreDocumented generates the table of docs/expressions.md from the
// table that validate uses.
func TestForeignFormsAreDocumented(t *testing.T) {
	const path = "docs/expressions.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	rows.WriteString("| elsewhere | here |\n|---|---|\n")
	for _, f := range expr.ForeignForms() {
		write := code(f.Write) + f.Note
		if f.OfText != "" {
			write += "; for a text " + code(f.OfText)
		}
		fmt.Fprintf(&rows, "| %s | %s |\n", code(f.Form), write)
	}
	got := foreignTable.ReplaceAllStringFunc(string(page), func(table string) string {
		m := foreignTable.FindStringSubmatch(table)
		return m[1] + rows.String() + m[2]
	})
	if !strings.Contains(got, "| `None` | `null` |") {
		t.Fatalf("%s has no table of foreign forms", path)
	}
	checkGenerated(t, path, string(page), got)
}

// code writes a text as code in a table of Markdown.
func code(s string) string {
	s = strings.ReplaceAll(s, "|", `\|`)
	if strings.Contains(s, "`") {
		return "`` " + s + " ``"
	}
	return "`" + s + "`"
}

// checkGenerated compares a page with what is generated, and rewrites it for make
// update.
func checkGenerated(t *testing.T, path, page, got string) {
	t.Helper()
	switch {
	case *update:
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	case got != page:
		t.Errorf("%s is not up to date: make update", path)
	}
}
