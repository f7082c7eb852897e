package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

// TestRecordedServers takes the tools that real servers listed, from the folder servers of
// MCPGRAPH_CORPORA. A fake server has them, and a graph for each, with the same schemas,
// calls it. The file is validated, alone and against the server, locked and served, and an
// old client lists its tools.
func TestRecordedServers(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(os.Getenv("MCPGRAPH_CORPORA"), "servers", "*.json"))
	if err != nil || os.Getenv("MCPGRAPH_CORPORA") == "" {
		t.Skip("MCPGRAPH_CORPORA names no folder of corpora")
	}
	if len(files) < 30 {
		t.Fatalf("%d recorded servers", len(files))
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			r := wrapRecorded(t, file)
			for _, args := range [][]string{
				{"validate", r.file}, {"validate", "--live", r.file}, {"lock", r.file}, {"lock", "--check", r.file}, {"validate", r.file},
				{"tools", r.file},
			} {
				if out, err := exec.Command(binary, args...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
			}
			clients := []interopClient{interopClients[slices.IndexFunc(interopClients, func(c interopClient) bool { return c.name == "Go SDK" })]}
			if testscale.Full() {
				mcptest.RealPackage(t, "sdk-old")
				clients = append(clients, interopClients[slices.IndexFunc(interopClients, func(c interopClient) bool { return c.of == "sdk-old" })])
			}
			for _, client := range clients {
				conn, err := client.open(t, root, "", []string{"serve", r.file, "--log-level", "error"})
				if err != nil {
					t.Fatal(err)
				}
				names, err := conn.list()
				if err != nil || !slices.Equal(names, r.tools) {
					t.Errorf("%s lists %v, %v; want %v", client.name, names, err, r.tools)
				}
				if r.simple == "" {
					continue
				}
				if got := conn.call(interopCall{Tool: r.simple, Args: map[string]any{}}); got.Error != "" || got.IsError || !strings.Contains(got.Text, "recorded") {
					t.Errorf("%s calls %s: %+v", client.name, r.simple, got)
				}
			}
		})
	}
}

// recorded is a file with a graph for each tool of a recorded server.
type recorded struct {
	file   string
	tools  []string
	simple string // a tool that can be called without arguments; may be empty
}

func wrapRecorded(t *testing.T, file string) recorded {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var listed struct {
		Tools []struct {
			Name, Description         string
			InputSchema, OutputSchema json.RawMessage
			Annotations, Execution    json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &listed); err != nil || len(listed.Tools) == 0 {
		t.Fatalf("%v, %d tools", err, len(listed.Tools))
	}
	dir := t.TempDir()
	out := recorded{file: filepath.Join(dir, "graphs.yaml")}
	script := mcptest.Script{Tasks: &mcptest.Tasks{States: []string{"completed"}}}
	var tools []any
	for _, tool := range listed.Tools {
		script.Tools = append(script.Tools, mcptest.Tool{
			Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema, OutputSchema: tool.OutputSchema,
			Annotations: tool.Annotations, Execution: tool.Execution, Result: mcptest.Text("recorded"),
		})
		wrapped := map[string]any{
			"name": tool.Name, "description": tool.Name, "inputSchema": tool.InputSchema,
			"nodes": []any{
				map[string]any{"id": "entry", "type": "entry", "next": "call"},
				map[string]any{"id": "call", "type": "mcp", "server": "recorded", "tool": tool.Name, "args": map[string]any{"expr": "$.entry"}, "next": "exit"},
				map[string]any{"id": "exit", "type": "exit"},
			},
		}
		if tool.OutputSchema != nil {
			wrapped["outputSchema"] = tool.OutputSchema
		}
		tools = append(tools, wrapped)
		out.tools = append(out.tools, tool.Name)
		var input struct{ Required []string }
		if json.Unmarshal(tool.InputSchema, &input) == nil && len(input.Required) == 0 && tool.OutputSchema == nil && out.simple == "" {
			out.simple = tool.Name
		}
	}
	write := func(path string, v any) {
		text, err := json.Marshal(v) // on one line: results are sent as they are written
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	fake, err := exec.LookPath("fakeserver")
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "script.json"), script)
	write(out.file, map[string]any{
		"version": "1.0", "server": map[string]any{"name": "wrapped", "version": "1"}, "tools": tools,
		"mcpServers": map[string]any{"recorded": map[string]any{"command": fake, "args": []string{filepath.Join(dir, "script.json")}}},
	})
	return out
}
