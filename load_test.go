package mcpgraph_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func picked(t *testing.T, e *mcpgraph.Engine) string {
	t.Helper()
	result, err := e.Call(context.Background(), "pick", map[string]any{"value": 7})
	if err != nil {
		t.Fatal(err)
	}
	return string(result.JSON())
}

func TestLoadBytesReadsAFileInMemory(t *testing.T) {
	text := []byte(strings.Replace(twoTools, "${SERVER_NAME}", "memory", 1))
	e, err := mcpgraph.LoadBytes("tools.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	clear(text) // it is the caller's
	if changes, err := e.Reload(); err != nil || len(changes.ToolsChanged) > 0 {
		t.Errorf("reloaded: %+v, %v", changes, err)
	}
	if got := picked(t, e); got != "7" || e.File().Server.Name != "memory" {
		t.Errorf("%s of server %q", got, e.File().Server.Name)
	}
	for _, text := range []string{"", "tools: ["} {
		var bad *mcpgraph.LoadError
		if _, err := mcpgraph.LoadBytes("some name", []byte(text)); !errors.As(err, &bad) || bad.Path != "some name" ||
			bad.Diagnostics[0].File != "some name" || bad.Diagnostics[0].Code == diag.CodeFile {
			t.Errorf("%q: %v", text, err)
		}
	}
	_, err = mcpgraph.LoadBytes("tools.yaml", []byte(twoTools), mcpgraph.WithMCPFiles(filepath.Join(t.TempDir(), "none.json")))
	var bad *mcpgraph.LoadError
	if !errors.As(err, &bad) || bad.Diagnostics[0].Code != diag.CodeFile {
		t.Errorf("a file of WithMCPFiles that is not there: %v", err)
	}
}

func TestLoadFSReadsAllFilesFromThere(t *testing.T) {
	source := strings.Replace(twoTools, "${SERVER_NAME}", "embedded", 1)
	source = strings.Replace(source, "  fake: {command: none}\n", "  other: {command: none}\n", 1)
	fsys := fstest.MapFS{
		"config/tools.yaml": {Data: []byte(source)},
		"servers.json":      {Data: []byte(`{"mcpServers": {"fake": {"command": "none"}}}`)},
	}
	asked := &caller{reply: found}
	e, err := mcpgraph.LoadFS(fsys, "config/tools.yaml", mcpgraph.WithMCPFiles("servers.json"), mcpgraph.WithCaller(asked))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if got := picked(t, e); got != "7" {
		t.Error(got)
	}
	if r, err := e.Call(context.Background(), "look_up", value.FromEntries([]value.Entry{{Key: "key", Value: value.FromString("a")}})); err != nil || len(asked.calls) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	fsys["config/tools.yaml"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(source, "$.entry.value", "$.entry.value + 1"))}
	if changes, err := e.Reload(); err != nil || len(changes.ToolsChanged) != 1 || picked(t, e) != "8" {
		t.Errorf("reloaded: %+v, %v", changes, err)
	}
	delete(fsys, "config/tools.yaml")
	var bad *mcpgraph.LoadError
	if _, err := e.Reload(); !errors.As(err, &bad) || bad.Diagnostics[0].Code != diag.CodeFile || !strings.Contains(bad.Error(), fs.ErrNotExist.Error()) {
		t.Errorf("a file that is gone: %v", err)
	}
}
