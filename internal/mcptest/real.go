package mcptest

import (
	"os"
	"path/filepath"
	"testing"
)

// RealServers returns the folder with the programs that `npm ci` has installed
// in testdata/realservers: mcp-server-filesystem, mcp-server-everything,
// mcp-server-memory, mcp-inspector and node. Where they are not installed the
// test is skipped, or fails if the variable CI is "true".
func RealServers(t testing.TB) string {
	t.Helper()
	bin := filepath.Join(moduleRoot(t), "testdata", "realservers", "node_modules", ".bin")
	if _, err := os.Stat(filepath.Join(bin, "mcp-server-filesystem")); err != nil {
		const missing = "the real MCP servers are not installed: run npm ci in testdata/realservers"
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	return bin
}

// moduleRoot returns the folder of the module, which is above the working
// directory of a test.
func moduleRoot(t testing.TB) string {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return root
		}
		parent := filepath.Dir(root)
		if parent == root {
			t.Fatal("no go.mod above the working directory")
		}
		root = parent
	}
}
