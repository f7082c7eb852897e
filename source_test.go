package mcpgraph_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
)

// TestSourceLoadsWhatWasRead changes a file between Read and Load.
func TestSourceLoadsWhatWasRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tools.yaml")
	text := `version: "1.0"
server: {name: first, version: "1"}
tools:
  - name: echo
    description: Returns its arguments
    inputSchema: {type: object}
    nodes: [{id: entry, type: entry, next: exit}, {id: exit, type: exit}]
`
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	s, err := mcpgraph.Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	write(strings.ReplaceAll(text, "first", "second"))
	e, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if got, wanted := e.File().Server.Name, s.File().Server.Name; got != wanted || got != "first" {
		t.Errorf("the server is %s, read was %s", got, wanted)
	}
	write("tools: 1")
	s, err = mcpgraph.Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(); err == nil || !strings.Contains(err.Error(), "has errors") {
		t.Errorf("a file with errors: %v", err)
	}
}
