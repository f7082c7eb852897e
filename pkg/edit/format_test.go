package edit_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/edit"
)

// yamlFiles returns the YAML files of the repository.
func yamlFiles(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "node_modules" || name == ".git") {
			return filepath.SkipDir
		}
		if ext := filepath.Ext(path); !d.IsDir() && (ext == ".yaml" || ext == ".yml") {
			files[path], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 100 {
		t.Fatalf("found only %d files", len(files))
	}
	return files
}

// mustFormat formats a text and checks that formatting the result changes
// nothing.
func mustFormat(t testing.TB, path string, source []byte) []byte {
	t.Helper()
	out, err := edit.Format(path, source)
	if err != nil {
		t.Fatalf("%s: %v\n%s", path, err, source)
	}
	again, err := edit.Format(path, out)
	if err != nil {
		t.Fatalf("%s, the second time: %v\n%s", path, err, out)
	}
	if !bytes.Equal(out, again) {
		t.Fatalf("%s: formatting twice differs from once:\n%s\n--- again:\n%s", path, out, again)
	}
	return out
}

func TestEveryFileOfTheRepositoryCanBeFormatted(t *testing.T) {
	formatted := 0
	for path, source := range yamlFiles(t) {
		var invalid *edit.InvalidError
		if _, err := edit.Format(path, source); asInvalid(err, &invalid) {
			continue // files with errors in them, for the tests of diagnostics
		}
		mustFormat(t, path, source)
		mustFormat(t, path, marked(source))
		formatted++
	}
	if formatted < 100 {
		t.Errorf("only %d files were formatted", formatted)
	}
}

func TestExamplesAreFormatted(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "examples", "*.yaml"))
	if err != nil || len(paths) < 10 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if out := mustFormat(t, path, source); !bytes.Equal(out, source) {
			t.Errorf("%s is not formatted; run mcpgraph fmt examples", path)
		}
	}
}

// text removes the indentation that the Go source gives a text.
func text(s string) string {
	s = strings.TrimPrefix(s, "\n")
	indent := len(s) - len(strings.TrimLeft(s, "\t"))
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, strings.Repeat("\t", indent))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\t")
}

func TestFormat(t *testing.T) {
	for _, tt := range formats {
		t.Run(tt.name, func(t *testing.T) {
			path := tt.path
			if path == "" {
				path = "tools.yaml"
			}
			if got := string(mustFormat(t, path, []byte(text(tt.in)))); got != text(tt.want) {
				t.Errorf("got\n%s\nwant\n%s", got, text(tt.want))
			}
		})
	}
}
