package server

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// subscription is what the client of one subscriptions/listen is told (MCP
// 2026-07-28, Subscriptions).
type subscription struct {
	audience *audience
	tag      value.Value // the _meta of what belongs to it
	filter   value.Value // what of the client's wishes is fulfilled
}

// subscribable are the notifications that a client may ask for, by their names in
// the request. Resources do not change: that one did is never told.
func (p *published) subscribable() map[string]string {
	all := map[string]string{"toolsListChanged": mcp.MethodNotificationToolsListChanged}
	if len(p.resources.all) > 0 {
		all["resourcesListChanged"] = mcp.MethodNotificationResourcesListChanged
	}
	return all
}

// listen answers subscriptions/listen with what closes the stream; before that the
// subscription is served.
func (p *published) listen(_ context.Context, r *Request) ([]byte, *rpcError) {
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
	id, _ := value.Parse(r.ID) // it was read from a message
	r.subscription = &subscription{
		audience: p.audience, filter: granted.Value(),
		tag: value.FromEntries([]value.Entry{{Key: mcp.MetaKeySubscriptionID, Value: id}}),
	}
	return p.message(r, nil, false), nil
}

// wants reports whether the client asked for notifications of this method.
func (s *subscription) wants(method string) bool {
	switch method {
	case mcp.MethodNotificationToolsListChanged:
		return s.filter.Has("toolsListChanged")
	case mcp.MethodNotificationResourcesListChanged:
		return s.filter.Has("resourcesListChanged")
	}
	return false
}

// serve acknowledges the subscription, and then sends what the client asked for
// until the stream is over. Where there is nothing to send it is over at once.
func (s *subscription) serve(ctx context.Context, to client) {
	acknowledgement := value.FromEntries([]value.Entry{{Key: "_meta", Value: s.tag}, {Key: "notifications", Value: s.filter}})
	if s.filter.Len() == 0 {
		to.notify(mcp.MethodNotificationSubscriptionsAcknowledged, acknowledgement)
		return
	}
	var first sync.Mutex // nothing goes before the acknowledgement
	first.Lock()
	leave := s.audience.join(s.wants, func(method string, params value.Value) {
		first.Lock()
		defer first.Unlock()
		to.notify(method, tagged(params, s.tag))
	})
	defer leave()
	to.notify(mcp.MethodNotificationSubscriptionsAcknowledged, acknowledgement)
	first.Unlock()
	to.stand(ctx)
}

// tagged gives a notification's params with the id of the subscription.
func tagged(params, tag value.Value) value.Value {
	b := value.NewBuilder(params.Len() + 1)
	b.Set("_meta", tag)
	for _, e := range params.Entries() {
		b.Set(e.Key, e.Value)
	}
	return b.Value()
}
