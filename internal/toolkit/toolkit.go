// Package toolkit is an MCP server with which an agent builds graph tools: it looks
// at what upstream servers offer, tries calls and expressions, and adds, changes,
// runs and tests the tools of one configuration file.
package toolkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of what a toolkit holds and does.
const (
	maxCalls      = 16               // of its tools at the same time
	maxRunTime    = 10 * time.Minute // of one run
	keptRuns      = 100
	keptRunsBytes = 32 << 20
)

// Options are the settings of a Toolkit.
type Options struct {
	// Path is the configuration file. It must exist and be valid YAML.
	Path     string
	MCPFiles []string                         // further files with upstream servers
	Getenv   func(name string) (string, bool) // required
	Inputs   map[string]string                // of ${input:ID}
	Log      *slog.Logger                     // required
	Memory   *memory.Budget                   // nil: no bound
	// HTTP reads how the file is served, for ServeHTTP. An error there is one of New.
	HTTP bool
	// Core publishes only the thirteen tools of the TypeScript toolkit.
	Core bool
}

// Toolkit serves one configuration file to agents. It is safe for concurrent use.
type Toolkit struct {
	opts   Options
	engine *engine.Engine // of the servers; the tools are in the programs of file
	file   *file
	runs   *runs.Store
	tapes  *tapes
	tools  map[string]*tool
	server *server.Server
	// offers is what the server publishes, without what the file says about access.
	offers server.Options
	web    atomic.Pointer[server.HTTPOptions] // of the HTTP server; nil while there is none

	sessions sessions
}

// tool is one of the tools that the toolkit has.
type tool struct {
	server.Tool
	core   bool
	input  *graph.Schema
	handle func(ctx context.Context, c *call) (value.Value, error)
}

// call is a call of one of the tools.
type call struct {
	*Toolkit
	request *server.Request
	args    value.Value
	info    *callinfo.Info // of what the call runs or calls itself; nil if nothing
}

// carry returns what a run or call carries about the client. Answers then hide the
// secrets that were sent for it.
func (c *call) carry() *callinfo.Info {
	c.info = &callinfo.Info{Caller: c.request.Caller, Header: c.request.Header, Meta: c.request.Meta}
	return c.info
}

func (c *call) text(name string) string { return c.args.Get(name).Str() }

// LoadError is returned for a file that cannot be read.
type LoadError = engine.LoadError

// New returns the toolkit of a file. The error is a *LoadError if the file
// cannot be read, or if its servers have errors.
func New(o Options) (*Toolkit, error) {
	t := &Toolkit{
		opts: o, tools: map[string]*tool{}, tapes: &tapes{},
		runs: runs.New(runs.Limits{Count: keptRuns, Bytes: keptRunsBytes, Memory: o.Memory}),
	}
	e, err := engine.New(context.Background(), o.Path, engine.Options{
		Getenv: o.Getenv, Inputs: o.Inputs, Log: o.Log, MCPFiles: o.MCPFiles, ServersOnly: true, Serving: o.HTTP, Runs: t.runs,
		Memory: o.Memory, Intercept: t.tapes.intercept,
	})
	if err != nil {
		return nil, err
	}
	t.engine = e
	t.file = newFile(t)
	var published []server.Tool
	for _, one := range allTools() {
		if o.Core && !one.core {
			continue
		}
		if one.input, err = graph.NewSchema(one.InputSchema); err != nil {
			return nil, fmt.Errorf("the inputSchema of %s: %w", one.Name, err)
		}
		t.tools[one.Name] = one
		published = append(published, one.Tool)
	}
	t.offers = server.Options{
		Info: config.Server{
			Name: "mcpgraph-toolkit", Version: engine.Version(), Title: "mcpgraph toolkit", Instructions: instructions,
		},
		Tools: published, Call: t.call, Log: e.Log(), Resources: helpResources(t), Memory: o.Memory,
	}
	t.server, err = server.New(t.restricted())
	return t, err
}

// restricted returns what the server publishes within the limits of the file, to callers
// that may do all that its tools can: a caller edits and runs all of them.
func (t *Toolkit) restricted() server.Options {
	p, o := t.engine.Current(), t.offers
	if o.Limits = p.Limits(); o.Limits.Calls == 0 || o.Limits.Calls > maxCalls {
		o.Limits.Calls = maxCalls
	}
	if t.opts.HTTP {
		scopes := p.Set().File.Scopes()
		o.Tools, o.Resources = slices.Clone(o.Tools), slices.Clone(o.Resources)
		for i := range o.Tools {
			o.Tools[i].RequiredScopes = scopes
		}
		for i := range o.Resources {
			o.Resources[i].RequiredScopes = scopes
		}
	}
	return o
}

// admit applies what the file now says about who may come in over HTTP.
func (t *Toolkit) admit(web *server.HTTPOptions) error {
	o := t.restricted()
	var err error
	if o.Access, err = t.engine.Current().Access(web); err != nil {
		return err
	}
	return t.server.Replace(o)
}

const instructions = `Builds tools that are graphs of calls of other MCP servers, and saves them in one file.
Look first (searchMcpTools, getMcpServerTool), try calls and expressions (sampleMcpTool, testMcpTool, testJSONata), run a draft (runGraphTool with toolDefinition), then save it (addGraphTool). help explains the language by topic. Nothing invalid is saved.`

// Guard returns what the file configures to authenticate callers over HTTP, or nil.
func (t *Toolkit) Guard() (auth.Guard, error) { return t.engine.Current().Guard() }

// File returns the servers of the file, and how it is served.
func (t *Toolkit) File() *config.File { return t.engine.Current().Set().File }

// Log returns the logger of the toolkit, which redacts secrets.
func (t *Toolkit) Log() *slog.Logger { return t.engine.Log() }

// Reload reads the file again if it has changed, as calls do, and applies what it says
// about servers and access. The error is a *[LoadError] or explains why that does not
// apply; what was there before still does.
func (t *Toolkit) Reload(ctx context.Context) (*engine.Changes, error) {
	before := t.engine.Use()
	defer before.Release()
	s, err := t.file.now(ctx)
	if err == nil {
		err = cmp.Or(s.servers, s.access)
	}
	if err != nil {
		return nil, err
	}
	return t.engine.Current().Changes(before), nil
}

// ServeStdio serves one client until in ends or ctx is done.
func (t *Toolkit) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return t.server.ServeStdio(ctx, in, out)
}

// ServeHTTP serves any number of clients until ctx is done. It closes the listener. The
// file configures access, as it does for a server of its tools; o overrides it. It
// needs Options.HTTP.
func (t *Toolkit) ServeHTTP(ctx context.Context, listener net.Listener, o server.HTTPOptions) error {
	if !t.opts.HTTP {
		_ = listener.Close()
		return errNotRead
	}
	if err := t.admit(&o); err != nil {
		_ = listener.Close()
		return err
	}
	t.web.Store(&o)
	defer t.web.Store(nil)
	return t.server.ServeHTTP(ctx, listener, o)
}

// errNotRead is returned where nobody knows who may come in.
var errNotRead = errors.New("the toolkit was made without Options.HTTP")

// Close ends the sessions with upstream servers and their processes.
func (t *Toolkit) Close() error { return t.engine.Close() }

// call answers tools/call.
func (t *Toolkit) call(ctx context.Context, r *server.Request) (value.Value, error) {
	one := t.tools[r.Tool]
	if err := one.input.ValidateContext(ctx, r.Args); err != nil {
		return value.Undef, fmt.Errorf("%s: invalid arguments: %s", r.Tool, t.engine.Redact(nil, err.Error()))
	}
	c := &call{Toolkit: t, request: r, args: r.Args}
	out, err := one.handle(ctx, c)
	if err != nil {
		return value.Undef, fmt.Errorf("%s: %s", r.Tool, t.engine.Redact(c.info, err.Error()))
	}
	out = t.engine.RedactValue(c.info, out)
	if out.LongerThan(maxAnswer) {
		return value.Undef, fmt.Errorf("%s: the answer has %d bytes; at most %d are sent: ask for one part, or set a smaller maxBytes", r.Tool, out.TextSize(), maxAnswer)
	}
	return out, nil
}

// maxAnswer is how many bytes of JSON an answer may have. It is sent twice, as text
// and as a value, in less than 5 MB.
const maxAnswer = 2_000_000

// allTools returns the tools in the order in which they are listed.
func allTools() []*tool {
	var all []*tool
	for _, family := range [][]*tool{lookTools(), serverTools(), editTools(), runTools(), tryTools(), runsTools(), suiteTools(), helpTools()} {
		all = append(all, family...)
	}
	return all
}
