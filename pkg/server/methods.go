package server

import (
	"context"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// method is how requests of one method are answered.
type method struct {
	revisions revisions
	// ordered reports that the requests which follow build on this one, and wait
	// until it has been answered.
	ordered bool
	// streams reports that the answer stays open for notifications.
	streams bool
	// check returns why a request is refused before it is taken in; it may be nil.
	check func(p *published, r *Request) *rpcError
	// answer returns the whole answer, as JSON.
	answer func(p *published, ctx context.Context, r *Request) ([]byte, *rpcError)
}

// revisions are those of MCP in which there is a method.
type revisions uint8

const (
	allRevisions revisions = iota
	sessionRevisions
	statelessRevisions // from 2026-07-28
)

// methods are all that are answered. What a request asks for was parsed once, by
// exact names, and what is checked here is what is then run.
var methods = map[mcp.MCPMethod]method{
	mcp.MethodInitialize:             {revisions: sessionRevisions, ordered: true, answer: (*published).initialize},
	mcp.MethodPing:                   {revisions: sessionRevisions, answer: (*published).ping},
	mcp.MethodServerDiscover:         {revisions: statelessRevisions, answer: (*published).discover},
	mcp.MethodSubscriptionsListen:    {revisions: statelessRevisions, streams: true, answer: (*published).listen},
	mcp.MethodSetLogLevel:            {revisions: sessionRevisions, ordered: true, answer: (*published).setLogLevel},
	mcp.MethodToolsList:              {answer: (*published).listTools},
	mcp.MethodToolsCall:              {check: (*published).checkCall, answer: (*published).callTool},
	mcp.MethodResourcesList:          {check: (*published).checkResources, answer: (*published).listResources},
	mcp.MethodResourcesTemplatesList: {check: (*published).checkResources, answer: (*published).listTemplates},
	mcp.MethodResourcesRead:          {check: (*published).checkResources, answer: (*published).readResource},
}

// lookUp finds the method of a request, and returns why it is not there.
func lookUp(r *Request) (method, *rpcError) {
	m, known := methods[mcp.MCPMethod(r.Method)]
	switch {
	case !known:
		return m, rpcErrorf(mcp.METHOD_NOT_FOUND, "unknown method %q", r.Method)
	case m.revisions == sessionRevisions && r.modern:
		return m, rpcErrorf(mcp.METHOD_NOT_FOUND, "%q was removed in protocol version %s", r.Method, mcp.ProtocolVersion20260728)
	case m.revisions == statelessRevisions && !r.modern:
		return m, rpcErrorf(mcp.METHOD_NOT_FOUND, "%q requires protocol version %s or later", r.Method, mcp.ProtocolVersion20260728)
	}
	return m, nil
}

// param returns a member of the params, which must be of the kind. Absent ones and
// null are undefined.
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

func (p *published) initialize(_ context.Context, r *Request) ([]byte, *rpcError) {
	version, rpcErr := r.param("protocolVersion", value.String)
	if rpcErr != nil {
		return nil, rpcErr
	}
	if _, rpcErr = r.param("capabilities", value.Object); rpcErr != nil {
		return nil, rpcErr
	}
	if _, rpcErr = r.param("clientInfo", value.Object); rpcErr != nil {
		return nil, rpcErr
	}
	agreed := mcp.NegotiateLegacyVersion(version.Str())
	r.session.initialize(agreed)
	members := value.AppendString([]byte(`"protocolVersion":`), agreed)
	return p.message(r, append(members, p.about...), false), nil
}

func (p *published) ping(_ context.Context, r *Request) ([]byte, *rpcError) {
	return p.message(r, nil, false), nil
}

func (p *published) discover(_ context.Context, r *Request) ([]byte, *rpcError) {
	return p.message(r, p.discovery, true), nil
}

// logLevels are those of RFC 5424, as MCP has them.
var logLevels = []mcp.LoggingLevel{
	mcp.LoggingLevelDebug, mcp.LoggingLevelInfo, mcp.LoggingLevelNotice, mcp.LoggingLevelWarning,
	mcp.LoggingLevelError, mcp.LoggingLevelCritical, mcp.LoggingLevelAlert, mcp.LoggingLevelEmergency,
}

func (p *published) setLogLevel(_ context.Context, r *Request) ([]byte, *rpcError) {
	v, rpcErr := r.param("level", value.String)
	level := mcp.LoggingLevel(v.Str())
	switch {
	case rpcErr != nil:
		return nil, rpcErr
	case !slices.Contains(logLevels, level):
		return nil, rpcErrorf(mcp.INVALID_PARAMS, "%s: unknown level %q", r.Method, v.Str())
	case r.session.ProtocolVersion() == "":
		return nil, rpcErrorf(mcp.INVALID_REQUEST, "%s: send initialize first", r.Method)
	}
	r.session.setLogLevel(level)
	return p.message(r, nil, false), nil
}

// firstPage checks that a request for a list is one for its beginning: lists are
// sent whole, so no cursor was ever given out.
func firstPage(r *Request) *rpcError {
	cursor, rpcErr := r.param("cursor", value.String)
	if rpcErr == nil && cursor.Str() != "" {
		rpcErr = rpcErrorf(mcp.INVALID_PARAMS, "%s: unknown cursor; the list has one page", r.Method)
	}
	return rpcErr
}

func (p *published) listTools(_ context.Context, r *Request) ([]byte, *rpcError) {
	if rpcErr := firstPage(r); rpcErr != nil {
		return nil, rpcErr
	}
	shown := p.tools
	if p.hides {
		shown = slices.DeleteFunc(slices.Clone(shown), func(t listedTool) bool { return p.hidden(r, t.name) })
	}
	return p.message(r, appendTools([]byte(`"tools":`), shown, r.modern), true), nil
}
