package repotest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
)

// referenceTable is a table of docs/language.md whose rows are those of a table of the
// code.
var referenceTable = regexp.MustCompile(`(?s)(<!-- (file keys|node types) -->\n)(.*?)(<!-- end -->)`)

// TestReferenceOfTheLanguageIsComplete makes the rows of the reference tables of
// docs/language.md: which keys and types there are, and their fields, is what the code
// has. The last column is written by hand; a new row has the words of the code.
func TestReferenceOfTheLanguageIsComplete(t *testing.T) {
	const path = "docs/language.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tables := 0
	got := referenceTable.ReplaceAllStringFunc(string(page), func(table string) string {
		tables++
		m := referenceTable.FindStringSubmatch(table)
		written := map[string]string{} // the last columns, by what the rows are about
		for _, row := range strings.Split(m[3], "\n") {
			cells := strings.Split(strings.Trim(row, "| "), " | ")
			if name := regexp.MustCompile("`([a-zA-Z]+)`").FindStringSubmatch(cells[0]); name != nil {
				written[name[1]] = cells[len(cells)-1]
			}
		}
		words := func(name, doc string) string {
			if w := written[name]; w != "" {
				return w
			}
			return doc
		}
		var rows strings.Builder
		if m[2] == "file keys" {
			rows.WriteString("| key | default | |\n|---|---|---|\n")
			for _, s := range config.Settings() {
				fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", s.Name, defaultOf(s), words(s.Name, s.Doc))
			}
		} else {
			rows.WriteString("| type | fields | output |\n|---|---|---|\n")
			for _, k := range nodes.All {
				fmt.Fprintf(&rows, "| %s | %s | %s |\n", linked(string(page), k.Name), fieldList(k), words(k.Name, k.Doc))
			}
		}
		return m[1] + rows.String() + m[4]
	})
	if tables != 2 {
		t.Fatalf("%s has %d reference tables", path, tables)
	}
	checkGenerated(t, path, string(page), got)
}

// linked returns the name of a node type with a link to its section, if it has one.
func linked(page, name string) string {
	m := regexp.MustCompile(`(?m)^### (.*: ` + name + `)$`).FindStringSubmatch(page)
	if m == nil {
		return "`" + name + "`"
	}
	slug := strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(m[1], ":", "")), " ", "-")
	return fmt.Sprintf("[`%s`](#%s)", name, slug)
}

// fieldList lists the fields of a node type; those in brackets are optional. Every node
// can have the policies for failures, which are documented together.
func fieldList(k *graph.Kind) string {
	var list []string
	for _, f := range graph.FieldsOf(k, false, false) {
		switch {
		case f.Name == "catch", f.Name == "retry", f.Name == "timeoutMs" && f.Optional && k.Name != "ask":
		case f.Optional:
			list = append(list, "`["+f.Name+"]`")
		default:
			list = append(list, "`"+f.Name+"`")
		}
	}
	return strings.Join(list, ", ")
}

// TestFailuresOfTheLanguageAreDocumented wants each name of a failure in the section
// that lists them.
func TestFailuresOfTheLanguageAreDocumented(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(readFile(t, "docs/language.md"), "\n### Failures\n")
	section, _, _ = strings.Cut(section, "\n## ")
	names := regexp.MustCompile(`(?m)^\tFail\w+ += "(\w+)"`).FindAllStringSubmatch(readFile(t, "pkg/graph/failure.go"), -1)
	if len(names) < 20 {
		t.Fatalf("found %d names of failures", len(names))
	}
	for _, n := range names {
		if !strings.Contains(section, "`"+n[1]+"`") {
			t.Errorf("docs/language.md, Failures: no `%s`", n[1])
		}
	}
}
