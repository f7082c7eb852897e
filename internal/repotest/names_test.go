package repotest

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
)

var (
	codeWord   = regexp.MustCompile(`\w+`)
	identifier = regexp.MustCompile(`^[A-Za-z]+(\.[A-Za-z]+)*$`)
	sourceFile = regexp.MustCompile(`^[\w./-]+\.(go|ts|tsx)$`)
)

// TestNamesInArchitectureExist looks for the functions, types and source files that
// docs/architecture.md names in the sources.
func TestNamesInArchitectureExist(t *testing.T) {
	t.Parallel()
	words := map[string]bool{}
	var files []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return filepath.SkipDir
		case sourceFile.MatchString(path):
			files = append(files, "/"+filepath.ToSlash(path))
			if strings.HasPrefix(path, "internal/repotest/") {
				return nil // these name what others have
			}
			for _, word := range codeWord.FindAllString(readFile(t, path), -1) {
				words[word] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, m := range quotedCode.FindAllStringSubmatch(readFile(t, "docs/architecture.md"), -1) {
		code := m[1]
		switch {
		case strings.Contains(code, "NAME"):
			continue
		case sourceFile.MatchString(code):
			if !slices.ContainsFunc(files, func(file string) bool { return strings.HasSuffix(file, "/"+code) }) {
				t.Errorf("there is no file %s", code)
			}
		case identifier.MatchString(code):
			for _, word := range strings.Split(code, ".") {
				if !words[word] {
					t.Errorf("no source has the name %s of %s", word, code)
				}
			}
		default:
			continue
		}
		checked++
	}
	if checked < 100 {
		t.Errorf("only %d names found: has the form of the page changed?", checked)
	}
}

// TestFunctionsOfJSONataAreListed compares the list of docs/jsonata.md with the functions
// of the engine.
func TestFunctionsOfJSONataAreListed(t *testing.T) {
	t.Parallel()
	_, list, _ := strings.Cut(readFile(t, "docs/jsonata.md"), "\n- Every function: ")
	list, _, _ = strings.Cut(list, "\n")
	var listed []string
	for _, name := range strings.Fields(strings.Trim(list, ".")) {
		listed = append(listed, strings.Trim(name, "`$"))
	}
	if want := jsonata.FunctionNames(); !slices.Equal(listed, want) {
		t.Errorf("the page lists %q, the engine has %q", listed, want)
	}
}
