// Package engine compiles one file, keeps the servers that its tools call, and
// runs the tools. The module's root is its API, and internal/serving lets MCP
// clients call it.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
)

// Options are the settings of an Engine that its file does not have.
type Options struct {
	Getenv   func(string) (string, bool)       // required
	Read     func(path string) ([]byte, error) // nil: from disk
	Log      *slog.Logger                      // required
	MCPFiles []string
	// ServersOnly ignores the tools of the file. It may then be a file of another
	// program, and all of its servers count.
	ServersOnly bool
	Serving     bool // with ServersOnly: the file's settings of the server count, too
	Inputs      map[string]string
	Hooks       []executor.Hooks
	HooksFunc   []func(*callinfo.Info) executor.Hooks // each returns hooks for one call
	Caller      graph.Caller                          // in the place of the servers; nil: the servers
	Servers     map[string]InProcess                  // servers in this process, by name
	Functions   []jsonata.Function                    // of expressions, beside the built-in ones
	Telemetry   *telemetry.Telemetry                  // nil: none
	Runs        *runs.Store                           // required
	Memory      *memory.Budget                        // nil: no bound
	Sessions    upstream.SessionStore                 // nil: what the entries say
	Lock        LockOptions
	// Credentials are the sources of credentials by the name of the server.
	Credentials map[string]upstream.CredentialSource
	// Intercept stands for the servers in each exchange of a tool call, beneath the
	// policies of their entries; nil: calls go to the servers.
	Intercept upstream.Intercept
	// Repeatable reports whether a tool may be called twice where its server was not
	// asked; it may be nil.
	Repeatable func(server, tool string) bool
	// Place runs the calls; nil: this process does. WatchPlace lets the runs of this
	// process's calls be known in Runs as they go on.
	Place      runs.Place
	WatchPlace bool
	// AllowUnset keeps variables of the file that are not set; see config.Options.
	AllowUnset bool
}

// Engine holds the programs made of one file: the current one, and those before
// it that calls still use. It is safe for concurrent use.
type Engine struct {
	path string
	opts Options
	log  *slog.Logger // redacts secrets

	current atomic.Pointer[Program]
	live    atomic.Pointer[[]*Program] // current, and those before it that calls still use

	local *runs.Memory // runs of this process
	place runs.Place   // runs of calls: local, or that of the options

	inputs      toolInputs
	completions completionSlots

	mu     sync.Mutex // guards closed, and the replacing of the above
	closed bool
}

// LoadError is returned for a file with errors. It holds all diagnostics of the
// file.
type LoadError struct {
	Path        string
	Diagnostics []diag.Diagnostic // sorted by place, warnings among them
	Sources     diag.Sources      // the text of the files, to show with them
}

// maxErrors is how many errors the text of a LoadError has.
const maxErrors = 20

// Error returns the first errors, one a line, without colour or source lines, and how
// many more there are.
func (e *LoadError) Error() string {
	var b strings.Builder
	b.WriteString(e.Path + " has errors")
	n := 0
	for _, d := range e.Diagnostics {
		if d.Severity != diag.Error {
			continue
		}
		if n++; n <= maxErrors {
			b.WriteString("\n" + d.Error())
		}
	}
	if n > maxErrors {
		fmt.Fprintf(&b, "\nand %d more errors", n-maxErrors)
	}
	return b.String()
}

// MemoryError is returned for a file that takes more memory than Options.Memory has
// left.
type MemoryError struct {
	Path  string
	Cause *memory.Error
}

// Error says how much is missing, and what to do.
func (e *MemoryError) Error() string { return e.Cause.ForFile(e.Path) }

// Unwrap returns the error of the account.
func (e *MemoryError) Unwrap() error { return e.Cause }

// New compiles the file at path. It starts no server. The error is a *LoadError, a
// *MemoryError, the cause of ctx, or about Options.Functions.
func New(ctx context.Context, path string, opts Options) (*Engine, error) {
	s, err := Read(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	return s.New(opts)
}

// New compiles the file that was read. What the file is read with must be the same in
// opts. The error is as that of the function New. Call it once at most.
func (s *Source) New(opts Options) (*Engine, error) {
	if err := expr.CheckFunctions(opts.Functions); err != nil {
		s.close()
		return nil, fmt.Errorf("WithFunctions: %w", err)
	}
	e := newEngine(s.path, opts)
	p, err := e.compileSource(s, opts)
	if err != nil {
		return nil, err
	}
	e.begin(p)
	return e, nil
}

func newEngine(path string, opts Options) *Engine {
	e := &Engine{path: path, opts: opts}
	e.log = slog.New(telemetry.RewriteLog(opts.Log.Handler(), func(text string) string { return e.Redact(nil, text) }))
	e.inputs.log = e.log
	e.local = runs.NewMemory(opts.Runs, opts.Memory, e.log)
	if e.place = e.local; opts.Place != nil {
		e.place = runs.Mirror(opts.Place, opts.Runs, opts.WatchPlace)
	}
	return e
}

// begin makes p the first program.
func (e *Engine) begin(p *Program) {
	p.connect(nil)
	e.current.Store(p)
	e.live.Store(&[]*Program{p})
}

// Fork returns an Engine whose program is compiled already: it is that of p, with
// servers of its own. Of opts, what the file is read with does not count.
func (p *Program) Fork(opts Options) *Engine {
	e := newEngine(p.engine.path, opts)
	own := &Program{
		engine: e, opts: opts, set: p.set, byName: p.byName, diagnostics: p.diagnostics, sources: p.sources,
		over: e.retire, guard: p.guard, redact: p.redact, secretSchemas: p.secretSchemas, lockedInputs: p.lockedInputs,
	}
	own.release = own.Release
	own.users.Store(1)
	e.begin(own)
	return e
}

// Close ends the sessions with all servers and the processes behind them. Calls
// under way fail. The Engine cannot be used afterwards.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.local.Close()
	all := e.alive()
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, p := range all {
		wait.Go(func() { errs[i] = p.upstreams.close() })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// Place returns where the runs of calls are.
func (e *Engine) Place() runs.Place { return e.place }

// Local returns the runs of this process.
func (e *Engine) Local() *runs.Memory { return e.local }

// Current returns the program that is in use now.
func (e *Engine) Current() *Program { return e.current.Load() }

// Use returns the current program, which stays usable until its Release.
func (e *Engine) Use() *Program {
	for {
		if p := e.current.Load(); p.retain() {
			return p
		}
	}
}

// Options returns what the Engine was made with.
func (e *Engine) Options() Options { return e.opts }

// Log returns the logger of the Engine, which redacts secrets.
func (e *Engine) Log() *slog.Logger { return e.log }

// Runs returns the runs of the recent past.
func (e *Engine) Runs() *runs.Store { return e.opts.Runs }

// Memory returns the memory budget; nil if memory is not bounded.
func (e *Engine) Memory() *memory.Budget { return e.opts.Memory }

// Compile reads the file again and returns the program that may replace the
// current one. Only one goroutine at a time may compile and replace. The error is
// a *LoadError, a *MemoryError, or the cause of ctx.
func (e *Engine) Compile(ctx context.Context) (*Program, error) {
	next, err := e.compile(ctx, e.opts)
	if err != nil {
		return nil, err
	}
	next.keepGuard(e.current.Load())
	return next, nil
}

// CompileText compiles a text in the place of the file, its tools too if the Engine
// has servers only, and returns a program for calls beside those of the current
// one. The program shares the servers whose entries are the same. Release it when
// nothing new is called on it. The error is a *LoadError, a *MemoryError, or the cause
// of ctx.
func (e *Engine) CompileText(ctx context.Context, text []byte) (*Program, error) {
	opts := e.opts
	opts.ServersOnly = false
	opts.Read = func(path string) ([]byte, error) {
		switch {
		case path == e.path:
			return text, nil
		case e.opts.Read != nil:
			return e.opts.Read(path)
		}
		return boundedfile.Read(path)
	}
	p, err := e.compile(ctx, opts)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errClosed
	}
	p.connect(e.current.Load())
	e.live.Store(new(append(slices.Clip(e.alive()), p)))
	return p, nil
}

// errClosed is returned where a closed Engine should begin something.
var errClosed = errors.New("the engine has been closed")

// Replace makes next the current program and returns the one before. Next takes
// over its servers whose entries have not changed. Release the program before
// when nothing new is called on it.
func (e *Engine) Replace(next *Program) (before *Program, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errClosed
	}
	before = e.current.Load()
	next.connect(before)
	e.live.Store(new(append(slices.Clip(e.alive()), next)))
	e.current.Store(next)
	return before, nil
}

// alive returns the programs that are in use. They must not be changed.
func (e *Engine) alive() []*Program {
	if all := e.live.Load(); all != nil {
		return *all
	}
	return nil
}

// retire ends what a program had and no other has taken over.
func (e *Engine) retire(p *Program) {
	go func() {
		if err := p.upstreams.close(); err != nil {
			e.log.Warn("servers removed by the reload did not stop", "error", err)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.live.Store(new(slices.DeleteFunc(slices.Clone(e.alive()), func(one *Program) bool { return one == p })))
	}()
}

// Stats returns those of the servers of the file. While a program is replaced,
// some of them are of one pool and some of another, so it waits for that.
func (e *Engine) Stats() []upstream.Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	if pool := e.current.Load().Pool(); pool != nil {
		return pool.Stats()
	}
	return nil
}

// Redact takes secrets out of a text: the values that came into the file from
// the environment, the tokens that were got for its servers, and the secrets of
// the caller in info, which may be nil.
func (e *Engine) Redact(info *callinfo.Info, text string) string {
	for _, p := range e.alive() {
		text = p.Redact(info, text)
	}
	return text
}
