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

// Why a scenario, or one check of it, cannot pass.
const (
	noPrompts     = "a file has tools; nothing in it could be a prompt, or be completed"
	onlyRuns      = "the only resources are runs, whose addresses are mcpgraph://runs; the suite reads its own"
	noSubscribing = "a run that is over never changes, so it cannot be subscribed to"
)

// cannotPass says which scenarios fail, or "scenario/check" where the rest of it
// passes, and why.
var cannotPass = map[string]map[string]string{
	"2025-11-25": {
		"completion-complete":           noPrompts,
		"prompts-list":                  noPrompts,
		"prompts-get-simple":            noPrompts,
		"prompts-get-with-args":         noPrompts,
		"prompts-get-embedded-resource": noPrompts,
		"prompts-get-with-image":        noPrompts,
		"resources-read-text":           onlyRuns,
		"resources-read-binary":         onlyRuns,
		"resources-templates-read":      onlyRuns,
		"resources-subscribe":           noSubscribing,
		"resources-unsubscribe":         noSubscribing,
	},
	"2026-07-28": {
		"completion-complete":           noPrompts,
		"prompts-list":                  noPrompts,
		"prompts-get-simple":            noPrompts,
		"prompts-get-with-args":         noPrompts,
		"prompts-get-embedded-resource": noPrompts,
		"prompts-get-with-image":        noPrompts,
		"resources-read-text":           onlyRuns,
		"resources-read-binary":         onlyRuns,
		"resources-templates-read":      onlyRuns,

		"caching/sep-2549-prompts-list-caching-hints": noPrompts,

		"input-required-result-non-tool-request": noPrompts,
	},
}

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
				changed := strings.ReplaceAll(string(source), "Gives a text", fmt.Sprintf("Gives text %d", changes))
				if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
					return nil, err
				}
				return mcptest.Text("done"), w.cmd.Process.Signal(syscall.SIGHUP)
			}
			admin := httptest.NewServer(&mcptest.Web{Script: mcptest.Script{Tools: []mcptest.Tool{{Name: "change", Func: change}}}})
			defer admin.Close()
			w = serveWeb(t, []string{"ADMIN=" + admin.URL}, path, "--expose-runs")
			defer w.stop()
			mcptest.Conformance(t, "server", revision, cannotPass[revision], "--url", w.base+"/mcp")
		})
	}
}
