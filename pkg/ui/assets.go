package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

// nonceMark stands in index.html where the nonce of the styles belongs.
const nonceMark = `nonce="NONCE"`

// types are those of the files of the page.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": "application/json", ".map": "application/json", ".svg": "image/svg+xml", ".png": "image/png",
	".txt": "text/plain; charset=utf-8",
}

// assets are the files of the page. A file NAME.gz is served as NAME.
type assets struct {
	files fs.FS
	mu    sync.Mutex
	known map[string]*asset
}

// asset is a file, whose text is compressed if small is true.
type asset struct {
	kind, tag string
	text      []byte
	small     bool
}

func newAssets(files fs.FS) *assets { return &assets{files: files, known: map[string]*asset{}} }

// get returns a file, or nil if there is none.
func (a *assets) get(name string) *asset {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f, ok := a.known[name]; ok {
		return f
	}
	f := &asset{kind: types[path.Ext(name)]}
	var err error
	if f.text, err = fs.ReadFile(a.files, name+".gz"); err == nil {
		f.small = true
	} else if f.text, err = fs.ReadFile(a.files, name); err != nil {
		return nil // a folder, too
	}
	sum := sha256.Sum256(f.text)
	f.tag = `"` + hex.EncodeToString(sum[:12]) + `"`
	if f.kind == "" {
		if f.kind = mime.TypeByExtension(path.Ext(name)); f.kind == "" {
			f.kind = "application/octet-stream"
		}
	}
	a.known[name] = f
	return f
}

// ServeHTTP answers with a file of the page. Browsers ask each time whether it has
// changed; index.html is sent each time, with a nonce of its own.
func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "bad_method", "expected GET")
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	f := a.get(name)
	if !fs.ValidPath(name) || f == nil {
		refuse(w, http.StatusNotFound, "not_found", "there is no such file")
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	if name == "index.html" {
		nonce := rand.Text()
		h.Set("Content-Security-Policy", strings.Replace(policy, "%s", " 'nonce-"+nonce+"'", 1))
		_, _ = w.Write(bytes.ReplaceAll(f.text, []byte(nonceMark), []byte(`nonce="`+nonce+`"`)))
		return
	}
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", f.tag)
	h.Set("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	switch {
	case !f.small:
		_, _ = w.Write(f.text)
	case strings.Contains(r.Header.Get("Accept-Encoding"), "gzip"):
		h.Set("Content-Encoding", "gzip")
		_, _ = w.Write(f.text)
	default:
		if text, err := gzip.NewReader(bytes.NewReader(f.text)); err == nil {
			_, _ = io.Copy(w, text) // the client may be gone
		}
	}
}
