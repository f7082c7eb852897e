package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/internal/textline"
)

// defaultFolder is what validate, fmt and test take, and where init writes, if the command
// line names nothing: the current folder.
const defaultFolder = "."

// defaultFile is the file that init writes in defaultFolder.
const defaultFile = "tools.yaml"

// pathsOr returns the paths of a command line, or the default.
func pathsOr(args []string) []string {
	if len(args) == 0 {
		return []string{defaultFolder}
	}
	return args
}

// fileSearch finds the files of mcpgraph in folders.
type fileSearch struct {
	*app
	tests   bool // test files alone
	verbose bool // say which files were skipped
	skipped int
}

// files replaces every folder among the paths by our files in it. If a folder has none,
// the command line names the wrong folder.
func (s *fileSearch) files(paths []string) ([]string, error) {
	var files []string
	stdin := false
	for _, path := range paths {
		if path == "-" && stdin {
			return nil, usagef("stdin can be read once; name a file")
		}
		stdin = stdin || path == "-"
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			files = append(files, path)
			continue
		}
		found, err := s.filesIn(path)
		if err != nil {
			return nil, failed(err)
		}
		if len(found) == 0 {
			return nil, s.nothingIn(path)
		}
		files = append(files, found...)
	}
	return files, nil
}

func (s *fileSearch) nothingIn(folder string) error {
	what, expected := "no file of mcpgraph", `a *.yaml or *.yml file with "version" and "tools", for example`
	if s.tests {
		what, expected = "no test file", "a file with a name such as NAME.test.yaml and a key \"tests\""
	}
	skipped := ""
	switch {
	case s.skipped > 0 && !s.verbose:
		skipped = fmt.Sprintf("; %s skipped, which -v names", textline.Count(s.skipped, "other YAML file"))
	case s.skipped > 0:
		skipped = fmt.Sprintf("; %s skipped", textline.Count(s.skipped, "other YAML file"))
	}
	return usagef("%s has %s; expected %s%s", folder, what, expected, skipped)
}

// filesIn returns our files in a folder and those below it, in lexical order. Folders
// whose names begin with a dot, and node_modules, are left out.
func (s *fileSearch) filesIn(folder string) (found []string, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != folder && (strings.HasPrefix(name, ".") || name == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".yaml" && filepath.Ext(name) != ".yml", s.tests && !suite.IsTestFile(path):
			return nil
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return nil // a link to nothing, or to a folder
		}
		text, err := boundedfile.Read(path)
		if err != nil {
			return err
		}
		if suite.KindOf(path, text) != suite.Foreign {
			found = append(found, path)
			return nil
		}
		s.skipped++
		if s.verbose {
			fmt.Fprintf(s.stderr, "mcpgraph: skipped %s, which is not a file of mcpgraph\n", visible(path))
		}
		return nil
	})
	return found, err
}
