package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

// TestConformance runs the server half of the public conformance suite of MCP
// against the program.
func TestConformance(t *testing.T) {
	t.Parallel()
	mcptest.RealServers(t)
	source, err := os.ReadFile("../../testdata/conformance/server.mcpgraph.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, revision := range []string{legacyRevision, modernRevision} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			if revision != modernRevision {
				testscale.OnlyFull(t)
			}
			path := filepath.Join(t.TempDir(), "server.mcpgraph.yaml")
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
				return mcptest.Text("done"), w.cmd.Process.Signal(syscall.SIGHUP)
			}
			admin := httptest.NewServer(&mcptest.Web{Script: mcptest.Script{Tools: []mcptest.Tool{{Name: "change", Func: change}}}})
			defer admin.Close()
			w = serveWeb(t, []string{"ADMIN=" + admin.URL}, path)
			defer w.stop()
			mcptest.Conformance(t, "server", revision, nil, "--url", w.base+"/mcp")
		})
	}
}
