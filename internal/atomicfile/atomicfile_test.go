//go:build unix

package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/atomicfile"
)

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != text {
		t.Errorf("%s holds %q, %v; want %q", path, got, err, text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
		t.Errorf("%s has mode %v, %v; want %v", path, info.Mode(), err, mode)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

func TestWriteKeepsTheModeAndCreatesNewFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := atomicfile.Write(path, []byte("one"), 0o640); err != nil {
		t.Fatal(err)
	}
	check(t, path, "one", 0o640)
	if err := os.Chmod(path, 0o604); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, path, "two", 0o604)
}

func TestWriteGoesThroughLinks(t *testing.T) {
	folder := t.TempDir()
	inner := filepath.Join(folder, "inner")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"a": "b", "b": filepath.Join("inner", "c"), "d": "inner/new"} {
		if err := os.Symlink(target, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(inner, "c"), "old", 0o644)
	for link, file := range map[string]string{"a": "c", "d": "new"} {
		if err := atomicfile.Write(filepath.Join(folder, link), []byte("text"), 0o644); err != nil {
			t.Fatal(err)
		}
		check(t, filepath.Join(inner, file), "text", 0o644)
		if info, err := os.Lstat(filepath.Join(folder, link)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v, %v", link, info, err)
		}
	}
	if err := os.Symlink("loop", filepath.Join(folder, "loop")); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(filepath.Join(folder, "loop"), nil, 0o644); err == nil {
		t.Error("a link to itself was written")
	}
}

func TestWriteKeepsTheOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can change owners")
	}
	path := filepath.Join(t.TempDir(), "a")
	write(t, path, "old", 0o664)
	if err := os.Chown(path, 12345, 54321); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	check(t, path, "new", 0o664)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); s.Uid != 12345 || s.Gid != 54321 {
		t.Errorf("the owner is %d:%d", s.Uid, s.Gid)
	}
}

func TestAFailureLeavesTheOldFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a")
	write(t, path, "old", 0o644)
	// A limit on the size of files fails a write as a full disk does, with a part
	// of it done.
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	small := before
	small.Cur = 1000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
		t.Fatal(err)
	}
	err := atomicfile.Write(path, []byte(strings.Repeat("x", 5000)), 0o644)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err == nil {
		t.Error("no error")
	}
	check(t, path, "old", 0o644)

	if err := atomicfile.Write(folder, nil, 0o644); err == nil {
		t.Error("a folder was replaced")
	}
	if err := atomicfile.Write(filepath.Join(folder, "none", "a"), nil, 0o644); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file in no folder: %v", err)
	}
}
