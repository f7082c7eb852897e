package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// maxWarned bounds the files whose warnings are remembered.
const maxWarned = 200

// seenWarnings reports whether these diagnostics of the file at path were shown to this
// user before, and remembers them. Where nothing can be remembered they are new.
func seenWarnings(a *app, path string, ds []diag.Diagnostic, sources diag.Sources) bool {
	folder := a.environ["XDG_CACHE_HOME"]
	if folder == "" {
		var err error
		if folder, err = os.UserCacheDir(); err != nil {
			return false
		}
	}
	folder = filepath.Join(folder, "mcpgraph", "warnings")
	whole, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	text := bytes.NewBufferString(whole + "\n")
	if err := diag.WriteText(text, ds, sources, diag.TextOptions{}); err != nil {
		return false
	}
	sum := sha256.Sum256(text.Bytes())
	file := filepath.Join(folder, hex.EncodeToString(sum[:16]))
	if _, err := os.Stat(file); err == nil {
		return true
	}
	if err := os.MkdirAll(folder, 0o700); err == nil {
		_ = os.WriteFile(file, nil, 0o600)
		forget(folder)
	}
	return false
}

// forget removes the oldest files of a folder beyond maxWarned.
func forget(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) <= maxWarned {
		return
	}
	age := func(e os.DirEntry) int64 {
		if info, err := e.Info(); err == nil {
			return info.ModTime().UnixNano()
		}
		return 0
	}
	slices.SortFunc(entries, func(x, y os.DirEntry) int { return int(min(max(age(x)-age(y), -1), 1)) })
	for _, e := range entries[:len(entries)-maxWarned] {
		_ = os.Remove(filepath.Join(folder, e.Name()))
	}
}
