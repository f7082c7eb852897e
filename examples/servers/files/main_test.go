package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// dirVariable makes the test binary the server of that folder.
const dirVariable = "FILES_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(dirVariable); dir != "" {
		if err := serve(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// sample makes a folder to serve, beside a file that must not be read.
func sample(t *testing.T) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(top, "served")
	for name, content := range map[string]string{
		"served/b.txt": "one\ntwo\nthree\n", "served/a.bin": strings.Repeat("x", 1536), "served/sub/c.txt": "deep", "secret": "secret",
	} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func serverOf(t *testing.T, dir string) *config.Upstream {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &config.Upstream{Name: "files", Transport: config.Stdio, Command: self, Env: []config.EnvVar{{Name: dirVariable, Value: dir}}}
}

// call returns the text of a result and whether it is an error.
func call(t *testing.T, p *upstream.Pool, server, tool string, args map[string]any) (string, bool) {
	t.Helper()
	a, err := value.FromAny(args)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.CallTool(context.Background(), nil, server, tool, a)
	if err != nil {
		t.Fatal(err)
	}
	text := r.Value.Get("content").Elems()[0].Get("text").Str()
	isError := r.Value.Get("isError").Bool()
	if s := r.Value.Get("structuredContent").Get("content"); !isError && s.Str() != text {
		t.Errorf("%s: content %q, structured %q", tool, text, s.Str())
	}
	return text, isError
}

func TestOnlyTheFolderIsRead(t *testing.T) {
	dir := sample(t)
	p := upstream.New([]*config.Upstream{serverOf(t, dir)}, upstream.Options{})
	defer p.Close(context.Background())
	for _, path := range []string{"/etc/passwd", dir + "/../secret", dir + "/link", "../secret", ""} {
		for _, tool := range []string{"read_text_file", "list_directory", "get_file_info"} {
			if text, isError := call(t, p, "files", tool, map[string]any{"path": path}); !isError || text == "" || strings.Contains(text, "secret\n") {
				t.Errorf("%s %q: %q", tool, path, text)
			}
		}
	}
	if text, isError := call(t, p, "files", "get_file_info", map[string]any{"path": dir + "/b.txt"}); isError || !strings.Contains(text, "size: 14\n") || !strings.Contains(text, "isFile: true") {
		t.Errorf("%q", text)
	}
}

// The answers are those of the server that it stands in for.
func TestAnswersLikeTheRealFilesystemServer(t *testing.T) {
	bin := mcptest.RealServers(t)
	dir := sample(t)
	real := &config.Upstream{
		Name: "real", Transport: config.Stdio, Command: filepath.Join(bin, "mcp-server-filesystem"), Args: []string{dir},
		InheritEnv: config.Inherit{All: true},
	}
	p := upstream.New([]*config.Upstream{serverOf(t, dir), real}, upstream.Options{})
	defer p.Close(context.Background())
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{"list_directory", map[string]any{"path": dir}},
		{"list_directory", map[string]any{"path": dir + "/sub"}},
		{"list_directory_with_sizes", map[string]any{"path": dir + "/sub"}},
		{"list_directory_with_sizes", map[string]any{"path": dir + "/sub", "sortBy": "size"}},
		{"read_text_file", map[string]any{"path": dir + "/b.txt"}},
		{"read_file", map[string]any{"path": dir + "/sub/c.txt"}},
		{"read_text_file", map[string]any{"path": dir + "/b.txt", "head": 2}},
		{"read_text_file", map[string]any{"path": dir + "/b.txt", "tail": 2}},
		{"read_text_file", map[string]any{"path": dir + "/b.txt", "head": 20}},
		{"read_text_file", map[string]any{"path": dir + "/b.txt", "tail": 20}},
		{"read_text_file", map[string]any{"path": dir + "/missing"}},
		{"list_directory", map[string]any{"path": dir + "/missing"}},
		{"read_text_file", map[string]any{"path": "/etc/passwd"}},
		{"read_text_file", map[string]any{"path": dir + "/b.txt", "head": 1, "tail": 1}},
	} {
		ours, ourError := call(t, p, "files", c.tool, c.args)
		theirs, theirError := call(t, p, "real", c.tool, c.args)
		if ours != theirs || ourError != theirError {
			t.Errorf("%s %v: ours %q, theirs %q", c.tool, c.args, ours, theirs)
		}
	}
}

func TestSizesAreReadable(t *testing.T) {
	for size, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.00 KB", 1536: "1.50 KB", 5 << 20: "5.00 MB", 3 << 50: "3072.00 TB"} {
		if got := readable(size); got != want {
			t.Errorf("%d: %q, want %q", size, got, want)
		}
	}
}
