package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/mcpgraph/mcpgraph/internal/atomicfile"
	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// sessionKey returns the secret that seals the ids of sessions over HTTP: that of
// MCPGRAPH_KEY, else that of the key file of this user, which it makes if there is none.
// It returns nil, and logs why, if there can be no such file: sessions end with the
// process then.
func sessionKey(a *app, log *slog.Logger) ([]byte, error) {
	if key, ok := a.getenv(keyVariable); ok && key != "" {
		if len(key) < runs.MinKey {
			return nil, usagef("%s has %d bytes; it needs %d at least", keyVariable, len(key), runs.MinKey)
		}
		return []byte(key), nil
	}
	folder, err := stateFolder(a)
	if err != nil {
		log.Info("there is no place for a key file, so clients must initialize again after a restart; set "+keyVariable, "error", err)
		return nil, nil
	}
	path := filepath.Join(folder, "key")
	key, err := keyFile(path)
	if err != nil {
		log.Warn("the key file cannot be used, so clients must initialize again after a restart; mend it, or set "+keyVariable, "file", path, "error", err)
		return nil, nil
	}
	return key, nil
}

// keyFile reads the key in a file, which only its user may read. If there is no such
// file it makes one, in one process at a time.
func keyFile(path string) ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	unlock, err := lockedfile.MutexAt(path + ".lock").Lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		key := []byte(rand.Text() + rand.Text())
		return key, atomicfile.Write(path, key, 0o600)
	}
	if err != nil {
		return nil, err
	}
	if open := info.Mode().Perm() & 0o077; open != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("others can read it (mode %04o); remove it, or run chmod 600", info.Mode().Perm())
	}
	key, err := boundedfile.Read(path)
	if err == nil && len(key) < runs.MinKey {
		err = fmt.Errorf("it has %d bytes; a key has %d at least", len(key), runs.MinKey)
	}
	return key, err
}

// stateFolder returns the folder for what mcpgraph remembers about this user between
// two runs: by the XDG Base Directory Specification where that is the custom.
func stateFolder(a *app) (string, error) {
	switch runtime.GOOS {
	case "windows", "darwin", "ios":
		folder, err := os.UserConfigDir()
		return filepath.Join(folder, "mcpgraph"), err
	}
	if folder := a.environ["XDG_STATE_HOME"]; filepath.IsAbs(folder) {
		return filepath.Join(folder, "mcpgraph"), nil
	}
	home := a.environ["HOME"]
	if !filepath.IsAbs(home) {
		return "", errors.New("HOME is not set")
	}
	return filepath.Join(home, ".local", "state", "mcpgraph"), nil
}
