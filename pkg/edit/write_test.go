package edit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/edit"
)

func TestWriteRefusesAFileThatChanged(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := edit.Write(path, "", []byte("a: 1\n")); err != nil {
		t.Fatal(err)
	}
	if err := edit.Write(path, "", []byte("a: 2\n")); !errors.Is(err, edit.ErrConflict) {
		t.Errorf("creating a file that exists: %v", err)
	}
	one := edit.RevisionOf([]byte("a: 1\n"))
	if err := edit.Write(path, one, []byte("a: 2\n")); err != nil {
		t.Fatal(err)
	}
	if err := edit.Write(path, one, []byte("a: 3\n")); !errors.Is(err, edit.ErrConflict) {
		t.Errorf("writing an older revision: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "a: 2\n" {
		t.Errorf("got %q, %v", text, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := edit.Write(path, one, nil); !errors.Is(err, edit.ErrConflict) {
		t.Errorf("writing a file that was removed: %v", err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

func TestWritersAtTheSameTimeLoseNoEdit(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(path, []byte("lines:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const writers, each = 4, 25
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				for {
					text, err := os.ReadFile(path)
					if err != nil {
						t.Error(err)
						return
					}
					err = edit.Write(path, edit.RevisionOf(text), fmt.Appendf(text, "  - %d.%d\n", w, i))
					if err == nil {
						break
					}
					if !errors.Is(err, edit.ErrConflict) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "  - "); n != writers*each {
		t.Errorf("%d of %d edits are there", n, writers*each)
	}
}
