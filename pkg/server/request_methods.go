package server

import (
	"context"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// method describes how requests of one MCP method are handled.
type method struct {
	revisions revisions
	// ordered reports whether later requests depend on this one, and must wait
	// for its answer.
	ordered bool
	// streams reports whether the answer stays open for notifications.
	streams bool
	// retains reports whether the answer needs what Options.Hold keeps.
	retains bool
	// slot reports whether the request takes a slot of Limits.
	slot bool
	// read reads the params into the request; it may be nil.
	read func(*Request) *rpcError
	// check returns an error if the request is refused before it is handled; it
	// may be nil.
	check func(p *snapshot, r *Request) *rpcError
	// answer returns the whole answer as JSON.
	answer func(p *snapshot, ctx context.Context, r *Request) ([]byte, *rpcError)
}

// revisions are the revisions of MCP that have a method.
type revisions uint8

const (
	allRevisions revisions = iota
	sessionRevisions
	statelessRevisions // since 2026-07-28
)

// methods are the supported methods. A request is parsed once, by exact names,
// so what is checked is what runs.
var methods = map[mcp.MCPMethod]method{
	mcp.MethodInitialize:             {revisions: sessionRevisions, ordered: true, answer: (*snapshot).initialize},
	mcp.MethodPing:                   {revisions: sessionRevisions, answer: (*snapshot).ping},
	mcp.MethodServerDiscover:         {revisions: statelessRevisions, answer: (*snapshot).discover},
	mcp.MethodSubscriptionsListen:    {revisions: statelessRevisions, streams: true, answer: (*snapshot).listen},
	mcp.MethodSetLogLevel:            {revisions: sessionRevisions, ordered: true, answer: (*snapshot).setLogLevel},
	mcp.MethodToolsList:              {answer: (*snapshot).listTools},
	mcp.MethodToolsCall:              {retains: true, slot: true, read: (*Request).readCall, check: (*snapshot).checkCall, answer: (*snapshot).answerCall},
	mcp.MethodPromptsList:            {retains: true, check: (*snapshot).checkPrompts, answer: (*snapshot).listPrompts},
	mcp.MethodPromptsGet:             {retains: true, slot: true, read: (*Request).readGet, check: (*snapshot).checkGet, answer: (*snapshot).answerCall},
	mcp.MethodResourcesList:          {retains: true, check: (*snapshot).checkResources, answer: (*snapshot).listResources},
	mcp.MethodResourcesTemplatesList: {retains: true, check: (*snapshot).checkResources, answer: (*snapshot).listTemplates},
	mcp.MethodResourcesRead:          {retains: true, slot: true, read: (*Request).readURI, check: (*snapshot).checkRead, answer: (*snapshot).answerCall},
	mcp.MethodResourcesSubscribe:     {revisions: sessionRevisions, ordered: true, read: (*Request).readURI, check: (*snapshot).checkSubscribe, answer: (*snapshot).subscribe},
	mcp.MethodResourcesUnsubscribe:   {revisions: sessionRevisions, ordered: true, read: (*Request).readURI, check: (*snapshot).checkSubscribes, answer: (*snapshot).unsubscribe},
	methodTasksGet:                   {revisions: statelessRevisions, read: (*Request).readTask, check: (*snapshot).checkTasks, answer: (*snapshot).getTask},
	methodTasksUpdate:                {revisions: statelessRevisions, read: (*Request).readTask, check: (*snapshot).checkTasks, answer: (*snapshot).updateTask},
	methodTasksCancel:                {revisions: statelessRevisions, read: (*Request).readTask, check: (*snapshot).checkTasks, answer: (*snapshot).cancelTask},
	mcp.MethodCompletionComplete:     {retains: true, slot: true, read: (*Request).readCompletion, check: (*snapshot).checkCompletion, answer: (*snapshot).complete},
}

// findMethod returns the method of a request, or an error if the revision does
// not have it.
func findMethod(r *Request) (method, *rpcError) {
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

func (p *snapshot) initialize(_ context.Context, r *Request) ([]byte, *rpcError) {
	if _, rpcErr := r.param("protocolVersion", value.String); rpcErr != nil {
		return nil, rpcErr
	}
	for _, name := range []string{"capabilities", "clientInfo"} {
		if _, rpcErr := r.param(name, value.Object); rpcErr != nil {
			return nil, rpcErr
		}
	}
	state := stateOf(r.params)
	r.session.begin(state)
	members := value.AppendString([]byte(`"protocolVersion":`), state.version)
	return p.message(r, append(members, p.initializeMembers...), false), nil
}

func (p *snapshot) ping(_ context.Context, r *Request) ([]byte, *rpcError) {
	return p.message(r, nil, false), nil
}

func (p *snapshot) discover(_ context.Context, r *Request) ([]byte, *rpcError) {
	return p.message(r, p.discoverMembers, true), nil
}

// logLevels are the levels of RFC 5424, as MCP names them.
var logLevels = []mcp.LoggingLevel{
	mcp.LoggingLevelDebug, mcp.LoggingLevelInfo, mcp.LoggingLevelNotice, mcp.LoggingLevelWarning,
	mcp.LoggingLevelError, mcp.LoggingLevelCritical, mcp.LoggingLevelAlert, mcp.LoggingLevelEmergency,
}

func (p *snapshot) setLogLevel(_ context.Context, r *Request) ([]byte, *rpcError) {
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
