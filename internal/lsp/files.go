package lsp

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/language"
	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
)

// Bounds of what is read from disk.
const (
	maxFile    = 16 << 20 // bytes of a file
	maxCached  = 200      // analysed files that are not open
	maxWalked  = 20_000   // files and folders that a search looks at
	maxTests   = 500      // test files that a search finds
	maxProblem = 1000     // diagnostics of a file that are sent
)

// fileCache holds documents of files that are not open.
type fileCache struct {
	mu    sync.Mutex
	docs  map[string]cachedFile
	locks map[string]cachedLock
}

// cachedLock is a lock file; the file is nil if it cannot be read.
type cachedLock struct {
	modified time.Time
	size     int64
	file     *lock.File
}

type cachedFile struct {
	modified time.Time
	size     int64
	doc      *language.Document
}

func newFileCache() *fileCache {
	return &fileCache{docs: map[string]cachedFile{}, locks: map[string]cachedLock{}}
}

// forget drops what depends on files of the disk.
func (c *fileCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.docs)
	clear(c.locks)
}

// lock returns a lock file, or nil if there is none that can be read.
func (c *fileCache) lock(path string) *lock.File {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.locks[path]
	if ok && known.modified.Equal(info.ModTime()) && known.size == info.Size() {
		return known.file
	}
	next := cachedLock{modified: info.ModTime(), size: info.Size()}
	if text, err := readFile(path); err == nil {
		next.file, _ = lock.Parse(path, text)
	}
	if len(c.locks) >= maxCached {
		clear(c.locks)
	}
	c.locks[path] = next
	return next.file
}

// document returns the document of a file on disk, or nil if it cannot be read.
func (c *fileCache) document(ctx context.Context, path string, opts language.Options) *language.Document {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	c.mu.Lock()
	known, ok := c.docs[path]
	c.mu.Unlock()
	if ok && known.modified.Equal(info.ModTime()) && known.size == info.Size() {
		return known.doc
	}
	text, err := readFile(path)
	if err != nil {
		return nil
	}
	doc, err := language.NewContext(ctx, path, string(text), opts, nil)
	if err != nil {
		return doc // it is checked again
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.docs) >= maxCached {
		clear(c.docs)
	}
	c.docs[path] = cachedFile{info.ModTime(), info.Size(), doc}
	return doc
}

var errNoFile = errors.New("not a file that can be read")

// readFile returns the text of a regular file that is not too long.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, errNoFile
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// testFiles returns the paths of the test files below some folders.
func testFiles(folders []string) []string {
	var found []string
	seen := map[string]bool{}
	for _, folder := range folders {
		walked := 0
		// Folders that cannot be read have no test files.
		_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if walked++; walked > maxWalked || len(found) >= maxTests {
				return fs.SkipAll
			}
			switch name := filepath.Base(path); {
			case err != nil:
				return nil
			case d.IsDir() && path != folder && (name == "node_modules" || strings.HasPrefix(name, ".")):
				return fs.SkipDir
			case !d.IsDir() && suite.IsTestFile(path) && !seen[path]:
				seen[path] = true
				found = append(found, path)
			}
			return nil
		})
	}
	return found
}
