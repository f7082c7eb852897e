package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/internal/suite"
)

// configFiles replaces every folder among the paths by the YAML files in it that
// are wanted.
func configFiles(paths []string, wanted func(path string, text []byte) bool) ([]string, error) {
	var files []string
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			files = append(files, path)
			continue
		}
		found, err := filesIn(path, wanted)
		if err != nil {
			return nil, failed(err)
		}
		if len(found) == 0 {
			return nil, failedf("%s contains no configuration; expected a *.yaml or *.yml file with a top-level key \"tools\"", path)
		}
		files = append(files, found...)
	}
	return files, nil
}

// testFiles replaces every folder among the paths by the test files in it.
func testFiles(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			files = append(files, path)
			continue
		}
		found, err := filesIn(path, func(path string, _ []byte) bool { return suite.IsTestFile(path) })
		if err != nil {
			return nil, failed(err)
		}
		files = append(files, found...)
	}
	return files, nil
}

// toolsKey distinguishes a configuration from other YAML files, even if it does
// not parse.
var toolsKey = regexp.MustCompile(`(?m)^(tools|"tools"|'tools')[ \t]*:`)

// isConfig reports whether a YAML file is a configuration.
func isConfig(_ string, text []byte) bool { return toolsKey.Match(text) }

// filesIn returns the wanted YAML files in a folder and those below it, in lexical
// order. Folders whose names begin with a dot, and node_modules, are left out.
func filesIn(folder string, wanted func(path string, text []byte) bool) (found []string, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != folder && (strings.HasPrefix(name, ".") || name == "node_modules"):
			return filepath.SkipDir
		case !d.IsDir() && (filepath.Ext(name) == ".yaml" || filepath.Ext(name) == ".yml"):
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
				return nil // a link to nothing, or to a folder
			}
			text, err := boundedfile.Read(path)
			if err != nil {
				return err
			}
			if wanted(path, text) {
				found = append(found, path)
			}
		}
		return nil
	})
	return found, err
}
