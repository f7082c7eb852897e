package mcpgraph

import (
	"log/slog"
	"os"

	"github.com/mcpgraph/mcpgraph/pkg/audit"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
)

// Option changes how Load sets an Engine up.
type Option func(*options)

type options struct {
	getenv   func(string) (string, bool)
	read     func(path string) ([]byte, error) // nil: from disk
	log      *slog.Logger
	mcpFiles []string
	inputs   map[string]string
	hooks    []executor.Hooks
	caller   graph.Caller
	servers  map[string]ServeFunc // in this process, by name

	functions []jsonata.Function

	credentials map[string]upstream.CredentialSource
	sessions    upstream.SessionStore
	telemetry   *telemetry.Telemetry
	runs        *runs.Store
	exposeRuns  bool
	audit       *audit.Log // nil writes none
	calls       *int       // in the place of server.maxConcurrentCalls
	callerCalls *int       // and of server.maxConcurrentCallsPerCaller
	memory      *memory.Budget
}

func newOptions(opts []Option) options {
	o := options{getenv: os.LookupEnv, log: slog.New(slog.DiscardHandler)}
	for _, opt := range opts {
		opt(&o)
	}
	if o.runs == nil {
		o.runs = runs.New(runs.Limits{Memory: o.memory})
	}
	return o
}

// WithGetenv takes the values of ${NAME} in the file from getenv instead of the
// process's environment. Its second result says whether the name is set.
func WithGetenv(getenv func(string) (string, bool)) Option {
	return func(o *options) { o.getenv = getenv }
}

// WithLogger sends log records to log: the JSON Logic operator "log", servers
// that die or misbehave, panics that were survived. The default discards them.
func WithLogger(log *slog.Logger) Option {
	return func(o *options) { o.log = log }
}

// WithAudit writes a record of each request of a client to log. The log stays the
// program's own, which closes it after the Engine.
func WithAudit(log *audit.Log) Option {
	return func(o *options) { o.audit = log }
}

// WithInputs sets what ${input:ID} stands for in the file and in those of
// [WithMCPFiles], by ID. An ID without a value is looked up in the environment, as
// MCPGRAPH_INPUT_ID. Values are secrets: they are redacted in what is written.
func WithInputs(values map[string]string) Option {
	return func(o *options) { o.inputs = values }
}

// WithMCPFiles reads further server entries from JSON files with a key
// mcpServers or servers. The configuration's own entries win over them.
func WithMCPFiles(paths ...string) Option {
	return func(o *options) { o.mcpFiles = append(o.mcpFiles, paths...) }
}

// WithHooks observes every call.
func WithHooks(hooks ...executor.Hooks) Option {
	return func(o *options) { o.hooks = append(o.hooks, hooks...) }
}

// WithCaller sends the calls of mcp nodes to caller instead of to the servers
// of the file, none of which is then started. It must be safe for concurrent
// use.
func WithCaller(caller graph.Caller) Option {
	return func(o *options) { o.caller = caller }
}

// WithFunctions lets the expressions of the file call functions of the program, as
// $Name. One with the name of a function of JSONata takes its place; those that
// look into the history cannot be replaced. Load fails where a signature does not
// parse. Functions run in any number of goroutines at once and should give the
// same for the same arguments; a panic is an error of the expression.
func WithFunctions(functions ...jsonata.Function) Option {
	return func(o *options) { o.functions = append(o.functions, functions...) }
}

// WithCredentialSource takes the credential for the server of this name from
// source, in the place of the entry's auth. What a caller brings along, for
// entries with forwardHeaders or forwardMeta, is put on the context of a call
// with [upstream.WithCredentials].
func WithCredentialSource(server string, source upstream.CredentialSource) Option {
	return func(o *options) {
		if o.credentials == nil {
			o.credentials = map[string]upstream.CredentialSource{}
		}
		o.credentials[server] = source
	}
}

// WithSessionStore keeps the ids of sessions over streamable HTTP in store, in
// the place of what the entries say (session).
func WithSessionStore(store upstream.SessionStore) Option {
	return func(o *options) { o.sessions = store }
}

// WithTelemetry tells t of every request, run, node and upstream call. A nil t
// changes nothing. The Engine does not shut it down.
func WithTelemetry(t *telemetry.Telemetry) Option {
	return func(o *options) { o.telemetry = t }
}

// WithRuns keeps the runs of the Engine in store, instead of in one of its own
// with the default limits. Engines can share a store.
func WithRuns(store *runs.Store) Option {
	return func(o *options) { o.runs = store }
}

// WithExposedRuns lets clients read the runs that they caused, with the values
// that travelled between nodes, as the resources mcpgraph://runs and
// mcpgraph://runs/{id}.
func WithExposedRuns() Option {
	return func(o *options) { o.exposeRuns = true }
}

// WithMaxConcurrentCalls lets n calls of clients run at the same time, whatever
// the file says; 0 lets any number.
func WithMaxConcurrentCalls(n int) Option {
	return func(o *options) { o.calls = &n }
}

// WithMaxConcurrentCallsPerCaller is as [WithMaxConcurrentCalls], for the calls
// of each caller.
func WithMaxConcurrentCallsPerCaller(n int) Option {
	return func(o *options) { o.callerCalls = &n }
}

// WithMemory bounds what the Engine holds: requests and answers that are served,
// the data of runs, replies of servers, caches and kept runs. A call that would
// need too much ends with an *executor.InterruptedError. A nil budget, which is
// the default, bounds nothing. Engines can share a budget.
func WithMemory(budget *memory.Budget) Option {
	return func(o *options) { o.memory = budget }
}

// CallOption changes one call.
type CallOption func(*callOptions)

type callOptions struct {
	hooks []executor.Hooks
}

// WithCallHooks observes one call, inside the hooks of the Engine.
func WithCallHooks(hooks ...executor.Hooks) CallOption {
	return func(o *callOptions) { o.hooks = append(o.hooks, hooks...) }
}
