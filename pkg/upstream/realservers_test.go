package upstream

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// realServer returns a pool of one server from the npm registry, named fake as all
// servers of these tests are.
func realServer(t *testing.T, program string, change func(*config.Upstream), args ...string) *Pool {
	return start(t, Options{}, realEntry(t, program, change, args...))
}

func realEntry(t *testing.T, program string, change func(*config.Upstream), args ...string) *config.Upstream {
	u := &config.Upstream{
		Name: "fake", Transport: config.Stdio, Command: filepath.Join(mcptest.RealServers(t), program), Args: args,
		InheritEnv: config.Inherit{All: true},
	}
	if change != nil {
		change(u)
	}
	return u
}

func TestRealFilesystemServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 40 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.txt", i)), []byte(strings.Repeat("ä", i)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := realServer(t, "mcp-server-filesystem", nil, dir)
	if got := strings.Count(text(mustCall(t, p, "list_directory", object("path", dir))), "[FILE]"); got != 40 {
		t.Errorf("%d files", got)
	}
	var wait sync.WaitGroup
	for i := range 40 {
		wait.Go(func() {
			args := value.FromEntries([]value.Entry{{Key: "path", Value: value.FromString(filepath.Join(dir, fmt.Sprintf("%02d.txt", i)))}})
			r, err := p.CallTool(context.Background(), nil, "fake", "read_text_file", args)
			if err != nil || text(r.Value) != strings.Repeat("ä", i) {
				t.Errorf("file %d: %s, %v", i, r.Value.JSON(), err)
			}
		})
	}
	wait.Wait()
	if reply := mustCall(t, p, "read_text_file", object("path", "/etc/passwd")); !reply.Get("isError").Bool() {
		t.Errorf("read outside of the directory: %s", reply.JSON())
	}
	tools, err := p.Tools(context.Background(), nil, "fake")
	if err != nil || len(tools) < 10 || tools[0].Get("inputSchema").Get("$schema").Str() == "" {
		t.Errorf("%d tools, %v", len(tools), err)
	}
}

// TestOldServer calls a server of the first SDK, of 2024, which knows one revision.
func TestOldServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(mcptest.RealPackage(t, "filesystem-old"), "dist", "index.js")
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := realServer(t, "node", nil, program, dir)
	if got := text(mustCall(t, p, "read_file", object("path", filepath.Join(dir, "a.txt")))); got != "old" {
		t.Error(got)
	}
	if reply := mustCall(t, p, "read_file", object("path", "/etc/passwd")); !reply.Get("isError").Bool() {
		t.Errorf("read outside of the directory: %s", reply.JSON())
	}
	status, err := p.Status(context.Background(), nil, "fake")
	if err != nil || status.Protocol != "2024-11-05" || len(status.Tools) != 9 || status.CallsTasks {
		t.Errorf("%v: %s, %d tools", err, status.Protocol, len(status.Tools))
	}
}

func TestRealEverythingServer(t *testing.T) {
	t.Parallel()
	p := realServer(t, "mcp-server-everything", func(u *config.Upstream) { u.Timeout = 3 * time.Second })
	if got := text(mustCall(t, p, "echo", `{"message":"hello"}`)); !strings.Contains(got, "hello") {
		t.Error(got)
	}
	// It takes longer than timeoutMs but reports progress more often.
	began := time.Now()
	mustCall(t, p, "trigger-long-running-operation", `{"duration":4,"steps":16}`)
	if took := time.Since(began); took < 3500*time.Millisecond {
		t.Errorf("the long operation took %v", took)
	}
	if got := mustCall(t, p, "get-structured-content", `{"location":"New York"}`).Get("structuredContent"); got.Get("temperature").Kind() != value.Number {
		t.Error(got.JSON())
	}
}

func TestRealMemoryServer(t *testing.T) {
	t.Parallel()
	testscale.OnlyFull(t)
	file := filepath.Join(t.TempDir(), "memory.jsonl")
	change := func(u *config.Upstream) { u.Env = []config.EnvVar{{Name: "MEMORY_FILE_PATH", Value: file}} }
	p := realServer(t, "mcp-server-memory", change)
	mustCall(t, p, "create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["wrote the first program"]}]}`)
	got := mustCall(t, p, "read_graph", `{}`).Get("structuredContent").Get("entities")
	if got.Len() != 1 || got.Elems()[0].Get("name").Str() != "Ada" {
		t.Error(got.JSON())
	}
}

func object(key, val string) string {
	return value.FromEntries([]value.Entry{{Key: key, Value: value.FromString(val)}}).JSON()
}
