package server

import (
	"context"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// sessionResources are the resources that the client of a session has subscribed to,
// by URI. The zero value has none. It is safe for concurrent use.
type sessionResources struct {
	mu    sync.Mutex
	ended bool
	byURI map[string]*sessionResource
}

// sessionResource is one of them.
type sessionResource struct{ leave func() }

// add adds a subscription, unless there is one to this URI. start begins it and
// returns what ends it; over, which it gets, removes it again.
func (s *sessionResources) add(uri string, start func(over func()) (leave func(), _ *rpcError)) *rpcError {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return errSessionEnded
	}
	if s.byURI[uri] != nil {
		return nil
	}
	uri = strings.Clone(uri)
	one := &sessionResource{}
	leave, rpcErr := start(func() { s.remove(uri, one) })
	if rpcErr != nil {
		return rpcErr
	}
	one.leave = leave
	if s.byURI == nil {
		s.byURI = map[string]*sessionResource{}
	}
	s.byURI[uri] = one
	return nil
}

// remove ends the subscription to a URI, if it is this one; nil means any.
func (s *sessionResources) remove(uri string, only *sessionResource) {
	s.mu.Lock()
	one := s.byURI[uri]
	if one == nil || only != nil && one != only {
		s.mu.Unlock()
		return
	}
	delete(s.byURI, uri)
	s.mu.Unlock()
	one.leave()
}

// end ends all subscriptions and makes add refuse further ones.
func (s *sessionResources) end() {
	s.mu.Lock()
	all := s.byURI
	s.ended, s.byURI = true, nil
	s.mu.Unlock()
	for _, one := range all {
		one.leave()
	}
}

// checkSubscribes refuses subscriptions if there is nothing to subscribe to.
func checkSubscribes(p *snapshot, r *Request) *rpcError {
	if !p.subscribes() {
		return rpcErrorf(mcp.METHOD_NOT_FOUND, "%s: this server has no resources that can be subscribed to", r.Method)
	}
	return nil
}

// checkSubscribe refuses resources/subscribe for a resource that does not exist, that
// the caller may not read or that cannot be subscribed to.
func checkSubscribe(p *snapshot, r *Request) *rpcError {
	rpcErr := checkSubscribes(p, r)
	if rpcErr == nil {
		rpcErr = checkRead(p, r)
	}
	if rpcErr == nil && !r.offer.resource.subscribable() {
		rpcErr = rpcErrorf(mcp.INVALID_PARAMS, "%s: %v cannot be subscribed to", r.Method, r.offer)
	}
	return rpcErr
}

// subscribe answers resources/subscribe. The subscription lasts as long as the
// session, and over HTTP no longer than the access token that it was made with.
func subscribe(_ context.Context, r *reply) ([]byte, *rpcError) {
	if r.session.ProtocolVersion() == "" {
		return nil, rpcErrorf(mcp.INVALID_REQUEST, "%s: send initialize first", r.Method)
	}
	rpcErr := r.session.resources.add(r.URI, func(over func()) (func(), *rpcError) {
		release, rpcErr := r.from.limiter.acquire(r.peer.callerKey(), 1)
		if rpcErr != nil {
			return nil, rpcErr
		}
		params := value.FromEntries([]value.Entry{{Key: "uri", Value: value.FromString(strings.Clone(r.URI))}})
		notify := r.peer.sessionNotifier()
		w, rpcErr := r.from.watches.newWatcher(r.Request, func() { notify(mcp.MethodNotificationResourceUpdated, params) })
		if rpcErr != nil {
			release()
			return nil, rpcErr
		}
		ctx, admitted, stop := r.peer.lasting()
		w.ctx, w.admitted, w.over = ctx, admitted, over
		leave := r.from.watches.add(w, "")
		ended := context.AfterFunc(ctx, over)
		return func() {
			ended()
			leave()
			stop()
			release()
		}, nil
	})
	if rpcErr != nil {
		return nil, rpcErr
	}
	return r.message(nil, false), nil
}

// unsubscribe answers resources/unsubscribe.
func unsubscribe(_ context.Context, r *reply) ([]byte, *rpcError) {
	r.session.resources.remove(r.URI, nil)
	return r.message(nil, false), nil
}
