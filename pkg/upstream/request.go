package upstream

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Request is a request to a server for something that is no tool.
type Request struct {
	Server string // the name of its entry
	// Method is prompts/list, prompts/get, resources/list, resources/templates/list,
	// resources/read, resources/subscribe or completion/complete.
	Method string
	// Prompt is the name of the prompt, and Resource the URI of the resource, that the
	// request is for; empty if there is none.
	Prompt, Resource string
}

// requestObserver observes requests, as Options.Request does.
type requestObserver func(context.Context, *callinfo.Info, Request) (context.Context, *callinfo.Info, func(error))

// requestOf returns what a call asks for.
func requestOf(c *Call) Request {
	r := Request{Server: c.Server, Method: c.Method}
	switch mcp.MCPMethod(c.Method) {
	case mcp.MethodPromptsGet:
		r.Prompt = c.Name
	case mcp.MethodResourcesRead, mcp.MethodResourcesSubscribe:
		r.Resource = c.Name
	}
	return r
}

// maxShownName is how many bytes of a name or URI an error shows.
const maxShownName = 256

// capabilityNames are the capabilities in words.
var capabilityNames = map[string]string{
	hasPrompts: "prompts", hasResources: "resources", hasSubscriptions: "subscriptions to resources", hasCompletions: "completions",
}

// resultError is the error of a result that is not what its request asked for.
type resultError string

func (e resultError) Error() string { return "it answered " + string(e) }

func (resultError) failureKind() Kind { return KindMalformed }

// unwrapped returns a result of revision 2024-10-07, which has all of it in toolResult,
// in the form of the later revisions. Any other result stays as it is.
func unwrapped(reply value.Value) value.Value {
	old := reply.Get("toolResult")
	if old.IsUndefined() || reply.Has("content") || reply.Has("structuredContent") {
		return reply
	}
	if old.Kind() == value.Object && old.Get("content").Kind() == value.Array {
		return old
	}
	block := value.NewBuilder(2)
	block.Set("type", value.FromString("text"))
	text := old
	if old.Kind() != value.String {
		text = value.FromString(old.JSON())
	}
	block.Set("text", text)
	b := value.NewBuilder(3)
	b.Set("content", value.FromArray([]value.Value{block.Value()}))
	if old.Kind() == value.Object {
		b.Set("structuredContent", old)
	}
	for _, from := range []value.Value{reply, old} {
		if e := from.Get("isError"); !e.IsUndefined() {
			b.Set("isError", e)
		}
	}
	return b.Value()
}

// checkResult refuses a result of a tool that cannot be told from a success or a failure,
// or whose content is not a list of blocks (MCP 2025-11-25, schema, CallToolResult). Null
// is as good as nothing: encoders of some languages write it.
func checkResult(reply value.Value) error {
	if e := reply.Get("isError"); !e.IsUndefined() && !e.IsNull() && e.Kind() != value.Bool {
		return resultError("a result whose isError is not a boolean: " + e.Preview(redact.MaxQuoted))
	}
	if !reply.Has("content") && !reply.Has("structuredContent") && !reply.Get("isError").Bool() {
		return KindEmpty // it would read as null
	}
	content := reply.Get("content")
	if content.IsUndefined() || content.IsNull() {
		return nil
	}
	if content.Kind() != value.Array {
		return resultError("a result whose content is not a list: " + content.Preview(redact.MaxQuoted))
	}
	for _, block := range content.Elems() {
		if block.Kind() != value.Object {
			return resultError("a result with content that is not a block: " + block.Preview(redact.MaxQuoted))
		}
	}
	return nil
}

// isUnknownMethod reports whether the server answered that it does not know the method.
func isUnknownMethod(err error) bool {
	var rpc *RPCError
	return errors.As(err, &rpc) && rpc.Code == mcp.METHOD_NOT_FOUND
}
