package upstream

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
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
	return p.ask(ctx, &Call{Info: info, Server: server, Method: string(mcp.MethodPromptsGet), Name: name, Args: args})
}

// ReadResource returns the contents of a resource: the whole result of resources/read,
// with a list "contents". info may be nil. Errors are *[Error]; if the server answered
// an error, an *[RPCError] is in it.
func (p *Pool) ReadResource(ctx context.Context, info *callinfo.Info, server, uri string) (value.Value, error) {
	return p.ask(ctx, &Call{Info: info, Server: server, Method: string(mcp.MethodResourcesRead), Name: uri})
}

// Complete asks a server to complete an argument of a prompt or a variable of a
// resource template: params are those of completion/complete (ref, argument, context).
// It returns the whole result, with an object "completion"; from a server that
// completes nothing one without values. info may be nil. Errors are *[Error].
func (p *Pool) Complete(ctx context.Context, info *callinfo.Info, server string, params value.Value) (value.Value, error) {
	return p.ask(ctx, &Call{Info: info, Server: server, Method: string(mcp.MethodCompletionComplete), Args: params})
}

// list returns the list of a server.
func (p *Pool) list(ctx context.Context, info *callinfo.Info, server string, l listing) ([]value.Value, error) {
	all, err := p.ask(ctx, &Call{Info: info, Server: server, Method: string(l.method)})
	return all.Elems(), err
}

// ask makes a request that changes nothing, and tells Options.Request of it.
func (p *Pool) ask(ctx context.Context, c *Call) (value.Value, error) {
	s, err := p.server(opOf(c), c.Server, "")
	if err != nil {
		return value.Undef, err
	}
	return s.ask(ctx, c, p.callers[c.Server])
}

// WatchLists calls changed when a server of the pool says that its list of prompts or
// resources has changed, when a session with it is opened again, because it may be another
// version, and when the stream on which it announces changes is opened again, because
// what it announced in between is lost. Only servers with an open session say so. It
// ends when stop is called, and with the servers.
//
// Changed is called on a goroutine of its own. Changes of a server that come while it
// runs are one call.
func (p *Pool) WatchLists(changed func(ListChange)) (stop func()) {
	w := &listWatcher{changed}
	for _, name := range p.names {
		p.servers[name].listWatchers.add(w)
	}
	return sync.OnceFunc(func() {
		for _, name := range p.names {
			p.servers[name].listWatchers.remove(w)
		}
	})
}

// Subscribe calls updated when a server says that a resource, or one beneath it, has
// changed, until stop is called. It returns once the server has accepted the
// subscription. Callers that share a session share a subscription.
//
// A subscription survives its session: it is made again on the next one, with growing
// waits while the server cannot be reached, and updated is called once after that,
// because changes in between are not known. It ends with the server's entry.
//
// Updated is called on a goroutine of its own, never twice at once. Changes that come
// while it runs are one call. It is not called again after stop has returned, but a call
// under way goes on. Stop may be called more than once.
//
// A server has 10,000 subscriptions at most, an authenticated caller 1,000 of them. info
// may be nil; what it has for single calls (Listener, Sent, Trace) is not used. Errors
// are *[Error].
func (p *Pool) Subscribe(ctx context.Context, info *callinfo.Info, server, uri string, updated func()) (stop func(), err error) {
	s, err := p.server("subscribe", server, "")
	if err != nil {
		return nil, err
	}
	r := Request{Server: s.entry.Name, Method: string(mcp.MethodResourcesSubscribe), Resource: uri}
	failed := func(err error) (func(), error) { return nil, s.errorOfRequest(err, r, info.OrNone()) }
	if !s.isMCP() {
		return failed(s.lacksError("subscribe", hasSubscriptions))
	}
	ctx = withInfo(ctx, info)
	call, err := s.credentials.Resolve(ctx, infoOf(ctx))
	if err != nil {
		return failed(s.requestError(ctx, "subscribe", "", nil, 0, err))
	}
	learnSecrets(infoOf(ctx), call)
	w := &watcher{caller: infoOf(ctx).Caller, updated: updated}
	sub, attempt, err := s.subscriptions.add(s.mcpServer, infoOf(ctx), call.Identity, uri, w)
	if err != nil {
		return failed(err)
	}
	stop = sync.OnceFunc(func() { s.subscriptions.remove(sub, w) })
	select {
	case <-attempt.done:
		err = attempt.err
	case <-ctx.Done():
		err = s.stoppedError(ctx, "subscribe", "", "before it was answered")
	}
	if err != nil {
		stop()
		return failed(s.cleanError(ctx, err, call))
	}
	return stop, nil
}
