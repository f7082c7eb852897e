package nodes_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
)

var update = flag.Bool("update", os.Getenv("UPDATE") != "", "rewrite the expected output of testdata/diag/graph")

// check gives everything that validation finds in a file.
func check(t testing.TB, name string, source []byte) []diag.Diagnostic {
	t.Helper()
	file, ds := config.Parse(name, source, config.Options{Getenv: func(string) (string, bool) { return "", false }})
	if file != nil {
		_, more := graph.Build(file, nodes.All)
		ds = append(ds, more...)
	}
	diag.Sort(ds)
	return ds
}

func TestProblemsOfGraphsAreRenderedAsExpected(t *testing.T) {
	files, err := filepath.Glob("../../testdata/diag/graph/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(file)
			ds := check(t, name, source)
			for _, d := range ds {
				seen[d.Code] = true
				if d.Severity != diag.SeverityOf(d.Code) {
					t.Errorf("%s has severity %s, its code %s", d.Error(), d.Severity, diag.SeverityOf(d.Code))
				}
				if strings.HasSuffix(d.Message, ".") || d.Pos.IsZero() {
					t.Errorf("not a sentence at a place: %+v", d)
				}
			}
			var got bytes.Buffer
			if err := diag.WriteText(&got, ds, diag.Sources{name: source}, diag.TextOptions{}); err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got.String(), want)
			}
		})
	}
	for _, c := range nodeCodes() {
		if !seen[c.Code] {
			t.Errorf("no case shows the code %s", c.Code)
		}
	}
}

func TestFilesWithoutProblemsHaveNone(t *testing.T) {
	files, err := filepath.Glob("../../testdata/ok/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range check(t, file, source) {
			t.Error(d.Error())
		}
	}
}

// nodeCodes returns the codes that the building of graphs reports: those before
// the first that the lock file does.
func nodeCodes() []diag.CodeInfo {
	at := func(code string) int {
		return slices.IndexFunc(diag.Codes, func(c diag.CodeInfo) bool { return c.Code == code })
	}
	return diag.Codes[at(diag.CodeNodeType):at(diag.CodeLock)]
}
