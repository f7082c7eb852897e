package server

import (
	"context"
	"crypto/rand"
	"strings"
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

	watches  *watches
	watchers []*watcher // of the resources
	release  func()     // gives back what they count for the limits
}

// resourceFilter is the member of a filter that lists URIs of resources.
const resourceFilter = "resourceSubscriptions"

// maxWantedURIs bounds what one subscriptions/listen can name: each URI is compared with
// all templates. A caller can have far fewer subscriptions.
const maxWantedURIs = 1000

// listen answers subscriptions/listen. The answer closes the stream; run serves
// the subscription before it is sent.
func listen(_ context.Context, r *reply) ([]byte, *rpcError) {
	wanted, rpcErr := r.param("notifications", value.Object)
	if rpcErr != nil {
		return nil, rpcErr
	}
	possible, granted := r.from.subscribable(), value.NewBuilder(4)
	var uris []string
	for _, e := range wanted.Entries() {
		if e.Key == resourceFilter {
			if uris, rpcErr = grantedURIs(r.from, r.Request, e.Value); rpcErr != nil {
				return nil, rpcErr
			}
			if len(uris) > 0 {
				granted.Set(e.Key, texts(uris))
			}
			continue
		}
		switch _, known := possible[e.Key]; {
		case !known:
		case e.Value.Kind() != value.Bool:
			return nil, rpcErrorf(mcp.INVALID_PARAMS, "%s: notifications.%s must be a boolean, found %s", r.Method, e.Key, graph.Describe(e.Value))
		case e.Value.Bool():
			granted.Set(e.Key, value.True)
		}
	}
	id, _ := value.Parse(r.ID) // valid: it comes from a parsed message
	s := &subscription{
		subscribers: r.from.subscribers, filter: granted.Value(), watches: r.from.watches,
		meta: value.FromEntries([]value.Entry{{Key: mcp.MetaKeySubscriptionID, Value: id}}),
	}
	if s.release, rpcErr = r.from.limiter.acquire(r.peer.callerKey(), len(uris)); rpcErr != nil {
		return nil, rpcErr
	}
	for _, uri := range uris {
		of := *r.Request
		of.URI = uri
		w, rpcErr := r.from.watches.newWatcher(&of, nil)
		if rpcErr != nil {
			s.end()
			return nil, rpcErr
		}
		s.watchers = append(s.watchers, w)
	}
	r.subscription = s
	return r.message(nil, false), nil
}

// grantedURIs returns those of the wanted resources that the caller can subscribe to,
// each once.
func grantedURIs(p *snapshot, r *Request, wanted value.Value) ([]string, *rpcError) {
	if wanted.Kind() != value.Array {
		return nil, rpcErrorf(mcp.INVALID_PARAMS, "%s: notifications.%s must be an array, found %s", r.Method, resourceFilter, graph.Describe(wanted))
	}
	if wanted.Len() > maxWantedURIs {
		return nil, tooManySubscriptions("a request may name %d resources", maxWantedURIs)
	}
	var granted []string
	seen := map[string]bool{}
	for _, e := range wanted.Elems() {
		if e.Kind() != value.String {
			return nil, rpcErrorf(mcp.INVALID_PARAMS, "%s: notifications.%s must have strings, found %s", r.Method, resourceFilter, graph.Describe(e))
		}
		uri := e.Str()
		if seen[uri] || len(granted) > maxSubscriptionsPerCaller { // too many already, which acquire refuses
			continue
		}
		seen[uri] = true
		o, _ := p.findResource(r, uri)
		if o != nil && o.resource.subscribable() && !missingFor(r, o) {
			granted = append(granted, strings.Clone(uri))
		}
	}
	return granted, nil
}

func texts(list []string) value.Value {
	values := make([]value.Value, len(list))
	for i, s := range list {
		values[i] = value.FromString(s)
	}
	return value.FromArray(values)
}

// wants reports whether the client subscribed to notifications of this method.
func (s *subscription) wants(method string) bool {
	switch method {
	case mcp.MethodNotificationToolsListChanged:
		return s.filter.Has("toolsListChanged")
	case mcp.MethodNotificationPromptsListChanged:
		return s.filter.Has("promptsListChanged")
	case mcp.MethodNotificationResourcesListChanged:
		return s.filter.Has("resourcesListChanged")
	}
	return false
}

// serve acknowledges the subscription and sends notifications until the stream
// ends. Without any granted notification it returns at once.
func (s *subscription) serve(ctx context.Context, p peer) {
	defer s.end()
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
	stream := rand.Text()
	for _, w := range s.watchers {
		params := withMeta(value.FromEntries([]value.Entry{{Key: "uri", Value: value.FromString(w.request.URI)}}), s.meta)
		w.ctx, w.updated = ctx, func() { p.notify(mcp.MethodNotificationResourceUpdated, params) }
		defer s.watches.add(w, stream)()
	}
	p.keepOpen(ctx)
}

// end releases what the resources count for limits.
func (s *subscription) end() {
	for _, w := range s.watchers {
		w.account.Close()
	}
	s.release()
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
