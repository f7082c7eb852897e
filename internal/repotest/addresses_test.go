package repotest

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/project"
)

var (
	// addressOfProject is the address of this project or of one beside it.
	addressOfProject = regexp.MustCompile(`github\.com/mcpgraph/[\w.-]+`)
	// moduleLiteral is such an address in a text of Go, not in an import.
	moduleLiteral = regexp.MustCompile(`(?m)^.*(https://github\.com/mcpgraph|[=(,:][ \t]*"github\.com/mcpgraph/mcpgraph").*$`)
	// inComment is a line of a comment, which links.
	inComment = regexp.MustCompile(`^\s*//`)
)

// TestAddressesAreMadeFromOneConstant looks into the program, whose addresses are made
// by internal/project, and into the documents and the files for GitHub, which name the
// same module.
func TestAddressesAreMadeFromOneConstant(t *testing.T) {
	t.Parallel()
	if want := strings.TrimPrefix(strings.SplitN(readFile(t, "go.mod"), "\n", 2)[0], "module "); project.Module != want {
		t.Errorf("the constant is %s, the module %s", project.Module, want)
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "node_modules" || name == "testdata" || name == "dist" || name == ".git" || path == "internal/project"):
			return filepath.SkipDir
		case d.IsDir():
		case filepath.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go"):
			for _, line := range moduleLiteral.FindAllString(readFile(t, path), -1) {
				if !inComment.MatchString(line) && !strings.HasPrefix(line, "import ") {
					t.Errorf("%s has an address of its own: %s", path, strings.TrimSpace(line))
				}
			}
		case filepath.Ext(name) == ".md" || filepath.Ext(name) == ".yml" || filepath.Ext(name) == ".yaml":
			for _, address := range addressOfProject.FindAllString(readFile(t, path), -1) {
				if strings.TrimRight(address, ".") != project.Module {
					t.Errorf("%s has the address %s of another project", path, address)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
