package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/internal/project"
	"github.com/mcpgraph/mcpgraph/internal/scaffold"
	"github.com/mcpgraph/mcpgraph/internal/suite"
)

// target is where init writes.
type target struct {
	config, test string
	tool         string // the name of the new tool; empty is that of the upstream tool
	// oldConfig and oldTest are the texts of files that exist; nil for the others.
	oldConfig, oldTest []byte
}

// newTarget returns the files that init is to write, or to add a tool to.
func newTarget(config, tool string) (target, error) {
	ext := filepath.Ext(config)
	base := strings.TrimSuffix(config, ext)
	if info, err := os.Stat(config); err == nil && info.IsDir() {
		return target{}, usagef("%s is a folder; name a file in it, such as %s", config, filepath.Join(config, defaultFile))
	}
	if ext != ".yaml" && ext != ".yml" {
		return target{}, usagef("FILE is %q; expected a name that ends in .yaml or .yml", config)
	}
	if strings.HasSuffix(base, ".test") {
		return target{}, usagef("FILE is %q, the name of a test file; init adds .test itself", config)
	}
	t := target{config: config, test: base + ".test" + ext, tool: tool}
	for path, old := range map[string]*[]byte{t.config: &t.oldConfig, t.test: &t.oldTest} {
		text, err := boundedfile.Read(path)
		switch {
		case err == nil:
			*old = append([]byte{}, text...)
		case !errors.Is(err, fs.ErrNotExist):
			return t, failed(err)
		}
	}
	if t.oldConfig == nil && t.oldTest != nil {
		return t, existsAlready(t.test)
	}
	if t.oldConfig != nil && suite.KindOf(config, t.oldConfig) != suite.Configuration {
		return t, failedf("%s exists already and is not a file of mcpgraph; give another name", config)
	}
	folder := filepath.Dir(config)
	if _, err := os.Stat(folder); err != nil {
		return t, failedf("the folder %s does not exist; create it first: mkdir -p %s", folder, shellWord(folder))
	}
	return t, nil
}

// scaffold returns the target as the files are made for it.
func (t target) scaffold() scaffold.Target {
	folder := filepath.Dir(t.config)
	return scaffold.Target{
		Config: t.config, Test: t.test, Tool: t.tool,
		ConfigSchema: schemaOf(folder, project.ConfigSchema), TestSchema: schemaOf(folder, project.TestSchema),
	}
}

// schemaOf returns what a file in a folder names as its JSON Schema: the one beside it,
// else that of this program's release. A build that is no release has none.
func schemaOf(folder, name string) string {
	if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
		return name
	}
	return project.Released(mcpgraph.Version(), name)
}

// write writes both files, or none.
func (t target) write(files scaffold.Files) error {
	if err := create(t.config, files.Config); err != nil {
		return err
	}
	if err := create(t.test, files.Test); err != nil {
		return errors.Join(err, os.Remove(t.config))
	}
	return nil
}

func existsAlready(path string) error {
	return failedf("%s exists already; give another name, or remove it first", path)
}

// create writes a file that does not exist yet.
func create(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return existsAlready(path)
	}
	if err != nil {
		return failed(fmt.Errorf("cannot write: %w", err))
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return failed(errors.Join(err, os.Remove(path)))
	}
	return nil
}
