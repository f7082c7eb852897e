package upstream

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Prompts returns the prompts of a server as it describes them: objects with a name.
// It reads all pages. A server without prompts has none. info may be nil. Errors are
// *[Error].
func (p *Pool) Prompts(ctx context.Context, info *callinfo.Info, server string) ([]value.Value, error) {
	return p.list(ctx, info, server, listOfPrompts)
}

// Resources returns the resources of a server as it describes them: objects with a
// uri. It reads all pages. A server without resources has none. info may be nil.
// Errors are *[Error].
func (p *Pool) Resources(ctx context.Context, info *callinfo.Info, server string) ([]value.Value, error) {
	return p.list(ctx, info, server, listOfResources)
}

// ResourceTemplates returns the resource templates of a server as it describes them:
// objects with a uriTemplate (RFC 6570). It reads all pages. A server without them has
// none. info may be nil. Errors are *[Error].
func (p *Pool) ResourceTemplates(ctx context.Context, info *callinfo.Info, server string) ([]value.Value, error) {
	return p.list(ctx, info, server, listOfTemplates)
}

// GetPrompt returns a prompt of a server: the whole result of prompts/get, with a list
// "messages". Arguments that are not an object are sent as an empty one. info may be
// nil. Errors are *[Error]; if the server answered an error, an *[RPCError] is in it.
func (p *Pool) GetPrompt(ctx context.Context, info *callinfo.Info, server, name string, args value.Value) (value.Value, error) {
	members := value.AppendString([]byte(`"name":`), name)
	members = append(members, `,"arguments":`...)
	if args.Kind() == value.Object {
		members = args.Append(members)
	} else {
		members = append(members, "{}"...)
	}
	return p.request(ctx, info, read{
		Request: Request{Server: server, Method: string(mcp.MethodPromptsGet), Prompt: name},
		op:      "get", needs: hasPrompts, name: name, members: members, list: []string{"messages"},
	})
}

// ReadResource returns the contents of a resource: the whole result of resources/read,
// with a list "contents". info may be nil. Errors are *[Error]; if the server answered
// an error, an *[RPCError] is in it.
func (p *Pool) ReadResource(ctx context.Context, info *callinfo.Info, server, uri string) (value.Value, error) {
	return p.request(ctx, info, read{
		Request: Request{Server: server, Method: string(mcp.MethodResourcesRead), Resource: uri},
		op:      "read", needs: hasResources, name: uri, members: value.AppendString([]byte(`"uri":`), uri), list: []string{"contents"},
	})
}

// Complete asks a server to complete an argument of a prompt or a variable of a
// resource template: params are those of completion/complete (ref, argument, context).
// It returns the whole result, with an object "completion"; from a server that
// completes nothing one without values. info may be nil. Errors are *[Error].
func (p *Pool) Complete(ctx context.Context, info *callinfo.Info, server string, params value.Value) (value.Value, error) {
	var members []byte
	for _, m := range params.Entries() {
		if m.Key == "_meta" || m.Value.IsUndefined() {
			continue
		}
		if members != nil {
			members = append(members, ',')
		}
		members = append(value.AppendString(members, m.Key), ':')
		members = m.Value.Append(members)
	}
	return p.request(ctx, info, read{
		Request: Request{Server: server, Method: string(mcp.MethodCompletionComplete)},
		op:      "complete", needs: hasCompletions, members: members, list: []string{"completion", "values"}, none: noCompletions,
	})
}

// noCompletions is the result of completion/complete if there is nothing to complete.
var noCompletions = value.FromEntries([]value.Entry{{Key: "completion", Value: value.FromEntries([]value.Entry{
	{Key: "values", Value: value.FromArray(nil)},
	{Key: "total", Value: value.FromInt(0)},
	{Key: "hasMore", Value: value.FromBool(false)},
})}})

// read is a request that changes nothing.
type read struct {
	Request
	op      string      // as in Error
	needs   string      // the capability
	name    string      // of the header Mcp-Name
	members []byte      // of the params
	list    []string    // where the result has to have a list
	none    value.Value // the result of a server without the capability; undefined: that is an error
}

// request makes one request that changes nothing.
func (p *Pool) request(ctx context.Context, info *callinfo.Info, r read) (value.Value, error) {
	s, err := p.server(r.op, r.Server, "")
	if err != nil {
		return value.Value{}, err
	}
	return s.ask(ctx, info, r.op, r.Request, func(ctx context.Context, session *session, _ *credential.Call, pass passer) (value.Value, error) {
		if !session.peer.has(r.needs) {
			if !r.none.IsUndefined() {
				return r.none, nil
			}
			return value.Value{}, s.lacksError(r.op, r.needs)
		}
		held := memory.AccountOf(ctx)
		sent := 2 * int64(len(r.members)) // put into a message and queued
		if err := held.Grow(sent); err != nil {
			return value.Value{}, err
		}
		defer held.Shrink(sent)
		reply, err := session.exchangeOf(ctx, &wire.Message{Method: r.Method, Name: r.name, Params: r.members}, pass)
		switch {
		case err != nil && !r.none.IsUndefined() && isUnknownMethod(err):
			return r.none, nil
		case err != nil:
			return value.Value{}, err
		}
		inner := reply
		for _, member := range r.list {
			inner = inner.Get(member)
		}
		if inner.Kind() != value.Array {
			return value.Value{}, resultError(fmt.Sprintf("a result without the list %q", strings.Join(r.list, ".")))
		}
		return reply, nil
	})
}
