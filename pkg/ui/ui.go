// Package ui serves a page on which a person sees the graphs of a file, runs them and
// debugs them, with the JSON behind it: web/src/api/types.ts describes that.
//
// A page that runs tools is a remote control. It listens where its program says,
// answers under its own names only, and asks every request under /api for a token of
// 256 random bits.
package ui

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/web"
)

// Bounds of connections.
const (
	headerTime = 5 * time.Second
	bodyTime   = 10 * time.Second
	writeTime  = 10 * time.Second // of a part that was written
	idleTime   = 2 * time.Minute
	maxHeaders = 16 << 10
	grace      = 500 * time.Millisecond
)

// Options configure a [Page].
type Options struct {
	// Path is the path of the file.
	Path string
	// Engine has the tools of the file; nil if the file has errors. See
	// [Page.Reloaded].
	Engine *mcpgraph.Engine
	// Reload reads the file again and calls [Page.Reloaded] if it is good. Its error
	// is for people. It is called after the page has saved the file.
	Reload func() error
	// Serve is true if MCP clients are served beside the page.
	Serve bool
	// ReadOnly leaves out everything that runs, controls or changes something.
	ReadOnly bool
	// What texts of the file are checked with, as they are loaded.
	MCPFiles []string
	Inputs   map[string]string
	Getenv   func(string) (string, bool)
	// LockPath is the lock file; empty: the one beside the file.
	LockPath string
	// Memory bounds what expressions of the page take; nil: no bound.
	Memory *memory.Budget
	// Place has runs that outlive this process; nil: there are none.
	Place runs.Place
	// Log gets what goes wrong that no request can be told. Required.
	Log *slog.Logger
	// Files are those of the page; nil: the built-in ones.
	Files fs.FS
}

// Page serves one file. It is safe for concurrent use.
type Page struct {
	*current
	opts    Options
	token   string
	assets  *assets
	texts   *texts
	events  *events
	watch   *watcher
	servers *servers
	imports imports

	sessions *sessions
	remotes  *remotes // nil without Options.Place
	replayed replays
	slots    chan struct{} // of requests under way
}

// New returns a page, which serves nothing yet.
func New(opts Options) *Page {
	if opts.Files == nil {
		opts.Files = web.Files()
	}
	p := &Page{
		current: &current{}, opts: opts, token: newToken(), assets: newAssets(opts.Files), events: newEvents(), sessions: newSessions(),
		slots: make(chan struct{}, maxRequests),
	}
	p.texts, p.servers = newTexts(p), &servers{current: p.current}
	p.watch = newWatcher(p)
	if opts.Place != nil {
		p.remotes = newRemotes(p, opts.Place)
	}
	if opts.Engine != nil {
		p.use(opts.Engine)
	}
	return p
}

// newToken returns 256 random bits.
func newToken() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// URL returns the address of the page at which a listener serves it, with the token
// in its fragment, which browsers send nowhere.
func (p *Page) URL(address net.Addr) string {
	host := address.String()
	if tcp, ok := address.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		host = (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: tcp.Port}).String()
	}
	return "http://" + host + "/#token=" + p.token
}

// Reloaded notes that the engine has read the file again. The first engine of a page
// that began without one is noted here, too.
func (p *Page) Reloaded(e *mcpgraph.Engine) {
	p.use(e)
	at, generation := p.version()
	p.events.add(event{Type: "reloaded", Generation: generation, Revision: at.revision})
	p.FileChanged()
}

// FileChanged notes that the file on disk, or one that it depends on, may have
// another text than before.
func (p *Page) FileChanged() {
	f := p.texts.refresh()
	p.events.add(event{Type: "file", Revision: f.revision, Problems: ptr(f.problems)})
}

// Close ends all streams and the sessions that the page began.
func (p *Page) Close() {
	p.sessions.close()
	p.events.close()
	p.watch.close()
	if p.remotes != nil {
		p.remotes.close()
	}
}

// Serve answers requests until ctx is done. It closes the listener, and returns nil
// unless it could not serve.
func (p *Page) Serve(ctx context.Context, listener net.Listener) error {
	srv := &http.Server{
		Handler:           p.handler(listener.Addr()),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeaders,
		ErrorLog: slog.NewLogLogger(p.opts.Log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving the page: %w", err)
	case <-ctx.Done():
	}
	p.events.close()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := srv.Shutdown(end); errors.Is(err, context.DeadlineExceeded) {
		srv.Close()
	}
	<-ended
	return nil
}

// handler returns what answers requests that come to this address.
func (p *Page) handler(address net.Addr) http.Handler {
	return (&guard{p.current, p.token}).before(address, p.routes())
}
