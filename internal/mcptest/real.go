package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// RealServers returns the folder with the programs that `npm ci` has installed
// in testdata/realservers: mcp-server-filesystem, mcp-server-everything,
// mcp-server-memory, mcp-inspector and node. Where they are not installed the
// test is skipped, or fails if the variable CI is "true".
func RealServers(t testing.TB) string {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(root, "testdata", "realservers", "node_modules", ".bin")
	if _, err := os.Stat(filepath.Join(bin, "mcp-server-filesystem")); err != nil {
		missing(t, "the real MCP servers are not installed: run npm ci in testdata/realservers")
	}
	return bin
}

// RealPackage returns the folder of a package in testdata/realservers. Without it, it does
// as RealServers does.
func RealPackage(t testing.TB, name string) string {
	t.Helper()
	folder := filepath.Join(filepath.Dir(RealServers(t)), filepath.FromSlash(name))
	if _, err := os.Stat(folder); err != nil {
		missing(t, name+" is not installed: run npm ci in testdata/realservers")
	}
	return folder
}

// RunClient runs the script testdata/client.cjs with node and reads the JSON that it
// prints into result. Its first argument is the folder of the npm packages, of which it
// needs the one called name; args follow, then the path of the test's own program. The
// variables are beside the test's. Without the package it does as RealServers does.
func RunClient(t testing.TB, name string, args, env []string, result any) (text string) {
	t.Helper()
	RealPackage(t, name)
	bin := RealServers(t)
	modules := filepath.Dir(bin)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	args = append(append([]string{filepath.Join("testdata", "client.cjs"), modules}, args...), self)
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "node"), args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	printed, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(printed, result)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	return string(printed)
}

// missing skips a test, or fails it if the variable CI is "true".
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// moduleRoot returns the folder of the module, which is above the working
// directory of a test.
func moduleRoot() (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return root, nil
		}
		parent := filepath.Dir(root)
		if parent == root {
			return "", errors.New("no go.mod above the working directory")
		}
		root = parent
	}
}
