package cli_test

import (
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestDurableScripts runs the commands of durable runs on the Temporal server whose
// address is in MCPGRAPH_TEMPORAL, such as that of testdata/temporalserver.
func TestDurableScripts(t *testing.T) {
	address := os.Getenv("MCPGRAPH_TEMPORAL")
	if address == "" {
		t.Skip("MCPGRAPH_TEMPORAL is not set; see testdata/temporalserver")
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/durable",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", raceOptions)
			e.Setenv("TEMPORAL_ADDRESS", net.JoinHostPort(host, port))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code, "detached": detached, "shows": shows, "holds": holds},
	})
}

// shows waits until runs show shows something of a run: shows RUN PATTERN.
func shows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: shows RUN PATTERN")
	}
	await(ts, args[1], func() bool { return ts.Exec("mcpgraph", "runs", "show", args[0]) == nil }, "stdout")
}

// holds waits until a file holds something: holds FILE PATTERN.
func holds(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: holds FILE PATTERN")
	}
	await(ts, args[1], func() bool { return true }, args[0])
}

// await waits until a file, which refresh writes where it is true, matches a pattern.
func await(ts *testscript.TestScript, pattern string, refresh func() bool, file string) {
	wanted, err := regexp.Compile(pattern)
	ts.Check(err)
	for end := time.Now().Add(30 * time.Second); !refresh() || !wanted.MatchString(ts.ReadFile(file)); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("%s does not come to hold %s", file, pattern)
		}
	}
}

// detached starts a run and puts its id into a variable: detached VARIABLE TOOL.
func detached(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: detached VARIABLE TOOL")
	}
	ts.Check(ts.Exec("mcpgraph", "run", "tools.yaml", args[1], "--engine", "temporal", "--detach"))
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}
