// Package repotest holds the tests of the repository as a whole: its documents,
// examples, layers of packages and files for packaging. They run in the
// repository's root.
package repotest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcpgraph/mcpgraph/internal/cli"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/temporal"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

// fakeServer is the variable that makes the test binary a fake MCP server; the
// script is its first argument.
const fakeServer = "MCPGRAPH_FAKE_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(fakeServer) != "" {
		os.Exit(mcptest.Run())
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else what -race built sleeps a second at its exit
	testscale.SetGOGC()
	// The program is the test binary under its name, first in PATH.
	testscript.Main(inRoot{m}, map[string]func(){"mcpgraph": func() {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ(), temporal.Dial))
	}})
}

// inRoot runs the tests in the repository's root.
type inRoot struct{ *testing.M }

func (m inRoot) Run() int {
	if err := enterRoot(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer removeBuilt()
	return m.M.Run()
}

// enterRoot makes the folder of go.mod the working directory.
func enterRoot() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return os.Chdir(dir)
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		return errors.New("no folder above this one holds a go.mod")
	}
}
