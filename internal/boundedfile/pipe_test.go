//go:build unix

package boundedfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
)

func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	return path
}

func TestPipeWithoutAWriterIsRefused(t *testing.T) {
	t.Parallel()
	path := fifo(t)
	done := make(chan error, 1)
	go func() {
		_, err := boundedfile.Read(path)
		done <- err
	}()
	select {
	case err := <-done:
		var at *fs.PathError
		if !errors.As(err, &at) || at.Path != path || !strings.Contains(err.Error(), "nobody writes to it") {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("reading waits for ever")
	}
}

// Shells without /dev/fd give a named pipe to `mcpgraph validate <(command)`.
func TestPipeIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	path := fifo(t)
	long := strings.Repeat("x", 200_000)
	go func() {
		time.Sleep(30 * time.Millisecond) // the reader comes first
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for _, part := range []string{"a", long, "b"} {
			if _, err := f.WriteString(part); err != nil {
				t.Error(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if text, err := boundedfile.Read(path); err != nil || string(text) != "a"+long+"b" {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func TestPipeOfAProcessSubstitution(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	if _, err := w.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if text, err := boundedfile.Read(path); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
}
