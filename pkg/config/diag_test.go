package config

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

var update = flag.Bool("update", os.Getenv("UPDATE") != "", "rewrite the expected output of testdata/diag/config")

// nothingSet is an environment without variables.
func nothingSet(string) (string, bool) { return "", false }

func render(t *testing.T, path string, source []byte, ds []diag.Diagnostic) string {
	t.Helper()
	var out bytes.Buffer
	if err := diag.WriteText(&out, ds, diag.Sources{path: source}, diag.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestDiagnosticsOfFiles compares what each file testdata/diag/config/*.yaml
// gives with the .txt file beside it.
func TestDiagnosticsOfFiles(t *testing.T) {
	files, err := filepath.Glob("../../testdata/diag/config/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(strings.TrimSuffix(name, ".yaml"), func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f, ds := Parse(name, source, Options{Getenv: nothingSet})
			if f == nil && !diag.HasErrors(ds) {
				t.Error("there is no file and no error either")
			}
			for _, d := range ds {
				seen[d.Code] = true
				if d.File != name || d.Pos.IsZero() {
					t.Errorf("without a place: %v", d)
				}
			}
			if f != nil {
				source = f.Source
			}
			got, golden := render(t, name, source, ds), strings.TrimSuffix(file, ".yaml")+".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	for _, c := range fileCodes() {
		if c.Code != diag.CodeFile && !seen[c.Code] {
			t.Errorf("no file shows %q", c.Code)
		}
	}
}

// fileCodes returns the codes that this package reports.
func fileCodes() []diag.CodeInfo {
	last := slices.IndexFunc(diag.Codes, func(c diag.CodeInfo) bool { return c.Code == diag.CodeUnheldScope })
	return diag.Codes[:last+1]
}
