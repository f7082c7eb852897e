package server

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

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
	// Caller says who asks, where that was authenticated; it is empty where
	// there is but one caller.
	Caller string
	Scopes []string // that were granted to the caller

	result  value.Value // what the tool gave
	uri     string      // of resources/read
	missing bool        // there is a reader for it, which has found nothing
	turn    *turn       // of tools/call; nil where nothing limits it
}

// Outcome is how a request was answered.
type Outcome struct {
	Code    int         // of the JSON-RPC error; 0 where there is a result
	Failed  bool        // the result of tools/call has isError
	Message string      // of either
	Result  value.Value // what the tool gave; undefined for other results
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

// protocol gives the revision that a request is of: what it says itself, as
// 2026-07-28 asks, or else that of its session.
func protocol(meta value.Value, session string) string {
	if v := meta.Get(mcp.MetaKeyProtocolVersion).Str(); v != "" {
		return v
	}
	return session
}

// read takes down in r what a message asks for, and gives the text that the
// library gets of it.
func (p *published) read(m message, r *Request, of *session) (text []byte, _ *rpcError) {
	r.Method, r.ID, r.Meta = m.method, m.id, m.params.Get("_meta")
	r.Protocol = protocol(r.Meta, of.ProtocolVersion())
	if m.method == string(mcp.MethodResourcesRead) {
		r.uri = m.params.Get("uri").Str()
	}
	if m.method != string(mcp.MethodToolsCall) {
		return m.forLibrary(), nil
	}
	call, rpcErr := m.call()
	if _, known := slices.BinarySearch(p.names, call.name); rpcErr == nil && (!known || p.hidden(r, call.name)) {
		rpcErr = p.unknownTool(r, call.name)
	}
	r.Tool, r.Args = call.name, call.args
	if rpcErr == nil {
		rpcErr = p.scopes.check(r)
	}
	if rpcErr != nil {
		return nil, rpcErr
	}
	return m.forLibrary(), nil
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
	done(Outcome{Code: e.code, Message: e.text})
}

// answer lets the library answer one request, whose message is text, without
// the arguments of a call.
func (p *published) answer(ctx context.Context, r *Request, text []byte) mcp.JSONRPCMessage {
	ctx, done := p.observed(ctx, r)
	response := p.dispatch(ctx, r, text)
	r.turn.leave()
	if failure, ok := response.(mcp.JSONRPCError); ok && r.Method == string(mcp.MethodResourcesRead) {
		response = r.notFound(failure)
	}
	if list, ok := listed(response); ok && p.hides {
		list.Tools = slices.DeleteFunc(slices.Clone(list.Tools), func(t mcp.Tool) bool { return p.hidden(r, t.Name) })
		response = mcp.JSONRPCResponse{Result: list}
	}
	if p.observe != nil {
		done(r.outcome(response))
	}
	return response
}

// listed returns the result of tools/list, if response has one.
func listed(response mcp.JSONRPCMessage) (list mcp.ListToolsResult, ok bool) {
	if r, is := response.(mcp.JSONRPCResponse); is {
		list, ok = r.Result.(mcp.ListToolsResult)
	}
	return list, ok
}

func (p *published) dispatch(ctx context.Context, r *Request, text []byte) (response mcp.JSONRPCMessage) {
	defer func() {
		if x := recover(); x != nil {
			p.log.ErrorContext(ctx, "a request panicked", "method", r.Method, "panic", fmt.Sprint(x), "stack", string(debug.Stack()))
			response = mcp.JSONRPCError{Error: mcp.NewJSONRPCErrorDetails(mcp.INTERNAL_ERROR, fmt.Sprintf("internal error: %v", x), nil)}
		}
	}()
	return p.mcp.HandleMessage(ctx, text)
}

// notFound gives the error for a missing resource the code that the request's
// revision has for it, and the resource's address (MCP 2026-07-28, Resources,
// Error Handling); the library takes the error of a reader for an internal one.
func (r *Request) notFound(failure mcp.JSONRPCError) mcp.JSONRPCError {
	if !r.missing && !strings.HasSuffix(failure.Error.Message, mcpserver.ErrResourceNotFound.Error()) {
		return failure
	}
	code := mcp.RESOURCE_NOT_FOUND
	if mcp.IsModernProtocol(r.Protocol) {
		code = mcp.INVALID_PARAMS
	}
	failure.Error = mcp.NewJSONRPCErrorDetails(code, fmt.Sprintf("there is no resource %q", r.uri), map[string]string{"uri": r.uri})
	return failure
}

func (r *Request) outcome(response mcp.JSONRPCMessage) Outcome {
	switch m := response.(type) {
	case mcp.JSONRPCError:
		return Outcome{Code: m.Error.Code, Message: m.Error.Message}
	case mcp.JSONRPCResponse:
		if result, ok := m.Result.(*mcp.CallToolResult); ok && result.IsError {
			text, _ := onlyText(result)
			return Outcome{Failed: true, Message: text}
		}
	}
	return Outcome{Result: r.result}
}

// Resource is something to read beside the tools.
type Resource struct {
	// URI names the resource, or where Template is true any number of them (a
	// URI template of RFC 6570, level 1).
	URI         string
	Template    bool
	Name        string
	Description string
	MIMEType    string
	// Read gives the text of the resource at uri for the caller of
	// [RequestOf](ctx). ok is false where there is none.
	Read func(ctx context.Context, uri string) (text string, ok bool)
}

// publish registers a resource with the library.
func (p *published) publish(r Resource) {
	read := func(ctx context.Context, q mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		uri := q.Params.URI
		text, ok := r.Read(ctx, uri)
		if !ok {
			if at := RequestOf(ctx); at != nil {
				at.missing = true
			}
			return nil, fmt.Errorf("there is no resource %q", uri)
		}
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: r.MIMEType, Text: text}}, nil
	}
	if r.Template {
		t := mcp.NewResourceTemplate(r.URI, r.Name,
			mcp.WithTemplateDescription(r.Description), mcp.WithTemplateMIMEType(r.MIMEType))
		p.mcp.AddResourceTemplate(t, mcpserver.ResourceTemplateHandlerFunc(read))
		return
	}
	p.mcp.AddResource(mcp.NewResource(r.URI, r.Name,
		mcp.WithResourceDescription(r.Description), mcp.WithMIMEType(r.MIMEType)), read)
}
