package dap_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/dap"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

// adapterVariable makes the program of the tests a debug adapter.
const adapterVariable = "MCPGRAPH_TEST_DAP"

func TestMain(m *testing.M) {
	if os.Getenv(adapterVariable) == "" {
		os.Exit(m.Run())
	}
	if err := dap.Serve(context.Background(), os.Stdin, os.Stdout, dap.Options{Getenv: os.LookupEnv}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const realFile = `version: "1.0"
server: {name: real, version: "1"}
mcpServers:
  files: {command: "${BIN}/mcp-server-filesystem", args: ["${FOLDER}"]}
tools:
  - name: files
    description: Lists files
    inputSchema: {type: object, properties: {folder: {type: string}}}
    nodes:
      - {id: entry, type: entry, next: list}
      - {id: list, type: mcp, server: files, tool: list_directory, args: {path: {expr: $.entry.folder}}, next: count}
      - id: count
        type: transform
        transform: {expr: "{'files': $count($match($.list.content, /FILE/))}"}
        next: exit
      - {id: exit, type: exit}
`

// TestAClientOfVSCode drives the adapter with @vscode/debugadapter-testsupport, and the
// adapter a real server.
func TestAClientOfVSCode(t *testing.T) {
	bin := mcptest.RealServers(t)
	folder := t.TempDir()
	path := filepath.Join(folder, "real.yaml")
	for name, text := range map[string]string{path: realFile, filepath.Join(folder, "a.txt"): "a"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got struct {
		Output, Frame, Watch string
		Scopes, Document     []string
	}
	env := []string{adapterVariable + "=1", "BIN=" + bin, "FOLDER=" + folder, "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
	text := mcptest.RunClient(t, "@vscode/debugadapter-testsupport", []string{path, folder}, env, &got)
	if got.Output != `{"files":2}`+"\n" || got.Frame != "count (transform)" || got.Watch != "true" ||
		!slices.Equal(got.Scopes, []string{"Document", "Variables", "Last output", "Arguments"}) || !slices.Equal(got.Document, []string{"entry", "list"}) {
		t.Errorf("%s", text)
	}
}
