package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesOfAnotherUserSayWhatToDo reads and writes where the user may not.
func TestFilesOfAnotherUserSayWhatToDo(t *testing.T) {
	t.Parallel()
	const want = "as the user whom it belongs to"
	if err := oneUser(fmt.Errorf("open x: %w", fs.ErrPermission)); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v", err)
	}
	if err := oneUser(fs.ErrNotExist); err != fs.ErrNotExist {
		t.Errorf("another error is %v", err)
	}
	if os.Geteuid() == 0 {
		t.Skip("root may read all files")
	}
	f := folder{t.TempDir()}
	name := strings.Repeat("a", 64)
	if err := os.WriteFile(filepath.Join(f.path, name), nil, 0o200); err != nil {
		t.Fatal(err)
	}
	if _, err := f.read(name); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a file of another user: %v", err)
	}
	if err := os.Chmod(f.path, 0o500); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(f.path, 0o700) }()
	if err := f.write(name, nil); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a folder of another user: %v", err)
	}
}
