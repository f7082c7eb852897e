package server

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Transports of a [Request], as OpenTelemetry names them (network.transport).
const (
	Pipe = "pipe" // standard input and output
	TCP  = "tcp"  // HTTP
)

// Request is what is known of one request of a client. It must not be changed.
type Request struct {
	Method    string
	Tool      string      // of tools/call, else empty
	ID        string      // the id's JSON text
	Meta      value.Value // the _meta of the parameters; undefined where there is none
	Args      value.Value // of tools/call, an object; else undefined
	Header    http.Header // of the HTTP request; nil over pipes
	Transport string      // Pipe or TCP
	Session   string      // the Mcp-Session-Id; empty where there is none
	Protocol  string      // the revision of MCP; empty before initialize
	Address   string      // the host that the client reached, and its port; empty
	Port      int         // and 0 over pipes
	From      string      // address of the client, or of a proxy in front of it; empty over pipes
	// Caller says who asks, where that was authenticated; it is empty where
	// there is but one caller.
	Caller string
	Scopes []string // that were granted to the caller
	// Client is the program that asks, as it calls itself; empty if it does not.
	Client Client

	run    string // see SetRun
	reason string // see Outcome

	params  value.Value // an object, or undefined
	modern  bool        // of revision 2026-07-28 or later, without sessions
	session *session
	from    client

	turn         *turn     // of tools/call; nil where nothing limits it
	reporter     *Reporter // of tools/call
	result       value.Value
	failed       bool // the result of tools/call is an error
	failure      string
	subscription *subscription // of subscriptions/listen
}

// client is where a request came from, and the way back.
type client interface {
	// key tells clients apart as well as can be: by the caller's name, or where there
	// is none by the address.
	key() string
	// verify returns why the request is refused by its transport; it may be nil.
	verify(p *published, r *Request) *rpcError
	// notify sends a notification before the answer. It does not wait.
	notify(method string, params value.Value)
	// later sends a notification that belongs to no request, and says nothing where
	// none can be sent. It does not wait.
	later(method string, params value.Value)
	// stand waits until a stream of notifications is over.
	stand(ctx context.Context)
}

// Client is what a program says of itself. It may say anything.
type Client struct{ Name, Version string }

// SetRun notes by which id the run of a tool is known that answers the request. It
// may be called while the request is handled, by what handles it.
func (r *Request) SetRun(id string) { r.run = id }

// Run returns the id that SetRun has noted; empty if there is none.
func (r *Request) Run() string { return r.run }

// Outcome is how a request was answered.
type Outcome struct {
	// Reason is why the request was refused and nothing was done for it, a word
	// such as "unknown_tool", "insufficient_scope" or "busy"; empty if it was
	// carried out, whatever came of it.
	Reason    string
	Cancelled bool        // it was carried out, and ended before its time
	Code      int         // of the JSON-RPC error; 0 where there is a result
	Failed    bool        // the result of tools/call has isError
	Message   string      // of either
	Result    value.Value // what the tool gave; undefined for other results
}

// ObserveFunc is told of every request as its handling begins, also of those
// that are refused, and gives the context to handle it in and what is told of
// its end.
type ObserveFunc func(ctx context.Context, r *Request) (context.Context, func(Outcome))

type requestKey struct{}

func withRequest(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestOf returns the request that is handled in ctx, nil outside of one.
func RequestOf(ctx context.Context) *Request {
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}

// read reads in r what a message asks for, and returns what answers it. The error
// is why it is refused.
func (p *published) read(m jsonrpc.Request, r *Request) (method, *rpcError) {
	r.Method, r.ID, r.params = m.Method, m.ID, m.Params
	meta, rpcErr := r.param("_meta", value.Object)
	if rpcErr == nil {
		r.Meta = meta
	}
	said := r.Meta.Get(mcp.MetaKeyProtocolVersion).Str()
	if r.Protocol = said; said == "" {
		r.Protocol = r.session.ProtocolVersion()
	}
	r.modern = mcp.IsModernProtocol(said)
	r.readClient()
	if m.Method == string(mcp.MethodToolsCall) && rpcErr == nil {
		rpcErr = r.readCall()
	}
	if rpcErr == nil && r.modern {
		rpcErr = checkModern(r, said)
	}
	if rpcErr != nil {
		return method{}, rpcErr
	}
	found, rpcErr := lookUp(r)
	if rpcErr == nil && found.check != nil {
		rpcErr = found.check(p, r)
	}
	return found, rpcErr
}

// readClient reads what the program says of itself: in the message, as revision
// 2026-07-28 and initialize have it, or else before in the session.
func (r *Request) readClient() {
	said := r.Meta.Get(mcp.MetaKeyClientInfo)
	begins := r.Method == string(mcp.MethodInitialize)
	if begins {
		said = r.params.Get("clientInfo")
	}
	if said.Kind() != value.Object {
		r.Client = r.session.Client()
		return
	}
	r.Client = Client{clip(said.Get("name").Str()), clip(said.Get("version").Str())}
	if begins {
		r.session.setClient(r.Client)
	}
}

// checkModern checks what every request of revision 2026-07-28 or later says of
// its client (MCP 2026-07-28, Base Protocol, _meta).
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

// observed tells of a request.
func (p *published) observed(ctx context.Context, r *Request) (context.Context, func(Outcome)) {
	ctx = withRequest(ctx, r)
	if p.observe == nil {
		return ctx, func(Outcome) {}
	}
	return p.observe(ctx, r)
}

// refuse tells of a request that is answered with an error at once.
func (p *published) refuse(ctx context.Context, r *Request, e *rpcError) {
	_, done := p.observed(ctx, r)
	done(Outcome{Reason: e.why(), Code: e.Code, Message: e.Message})
}

// answer answers one request, with the whole message or an error.
func (p *published) answer(ctx context.Context, with method, r *Request) ([]byte, *rpcError) {
	ctx, done := p.observed(ctx, r)
	text, rpcErr := p.recovered(ctx, with, r)
	r.turn.leave()
	if p.observe != nil {
		o := r.outcome(rpcErr)
		o.Cancelled = ctx.Err() != nil && o.Reason == "" && (o.Failed || o.Code != 0)
		done(o)
	}
	return text, rpcErr
}

// recovered answers a panic with an internal error.
func (p *published) recovered(ctx context.Context, with method, r *Request) (text []byte, rpcErr *rpcError) {
	defer func() {
		if x := recover(); x != nil {
			p.log.ErrorContext(ctx, "a request panicked", "method", r.Method, "panic", fmt.Sprint(x), "stack", string(debug.Stack()))
			text, rpcErr = nil, rpcErrorf(mcp.INTERNAL_ERROR, "internal error: %v", x)
		}
	}()
	return with.answer(p, ctx, r)
}

func (r *Request) outcome(e *rpcError) Outcome {
	if e != nil {
		return Outcome{Reason: e.why(), Code: e.Code, Message: e.Message}
	}
	return Outcome{Reason: r.reason, Failed: r.failed, Message: r.failure, Result: r.result}
}
