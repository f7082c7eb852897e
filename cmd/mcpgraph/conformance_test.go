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
			if c.revision != modernRevision {
				testscale.OnlyFull(t)
			}
			source, path := source, filepath.Join(t.TempDir(), "server.mcpgraph.yaml")
			d, flags, work := &deployment{t: t}, []string(nil), func() {}
			if c.durable {
				// Timers of Temporal take a second, and some scenarios wait for half of one.
				source = shortWait.ReplaceAll(source, []byte(`type: transform, transform: {expr: "1"},`))
				d = deployed(t, givenTemporal(t), path)
				flags = []string{"--engine", "temporal", "--temporal", d.temporal}
				work = func() {
					d.work()
					// Some scenarios do not wait for a worker that starts.
					if out, err := d.command("run", d.file, "greet", "--args", `{"name":"you"}`).CombinedOutput(); err != nil {
						t.Errorf("no worker: %v\n%s", err, out)
					}
				}
			}
			if err := os.WriteFile(path, source, 0o600); err != nil {
				t.Fatal(err)
			}
			var w *web
			changes := 0 // the suite asks for one after the other
			change := func(json.RawMessage) (json.RawMessage, error) {
				changes++
				changed := strings.NewReplacer("Gives a text", fmt.Sprintf("Gives text %d", changes), "Has no arguments", fmt.Sprintf("Is version %d", changes)).Replace(string(source))
				if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
					return nil, err
				}
				err := w.cmd.Process.Signal(syscall.SIGHUP)
				work()
				return mcptest.Text("done"), err
			}
			admin := httptest.NewServer(&mcptest.Web{Script: mcptest.Script{Tools: []mcptest.Tool{{Name: "change", Func: change}}}})
			defer admin.Close()
			defer d.stop()
			env := []string{"ADMIN=" + admin.URL}
			d.env = env
			work()
			w = serveWeb(t, env, append(flags, path)...)
			defer w.stop()
			mcptest.Conformance(t, "server", c.revision, nil, "--url", w.base+"/mcp")
		})
	}
}
