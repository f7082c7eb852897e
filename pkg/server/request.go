package server

import (
	"context"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Transports of a [Request], as OpenTelemetry names them (network.transport).
const (
	Pipe = "pipe" // standard input and output
	TCP  = "tcp"  // HTTP
)

// Request describes one request of a client. Only its Info may be changed, by the
// code that handles it.
type Request struct {
	// Info is what the calls that the request causes carry about the caller:
	// Caller, Header (nil over stdio) and Meta.
	callinfo.Info
	Method string
	// Tool names what is called: a tool by its name, and for prompts/get,
	// resources/read and completion/complete "prompts/NAME" or "resources/NAME".
	Tool      string
	URI       string      // of a resource; empty for methods without one
	ID        string      // the id's JSON text
	Args      value.Value // arguments of the call, an object; undefined for other methods
	Transport string      // Pipe or TCP
	Session   string      // the Mcp-Session-Id; empty without a session
	Protocol  string      // MCP revision; empty before initialize
	Address   string      // host that the client connected to; empty over stdio
	Port      int         // its port; 0 if it is unknown
	From      string      // address of the client, or of the proxy in front of it; empty over stdio
	Scopes    []string    // granted to the caller
	// Client is the program that sent the request, as it describes itself; zero
	// if it does not.
	Client Client

	params  value.Value // an object, or undefined
	modern  bool        // of revision 2026-07-28 or later, without sessions
	session *session
	peer    peer

	offer      *offer      // that is called
	completion *completion // of completion/complete
	task       string      // id, of methods of tasks
	slot       *callSlot   // of a call; nil without limits
	reporter   *Reporter   // of a call
}

// peer is the client at the other end of a transport.
type peer interface {
	// callerKey identifies the client for limits: by the caller's name, or by
	// its address if callers are not authenticated.
	callerKey() string
	// verify returns an error if the transport's own rules are broken; nil
	// otherwise.
	verify(p *snapshot, r *Request) *rpcError
	// notify sends a notification before the answer. It does not block.
	notify(method string, params value.Value)
	// sendRequest sends a request of the server on the stream of the client's request.
	// It reports false if the client cannot receive it there. It does not block.
	sendRequest(id, method string, params value.Value) bool
	// sessionNotifier returns a function that sends a notification that belongs to no
	// request. It keeps nothing of this one, and does not block. It drops the
	// notification if the session has no stream.
	sessionNotifier() func(method string, params value.Value)
	// keepOpen blocks until the stream of notifications ends.
	keepOpen(ctx context.Context)
	// lasting returns a context for what outlives the request, until stop is called:
	// it is done when the client's access ends. admitted reports whether the client
	// still has access; nil means that it has while ctx is not done.
	lasting() (ctx context.Context, admitted func() bool, stop func())
}

// Client is the name and version that a client program reports. Both are
// unverified.
type Client struct{ Name, Version string }

// Reporter returns the reporter to the client of a call that runs; nil for other
// requests. The methods of a nil Reporter do nothing.
func (r *Request) Reporter() *Reporter { return r.reporter }

// Outcome describes how a request was answered.
type Outcome struct {
	// Reason is why the request was refused before any work was done, as one
	// word such as "unknown_tool", "insufficient_scope" or "busy"; empty if it
	// was handled.
	Reason    string
	Cancelled bool // it was handled, but cancelled
	// Interrupted reports whether it was handled, but ended because memory was
	// short; it is not Cancelled then.
	Interrupted bool
	Code        int         // of the JSON-RPC error; 0 for a result
	Failed      bool        // what was called failed; a tool then has a result with isError
	Message     string      // of the error, or of the failed result
	Result      value.Value // of what was called; undefined for other methods
	// InputRequired reports whether the result asks for input of the client's
	// user; the client calls again with it.
	InputRequired bool
}

// ObserveFunc is called for every request when its handling begins, also for
// refused ones. It returns the context to handle the request in, and a function
// that is called with the outcome.
type ObserveFunc func(ctx context.Context, r *Request) (context.Context, func(Outcome))

// read reads a message into r and returns the method that answers it. It
// returns an error if the request is refused.
func (p *snapshot) read(m jsonrpc.Request, r *Request) (method, *rpcError) {
	r.Method, r.ID, r.params = m.Method, m.ID, m.Params
	meta, rpcErr := r.param("_meta", value.Object)
	if rpcErr == nil {
		r.Meta = meta
	}
	said := r.Meta.Get(mcp.MetaKeyProtocolVersion).Str()
	if r.Protocol = revision(said); said == "" {
		r.Protocol = r.session.ProtocolVersion()
	}
	r.modern = mcp.IsModernProtocol(said)
	r.readClient()
	found, missing := findMethod(r)
	if missing == nil && found.read != nil && rpcErr == nil {
		rpcErr = found.read(r)
	}
	if rpcErr == nil && r.modern {
		rpcErr = checkModern(r, said)
	}
	if rpcErr != nil {
		return method{}, rpcErr
	}
	rpcErr = missing
	if rpcErr == nil && found.check != nil {
		rpcErr = found.check(p, r)
	}
	return found, rpcErr
}

// revision returns the revision of MCP with this name, or the start of a name that is
// unknown. It keeps nothing of the message: spans and metrics keep it.
func revision(said string) string {
	if i := slices.Index(mcp.ValidProtocolVersions, said); i >= 0 {
		return mcp.ValidProtocolVersions[i]
	}
	return clip(said)
}

// readClient sets r.Client: from the message (revision 2026-07-28 and
// initialize), otherwise from the session.
func (r *Request) readClient() {
	said := r.Meta.Get(mcp.MetaKeyClientInfo)
	if r.Method == string(mcp.MethodInitialize) {
		said = r.params.Get("clientInfo")
	}
	if said.Kind() != value.Object {
		r.Client = r.session.Client()
		return
	}
	r.Client = clientOf(said)
}

// clientOf returns how a client describes itself (MCP 2025-11-25, Implementation).
func clientOf(said value.Value) Client {
	return Client{clip(said.Get("name").Str()), clip(said.Get("version").Str())}
}

// checkModern checks the _meta that every request of revision 2026-07-28 or
// later must have (MCP 2026-07-28, Base Protocol, _meta).
func checkModern(r *Request, version string) *rpcError {
	if v := r.Meta.Get(mcp.MetaKeyClientCapabilities); v.Kind() != value.Object {
		return rpcErrorf(mcp.INVALID_PARAMS, "missing or invalid _meta field %s", mcp.MetaKeyClientCapabilities)
	}
	if !mcp.IsValidProtocolVersion(version) {
		rpcErr := rpcErrorf(mcp.UNSUPPORTED_PROTOCOL_VERSION, "unsupported protocol version %q; supported: %s",
			version, strings.Join(mcp.ValidProtocolVersions, ", "))
		rpcErr.Data = value.FromEntries([]value.Entry{
			{Key: "supported", Value: supportedVersions}, {Key: "requested", Value: value.FromString(jsonrpc.Clip(version))},
		})
		return rpcErr
	}
	return nil
}

// startObserving reports the start of a request to the observer.
func (p *snapshot) startObserving(ctx context.Context, r *Request) (context.Context, func(Outcome)) {
	if p.observe == nil {
		return ctx, func(Outcome) {}
	}
	return p.observe(ctx, r)
}

// observeRefusal reports a request that is refused at once to the observer.
func (p *snapshot) observeRefusal(ctx context.Context, r *Request, e *rpcError) {
	_, done := p.startObserving(ctx, r)
	done(Outcome{Reason: e.why(), Code: e.Code, Message: e.Message})
}

// param returns a member of the params, which must be of this kind. It returns
// undefined for a missing member and for null.
func (r *Request) param(name string, kind value.Kind) (value.Value, *rpcError) {
	v := r.params.Get(name)
	switch v.Kind() {
	case kind, value.Undefined:
		return v, nil
	case value.Null:
		return value.Undef, nil
	}
	what := "an object"
	if kind != value.Object {
		what = "a " + kind.String()
	}
	return v, rpcErrorf(mcp.INVALID_PARAMS, "%s: %s must be %s, found %s", r.Method, name, what, graph.Describe(v))
}
