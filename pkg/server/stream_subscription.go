package server

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// subscription holds what the client of one subscriptions/listen receives (MCP
// 2026-07-28, Subscriptions).
type subscription struct {
	subscribers *subscribers
	meta        value.Value // _meta of its notifications
	filter      value.Value // granted notifications
}

// subscribable returns the methods of the notifications that clients may
// subscribe to, by their names in the request. Resources never change, so there
// is no notification for that.
func (p *snapshot) subscribable() map[string]string {
	all := map[string]string{"toolsListChanged": mcp.MethodNotificationToolsListChanged}
	if len(p.resources.all) > 0 {
		all["resourcesListChanged"] = mcp.MethodNotificationResourcesListChanged
	}
	return all
}

// listen answers subscriptions/listen. The answer closes the stream; run serves
// the subscription before it is sent.
func (p *snapshot) listen(_ context.Context, r *Request) ([]byte, *rpcError) {
	wanted, rpcErr := r.param("notifications", value.Object)
	if rpcErr != nil {
		return nil, rpcErr
	}
	possible, granted := p.subscribable(), value.NewBuilder(2)
	for _, e := range wanted.Entries() {
		switch _, known := possible[e.Key]; {
		case !known:
		case e.Value.Kind() != value.Bool:
			return nil, rpcErrorf(mcp.INVALID_PARAMS, "%s: notifications.%s must be a boolean, found %s", r.Method, e.Key, graph.Describe(e.Value))
		case e.Value.Bool():
			granted.Set(e.Key, value.True)
		}
	}
	id, _ := value.Parse(r.ID) // valid: it comes from a parsed message
	r.subscription = &subscription{
		subscribers: p.subscribers, filter: granted.Value(),
		meta: value.FromEntries([]value.Entry{{Key: mcp.MetaKeySubscriptionID, Value: id}}),
	}
	return p.message(r, nil, false), nil
}

// wants reports whether the client subscribed to notifications of this method.
func (s *subscription) wants(method string) bool {
	switch method {
	case mcp.MethodNotificationToolsListChanged:
		return s.filter.Has("toolsListChanged")
	case mcp.MethodNotificationResourcesListChanged:
		return s.filter.Has("resourcesListChanged")
	}
	return false
}

// serve acknowledges the subscription and sends notifications until the stream
// ends. Without any granted notification it returns at once.
func (s *subscription) serve(ctx context.Context, p peer) {
	acknowledgement := value.FromEntries([]value.Entry{{Key: "_meta", Value: s.meta}, {Key: "notifications", Value: s.filter}})
	if s.filter.Len() == 0 {
		p.notify(mcp.MethodNotificationSubscriptionsAcknowledged, acknowledgement)
		return
	}
	var acknowledged sync.Mutex // notifications must wait for the acknowledgement
	acknowledged.Lock()
	remove := s.subscribers.add(s.wants, func(method string, params value.Value) {
		acknowledged.Lock()
		defer acknowledged.Unlock()
		p.notify(method, withMeta(params, s.meta))
	})
	defer remove()
	p.notify(mcp.MethodNotificationSubscriptionsAcknowledged, acknowledgement)
	acknowledged.Unlock()
	p.keepOpen(ctx)
}

// withMeta returns the params of a notification with this _meta.
func withMeta(params, meta value.Value) value.Value {
	b := value.NewBuilder(params.Len() + 1)
	b.Set("_meta", meta)
	for _, e := range params.Entries() {
		b.Set(e.Key, e.Value)
	}
	return b.Value()
}
