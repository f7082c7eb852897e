package server

import (
	"context"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

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
	answer func(ctx context.Context, r *reply) ([]byte, *rpcError)
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
	mcp.MethodInitialize:             {revisions: sessionRevisions, ordered: true, answer: initialize},
	mcp.MethodPing:                   {revisions: sessionRevisions, answer: ping},
	mcp.MethodServerDiscover:         {revisions: statelessRevisions, answer: discover},
	mcp.MethodSubscriptionsListen:    {revisions: statelessRevisions, streams: true, answer: listen},
	mcp.MethodSetLogLevel:            {revisions: sessionRevisions, ordered: true, answer: setLogLevel},
	mcp.MethodToolsList:              {answer: listTools},
	mcp.MethodToolsCall:              {retains: true, slot: true, read: readCall, check: checkCall, answer: answerCall},
	mcp.MethodPromptsList:            {retains: true, check: checkPrompts, answer: listPrompts},
	mcp.MethodPromptsGet:             {retains: true, slot: true, read: readGet, check: checkGet, answer: answerCall},
	mcp.MethodResourcesList:          {retains: true, check: checkResources, answer: listResources},
	mcp.MethodResourcesTemplatesList: {retains: true, check: checkResources, answer: listTemplates},
	mcp.MethodResourcesRead:          {retains: true, slot: true, read: readURI, check: checkRead, answer: answerCall},
	mcp.MethodResourcesSubscribe:     {revisions: sessionRevisions, ordered: true, read: readURI, check: checkSubscribe, answer: subscribe},
	mcp.MethodResourcesUnsubscribe:   {revisions: sessionRevisions, ordered: true, read: readURI, check: checkSubscribes, answer: unsubscribe},
	methodTasksGet:                   {revisions: statelessRevisions, read: readTask, check: checkTasks, answer: getTask},
	methodTasksUpdate:                {revisions: statelessRevisions, read: readTask, check: checkTasks, answer: updateTask},
	methodTasksCancel:                {revisions: statelessRevisions, read: readTask, check: checkTasks, answer: cancelTask},
	mcp.MethodCompletionComplete:     {retains: true, slot: true, read: readCompletion, check: checkCompletion, answer: complete},
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

func initialize(_ context.Context, r *reply) ([]byte, *rpcError) {
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
	return r.message(append(members, r.from.initializeMembers...), false), nil
}

func ping(_ context.Context, r *reply) ([]byte, *rpcError) {
	return r.message(nil, false), nil
}

func discover(_ context.Context, r *reply) ([]byte, *rpcError) {
	return r.message(r.from.discoverMembers, true), nil
}

// logLevels are the levels of RFC 5424, as MCP names them.
var logLevels = []mcp.LoggingLevel{
	mcp.LoggingLevelDebug, mcp.LoggingLevelInfo, mcp.LoggingLevelNotice, mcp.LoggingLevelWarning,
	mcp.LoggingLevelError, mcp.LoggingLevelCritical, mcp.LoggingLevelAlert, mcp.LoggingLevelEmergency,
}

func setLogLevel(_ context.Context, r *reply) ([]byte, *rpcError) {
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
	return r.message(nil, false), nil
}
