package cassette_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/cassette"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
)

const realConfig = `
version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  files: {command: %q, args: [%q], inheritEnv: true}
  every: {command: %q, inheritEnv: true, env: {WORD: "${WORD:-}"}}
  slow: {command: %q, inheritEnv: true, maxCallTimeMs: 500, retry: {maxAttempts: 3, initialDelayMs: 1, retryOn: [timeout]}}
tools:
  - name: look
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: list}
      - {id: list, type: mcp, server: files, tool: list_directory, args: {path: {expr: $.entry.path}}, next: each}
      - id: each
        type: map
        items: {expr: '["a", "b", "none"]'}
        tolerateFailures: 1
        next: echo
        nodes:
          - {id: read, type: mcp, server: files, tool: read_text_file, args: {path: {expr: '$.entry.path & "/" & $item & ".txt"'}}}
      - {id: echo, type: mcp, server: every, tool: echo, args: {message: {expr: '"the word is " & $.entry.word'}}, next: slow}
      - {id: slow, type: mcp, server: slow, tool: trigger-long-running-operation, args: {duration: 60, steps: 1}, next: out, catch: {errors: [timeout], next: out}}
      - {id: out, type: transform, transform: {expr: '[$.list, $.each.[$string(content), error.name], $.echo, $.slow.error.name]'}, next: exit}
      - {id: exit, type: exit}
`

// What real servers answer is recorded, and gives the same run without them: replies,
// errors of tools, and failures.
func TestRealServersAreRecordedAndPlayed(t *testing.T) {
	programs, folder := mcptest.RealServers(t), t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(folder, name+".txt"), []byte("text "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	load := func(files, every, word string, intercept upstream.Intercept) *mcpgraph.Engine {
		engine, err := mcpgraph.LoadBytes("t.yaml", fmt.Appendf(nil, realConfig, files, folder, every, every),
			mcpgraph.WithIntercept(intercept), mcpgraph.WithGetenv(func(name string) (string, bool) {
				if name == "WORD" {
					return word, word != ""
				}
				return os.LookupEnv(name)
			}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { engine.Close() })
		return engine
	}
	call := func(engine *mcpgraph.Engine, word string) string {
		result, err := engine.Call(context.Background(), "look", map[string]any{"path": folder, "word": word})
		if err != nil {
			t.Fatal(err)
		}
		path := ""
		for _, r := range result.History {
			if r.Event == executor.Done && r.Frame == "" {
				path += fmt.Sprintf(" %s*%d", r.Node, r.Attempts)
			}
		}
		return string(result.JSON()) + path
	}

	var recorder cassette.Recorder
	real := load(filepath.Join(programs, "mcp-server-filesystem"), filepath.Join(programs, "mcp-server-everything"), "abracadabra", recorder.Intercept)
	want := call(real, "abracadabra")
	if !strings.Contains(want, "text a") || !strings.Contains(want, "abracadabra") || !strings.Contains(want, `"toolError"`) || !strings.Contains(want, `"timeout"`) {
		t.Fatalf("the run is not as it should be: %s", want)
	}
	exchanges, err := recorder.Exchanges(t.Context(), nil, real.Redact)
	if err != nil {
		t.Fatal(err)
	}
	c := &cassette.Cassette{Path: filepath.Join(folder, "x.jsonl")}
	c.Replace("look", exchanges)
	if err := c.Write(); err != nil {
		t.Fatal(err)
	}
	if text := string(c.Text()); strings.Contains(text, "abracadabra") || strings.Count(text, "\n") != 6 {
		t.Errorf("%s", text)
	}
	if c, err = cassette.Read(c.Path); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"abracadabra", ""} { // with the secret at hand and without
		player := c.Play("look", nil, nil)
		engine := load("/nonexistent/files", "/nonexistent/every", word, player.Intercept)
		said := "abracadabra"
		if got := call(engine, said); strings.ReplaceAll(got, cassette.Placeholder, said) != want {
			t.Errorf("with the word %q:\n%s\nwant\n%s", word, got, want)
		}
		if player.Stale() != nil || len(player.Unused()) > 0 {
			t.Errorf("%v; unused %v", player.Stale(), player.Unused())
		}
	}
}
