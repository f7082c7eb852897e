package server

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// subscriber is the client of one subscriptions/listen. The library tells it
// what of the client's wishes the server can fulfil.
type subscriber struct {
	*session
	granted mcp.SubscriptionFilter
}

var _ mcpserver.SessionWithSubscriptionFilter = (*subscriber)(nil)

// SetSubscriptionFilter takes the filter down; the library takes it back when it
// thinks that the subscription is over.
func (s *subscriber) SetSubscriptionFilter(f mcp.SubscriptionFilter) {
	if !f.IsEmpty() {
		s.granted = f
	}
}

func (s *subscriber) SubscriptionFilter() (mcp.SubscriptionFilter, bool) {
	return s.granted, !s.granted.IsEmpty()
}

// wants reports whether the client asked for notifications of this method.
// Resources do not change: that one did is never told.
func (s *subscriber) wants(method string) bool {
	switch method {
	case mcp.MethodNotificationToolsListChanged:
		return s.granted.ToolsListChanged
	case mcp.MethodNotificationResourcesListChanged:
		return s.granted.ResourcesListChanged
	}
	return false
}

// listens reports whether a request is one for notifications.
func (r *Request) listens() bool {
	return r.Method == string(mcp.MethodSubscriptionsListen) && mcp.IsModernProtocol(r.Protocol)
}

// subscribe answers subscriptions/listen (MCP 2026-07-28, Subscriptions). send
// gets the acknowledgement, and then what the client asked for, until hold
// returns; it does not wait. Where there is nothing to wait for hold is not
// called. Afterwards the response is what closes the stream.
func (s *Server) subscribe(ctx context.Context, p *published, r *Request, text []byte,
	send func(method string, params value.Value), hold func()) mcp.JSONRPCMessage {
	to := &subscriber{session: newSession("")}
	ctx, cancel := context.WithCancel(p.mcp.WithContext(ctx, to))
	// The library checks the request and waits for its end, holding on to what is
	// published now. We do the waiting.
	cancel()
	response := p.answer(ctx, r, text)
	done, ok := response.(mcp.JSONRPCResponse)
	if !ok {
		return response
	}
	id, _ := value.Parse(r.ID) // it was read from a message
	tag := value.FromEntries([]value.Entry{{Key: mcp.MetaKeySubscriptionID, Value: id}})
	if result, ok := done.Result.(mcp.SubscriptionsListenResult); ok {
		result.EnsureResultMeta().SetSubscriptionID(id)
		done.Result = result
	}
	granted, err := appendJSON(nil, to.granted)
	if err != nil {
		return mcp.JSONRPCError{Error: mcp.NewJSONRPCErrorDetails(mcp.INTERNAL_ERROR, err.Error(), nil)}
	}
	filter, _ := value.Parse(string(granted)) // it was made just now
	acknowledgement := value.FromEntries([]value.Entry{{Key: "_meta", Value: tag}, {Key: "notifications", Value: filter}})
	if to.granted.IsEmpty() {
		send(mcp.MethodNotificationSubscriptionsAcknowledged, acknowledgement)
		return done
	}
	var first sync.Mutex // nothing goes before the acknowledgement
	first.Lock()
	leave := s.audience.join(to.wants, func(method string, params value.Value) {
		first.Lock()
		defer first.Unlock()
		send(method, tagged(params, tag))
	})
	defer leave()
	send(mcp.MethodNotificationSubscriptionsAcknowledged, acknowledgement)
	first.Unlock()
	hold()
	return done
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
