package mcpgraph

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/internal/serving"
	"github.com/mcpgraph/mcpgraph/pkg/audit"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
)

// Option changes how Load sets an Engine up.
type Option func(*options)

type options struct {
	engine  engine.Options
	serving serving.Options
}

func newOptions(opts []Option) options {
	o := options{engine: engine.Options{Getenv: os.LookupEnv, Log: slog.New(slog.DiscardHandler)}}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// WithGetenv takes the values of ${NAME} in the file from getenv instead of the
// process's environment. Its second result reports whether the name is set.
func WithGetenv(getenv func(string) (string, bool)) Option {
	return func(o *options) { o.engine.Getenv = getenv }
}

// WithLogger sends log records to log: the JSON Logic operator "log", servers
// that die or misbehave, panics that were survived. The default discards them.
func WithLogger(log *slog.Logger) Option {
	return func(o *options) { o.engine.Log = log }
}

// WithAudit writes a record of each request of a client to log. The log stays the
// program's own, which closes it after the Engine.
func WithAudit(log *audit.Log) Option {
	return func(o *options) { o.serving.Audit = log }
}

// WithInputs sets what ${input:ID} stands for in the file and in those of
// [WithMCPFiles], by ID. An ID without a value is looked up in the environment, as
// MCPGRAPH_INPUT_ID. Values are secrets: they are redacted in what is written.
func WithInputs(values map[string]string) Option {
	return func(o *options) { o.engine.Inputs = values }
}

// WithMCPFiles reads further server entries from JSON files with a key
// mcpServers or servers. The configuration's own entries win over them.
func WithMCPFiles(paths ...string) Option {
	return func(o *options) { o.engine.MCPFiles = append(o.engine.MCPFiles, paths...) }
}

// WithServersOnly ignores the tools of the file, also their errors. It may then be
// a file with nothing but servers, as desktop clients have. [Engine.Status] and
// [Engine.Upstreams] work; the Engine cannot be served.
func WithServersOnly() Option {
	return func(o *options) { o.engine.ServersOnly = true }
}

// WithHooks observes every call.
func WithHooks(hooks ...executor.Hooks) Option {
	return func(o *options) { o.engine.Hooks = append(o.engine.Hooks, hooks...) }
}

// WithHooksFunc observes every call with the hooks that f returns for it. info is
// what the call carries about its caller, as [Engine.Redact] takes it.
func WithHooksFunc(f func(info *callinfo.Info) executor.Hooks) Option {
	return func(o *options) { o.engine.HooksFunc = append(o.engine.HooksFunc, f) }
}

// WithCaller sends the calls of mcp nodes to caller instead of to the servers
// of the file, none of which is then started. It must be safe for concurrent
// use.
func WithCaller(caller graph.Caller) Option {
	return func(o *options) { o.engine.Caller = caller }
}

// WithIntercept lets f stand for the servers of the file in each exchange of a tool
// call: it answers in their place, or passes the call on and sees what came. Cache,
// retry, circuit breaker and rate limits of their entries act on what f returns. It
// must be safe for concurrent use.
func WithIntercept(f upstream.Intercept) Option {
	return func(o *options) { o.engine.Intercept = f }
}

// ServeFunc serves MCP to one client: it reads newline-delimited messages from in
// and writes its own to out, as servers do on stdio, until in ends or ctx is done.
// [Engine.ServeStdio] is one.
type ServeFunc func(ctx context.Context, in io.Reader, out io.Writer) error

// WithServer lets serve be the server of this name, in this process. The file
// needs no entry for it; the settings of one that it has (timeouts, retry, tools
// and the like) apply, its command or url do not. Serve is called when a call
// first needs the server, and again when it has returned. Other servers are those
// of the file.
func WithServer(name string, serve ServeFunc) Option {
	return func(o *options) {
		if o.engine.Servers == nil {
			o.engine.Servers = map[string]engine.InProcess{}
		}
		o.engine.Servers[name] = engine.InProcess(serve)
	}
}

// WithFunctions lets the expressions of the file call functions of the program,
// as $Name. One with the name of a function of JSONata takes its place; those
// that look into the history cannot be replaced. Load fails where a signature
// does not parse. Functions must be safe for concurrent use and should return
// the same result for the same arguments; a panic becomes an error of the
// expression.
func WithFunctions(functions ...jsonata.Function) Option {
	return func(o *options) { o.engine.Functions = append(o.engine.Functions, functions...) }
}

// WithCredentialSource takes the credential for the server of this name from
// source, in the place of the entry's auth. What a caller brings along, for
// entries with forwardHeaders or forwardMeta, goes with a call by [WithCallInfo].
func WithCredentialSource(server string, source upstream.CredentialSource) Option {
	return func(o *options) {
		if o.engine.Credentials == nil {
			o.engine.Credentials = map[string]upstream.CredentialSource{}
		}
		o.engine.Credentials[server] = source
	}
}

// WithSessionStore keeps the session ids of streamable HTTP in store. It
// overrides the session setting of the entries.
func WithSessionStore(store upstream.SessionStore) Option {
	return func(o *options) { o.engine.Sessions = store }
}

// WithLock uses the lock file at path, which must exist. By default Load uses the
// one beside the configuration, if there is one: the configuration's name with
// .lock.json in place of its ending. The file is read from disk.
func WithLock(path string) Option {
	return func(o *options) { o.engine.Lock.Path = path }
}

// WithUnsetVariables keeps variables of the file without a value as they are
// written, without an error. Servers whose entries have any are not started: their
// calls fail and name the variables.
func WithUnsetVariables() Option {
	return func(o *options) { o.engine.AllowUnset = true }
}

// WithLockRequired lets Load fail if there is no lock file.
func WithLockRequired() Option {
	return func(o *options) { o.engine.Lock.Required = true }
}

// WithLockMode sets what happens to calls of upstream tools that differ from the
// lock file, and to calls of tools that are not in it. With [lock.Off] the file is
// not read.
func WithLockMode(mode lock.Mode) Option {
	return func(o *options) { o.engine.Lock.Mode = mode }
}

// WithStatedAnnotations publishes the annotations of tools as the file has them.
// By default those that it leaves out are computed from the lock file.
func WithStatedAnnotations() Option {
	return func(o *options) { o.engine.Lock.StatedAnnotations = true }
}

// WithTelemetry reports every request, run, node and upstream call to t. A nil
// t changes nothing. The Engine does not shut it down.
func WithTelemetry(t *telemetry.Telemetry) Option {
	return func(o *options) { o.engine.Telemetry = t }
}

// WithRuns keeps the runs of the Engine in store, instead of in one of its own
// with the default limits. Engines can share a store.
func WithRuns(store *runs.Store) Option {
	return func(o *options) { o.engine.Runs = store }
}

// WithExposedRuns lets clients read the runs that they caused, with the values
// that travelled between nodes, as the resources mcpgraph://runs and
// mcpgraph://runs/{id}.
func WithExposedRuns() Option {
	return func(o *options) { o.serving.ExposeRuns = true }
}

// WithErrorDetails lets callers over HTTP see the whole error of a failed call: its place
// in the file, the upstream server, its arguments and its reply. By default they get its
// name, its node and a message, and the log has the rest. Clients over stdio see all.
func WithErrorDetails() Option {
	return func(o *options) { o.serving.ErrorDetails = true }
}

// WithMaxConcurrentCalls limits the concurrent calls of clients to n and
// overrides the file; 0 means no limit.
func WithMaxConcurrentCalls(n int) Option {
	return func(o *options) { o.serving.Calls = &n }
}

// WithMaxConcurrentCallsPerCaller is as [WithMaxConcurrentCalls], for the calls
// of each caller.
func WithMaxConcurrentCallsPerCaller(n int) Option {
	return func(o *options) { o.serving.CallsPerCaller = &n }
}

// WithMemory bounds what the Engine holds: requests and answers that are served,
// the data of runs, replies of servers, caches and kept runs. A call that would
// need too much ends with an *executor.InterruptedError. A nil budget, which is
// the default, bounds nothing. Engines can share a budget.
func WithMemory(budget *memory.Budget) Option {
	return func(o *options) { o.engine.Memory = budget }
}
