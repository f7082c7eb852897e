package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "mcpgraph", "key")
	keys := make([][]byte, 20)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			var err error
			if keys[i], err = keyFile(path); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, key := range keys {
		if len(key) < 32 || !bytes.Equal(key, keys[0]) {
			t.Fatalf("two processes have the keys %q and %q", keys[0], key)
		}
	}
	if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := keyFile(path); err == nil || !strings.Contains(err.Error(), "it has 5 bytes; a key has 16 at least") {
		t.Errorf("a short key: %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.WriteFile(path, keys[0], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		mode os.FileMode
		want string
	}{{0o600, ""}, {0o400, ""}, {0o640, "others can read it (mode 0640)"}, {0o604, "others can read it"}} {
		if err := os.Chmod(path, f.mode); err != nil {
			t.Fatal(err)
		}
		_, err := keyFile(path)
		if (err == nil) != (f.want == "") || err != nil && !strings.Contains(err.Error(), f.want) {
			t.Errorf("mode %o: %v", f.mode, err)
		}
	}
	info, err := os.Stat(filepath.Dir(path))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v (%v)", info.Mode(), err)
	}
}
