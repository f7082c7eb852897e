package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

var shortWait = regexp.MustCompile(`type: wait, ms: (10|50),`)

// TestConformance runs the server half of the public conformance suite of MCP
// against the program.
func TestConformance(t *testing.T) {
	t.Parallel()
	mcptest.RealServers(t)
	source, err := os.ReadFile("../../testdata/conformance/server.mcpgraph.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, revision string
		durable        bool
	}{
		{legacyRevision, legacyRevision, false},
		{modernRevision, modernRevision, false},
		{modernRevision + ", durable", modernRevision, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.revision == modernRevision {
				testscale.OnlyFull(t) // its scenarios wait for ten seconds
			}
			source, path := source, filepath.Join(t.TempDir(), "server.mcpgraph.yaml")
			// version returns the file after so many changes. The suite asks for one after
			// the other.
			version := func(changes int) string {
				if changes == 0 {
					return string(source)
				}
				return strings.NewReplacer("Gives a text", fmt.Sprintf("Gives text %d", changes), "Has no arguments", fmt.Sprintf("Is version %d", changes)).Replace(string(source))
			}
			var w *web
			changes := 0
			change := func(json.RawMessage) (json.RawMessage, error) {
				changes++
				if err := os.WriteFile(path, []byte(version(changes)), 0o600); err != nil {
					return nil, err
				}
				return mcptest.Text("done"), w.cmd.Process.Signal(syscall.SIGHUP)
			}
			admin := httptest.NewServer(&mcptest.Web{Script: mcptest.Script{Tools: []mcptest.Tool{{Name: "change", Func: change}}}})
			defer admin.Close()
			env, flags := []string{"ADMIN=" + admin.URL}, []string{path}
			if c.durable {
				temporal := givenTemporal(t)
				flags = append(flags, "--engine", "temporal", "--temporal", temporal)
				// Timers of Temporal take a second, and some scenarios wait for half of one.
				source = shortWait.ReplaceAll(source, []byte(`type: transform, transform: {expr: "1"},`))
				defer workOnVersions(t, temporal, env, version)()
			}
			if err := os.WriteFile(path, source, 0o600); err != nil {
				t.Fatal(err)
			}
			w = serveWeb(t, env, flags...)
			defer w.stop()
			mcptest.Conformance(t, "server", c.revision, nil, "--url", w.base+"/mcp")
		})
	}
}

// workOnVersions starts a worker for each version of a file that the suite asks for, until
// stop is called. They are ready when it returns, since some scenarios do not wait.
func workOnVersions(t *testing.T, temporal string, env []string, version func(changes int) string) (stop func()) {
	t.Helper()
	var all []*deployment
	for changes := range 6 {
		d := deployed(t, temporal, filepath.Join(t.TempDir(), "version.yaml"))
		d.env = env
		d.change(version(changes))
		d.work()
		all = append(all, d)
	}
	for _, d := range all {
		if out, err := d.command("run", d.file, "greet", "--args", `{"name":"you"}`).CombinedOutput(); err != nil {
			t.Errorf("no worker: %v\n%s", err, out)
		}
	}
	return func() {
		for _, d := range all {
			d.stop()
		}
	}
}
