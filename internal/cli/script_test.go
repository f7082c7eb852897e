package cli_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

// raceOptions keep a program that was built with -race from sleeping a second
// at its exit.
const raceOptions = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	os.Setenv("GORACE", raceOptions)
	testscale.SetGOGC()
	_ = flag.Set("test.parallel", "8") // most of these tests wait for processes
	testscript.Main(inPath{m}, map[string]func(){
		"mcpgraph":        program,
		"mcpgraphtoolkit": program,
		sharedName:        runMany,
		"browser":         browser,
	})
}

// inPath runs the tests with the fake server in PATH.
type inPath struct{ *testing.M }

func (m inPath) Run() int {
	path, err := mcptest.Program()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	os.Setenv("PATH", filepath.Dir(path)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return m.M.Run()
}

// TestScripts runs every command as a person or a program would: its output,
// its streams and its exit code.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", raceOptions)
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, ".state"))
			e.Setenv("GOGC", os.Getenv("GOGC"))
			share(e)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":   code,
			"sparse": sparse,
			"web":    web,
		},
	})
}

// sparse makes a file of zeros that takes no room on disk: sparse FILE BYTES.
func sparse(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sparse FILE BYTES")
	}
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(errors.Join(f.Truncate(size), f.Close()))
}

// web serves a script of mcptest over HTTP and puts its address into a
// variable: web VARIABLE SCRIPT [modern].
func web(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: web VARIABLE SCRIPT [modern]")
	}
	w := &mcptest.Web{Modern: len(args) > 2}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &w.Script))
	s := httptest.NewServer(w)
	ts.Defer(s.Close)
	ts.Setenv(args[0], s.URL)
}
