package upstream

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of the streams of notifications of one identity: beyond maxListens they are made
// one. If the server does not take that, there may be as many as maxSeparateListens.
const (
	maxListens         = 8
	maxSeparateListens = 64
)

// listens are the streams of notifications (MCP of 2026-07-28, subscriptions/listen) on
// a session.
type listens struct {
	open     []*listening
	separate bool // the server does not take all resources at once
}

// listening is one stream of notifications.
type listening struct {
	uris   []string // whose changes the server tells
	cancel context.CancelFunc
	done   chan struct{} // closed when it is over
	err    error         // why, set before
}

// listen subscribes to resources as the revision of 2026-07-28 has it: all at once, or
// one by one if the server does not take that, because of one of them.
func (h *heldSubscriptions) listen(ctx context.Context, uris []string) error {
	var fresh []string
	for _, uri := range uris {
		if slices.ContainsFunc(h.open, func(l *listening) bool { return !isClosed(l.done) && slices.Contains(l.uris, uri) }) {
			h.of.settle(h.session, uri, nil)
		} else {
			fresh = append(fresh, uri)
		}
	}
	if len(fresh) > 1 && !h.separate {
		switch err := h.listenTo(ctx, fresh); {
		case err == nil:
			return nil
		case !errors.As(err, new(*refusedSubscriptionError)):
			return err
		}
	}
	for _, uri := range fresh {
		if err := h.listenTo(ctx, []string{uri}); errors.As(err, new(*refusedSubscriptionError)) {
			h.of.settle(h.session, uri, err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// listenTo opens a stream for the resources.
func (h *heldSubscriptions) listenTo(ctx context.Context, uris []string) error {
	if len(h.open) >= maxListens && !h.separate {
		h.merge(ctx)
	}
	if len(h.open) >= maxSeparateListens {
		return &refusedSubscriptionError{h.session.server.newError("subscribe", "", "there are too many streams of notifications, which the server does not allow to be one", "", KindRefused)}
	}
	l, err := h.openListening(ctx, uris)
	if err != nil {
		return err
	}
	h.open = append(h.open, l)
	for _, uri := range uris {
		if slices.Contains(l.uris, uri) {
			h.of.settle(h.session, uri, nil)
			continue
		}
		h.of.settle(h.session, uri, h.session.server.newError("subscribe", "", errNotGranted.Error(), "", errNotGranted))
	}
	return nil
}

// errNotGranted is the cause of an error of a subscription that the server did not
// acknowledge.
var errNotGranted = errors.New("the server does not tell of changes of this resource")

// merge makes one stream of all.
func (h *heldSubscriptions) merge(ctx context.Context) {
	var uris []string
	for _, l := range h.open {
		uris = append(uris, l.uris...)
	}
	slices.Sort(uris)
	uris = slices.Compact(uris)
	l, err := h.openListening(ctx, uris)
	if err != nil {
		h.separate = errors.As(err, new(*refusedSubscriptionError))
		return
	}
	if len(l.uris) < len(uris) {
		h.separate = true
		l.cancel()
		return
	}
	h.endListens()
	h.open = []*listening{l}
}

// openListening opens a stream and waits until the server has acknowledged it.
func (h *heldSubscriptions) openListening(ctx context.Context, uris []string) (*listening, error) {
	s := h.session
	params := append([]byte(nil), `"notifications":{"resourceSubscriptions":[`...)
	for i, uri := range uris {
		if i > 0 {
			params = append(params, ',')
		}
		params = value.AppendString(params, uri)
	}
	params = append(params, "]}"...)
	l := &listening{done: make(chan struct{})}
	granted := make(chan value.Value, 1)
	f := &pendingRequest{touch: func() {}, acknowledged: func(notifications value.Value) {
		select {
		case granted <- notifications:
		default: // it said that before
		}
	}}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(s.life, cancel)
	l.cancel = cancel
	go func() {
		defer stop()
		defer cancel()
		_, l.err = s.send(life, f, &wire.Message{Method: string(mcp.MethodSubscriptionsListen), Params: params}, 0)
		close(l.done)
		h.of.wakeUp()
	}()
	timer := time.NewTimer(s.server.entry.Timeout)
	defer timer.Stop()
	var err error
	select {
	case g := <-granted:
		for _, uri := range g.Get("resourceSubscriptions").Elems() {
			if slices.Contains(uris, uri.Str()) && !slices.Contains(l.uris, uri.Str()) {
				l.uris = append(l.uris, uri.Str())
			}
		}
		return l, nil
	case <-l.done:
		if err = l.err; err == nil {
			err = resultError("a result, and not that it would tell of changes")
		}
	case <-timer.C:
		err = KindTimeout
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	cancel()
	return nil, s.refusal(ctx, err)
}

// dropEndedListens lets go of streams that are over, with what only they told of.
func (h *heldSubscriptions) dropEndedListens() {
	over := func(l *listening) bool { return isClosed(l.done) }
	if !slices.ContainsFunc(h.open, over) {
		return
	}
	h.open = slices.DeleteFunc(h.open, over)
	h.lose(func(uri string) bool {
		return !slices.ContainsFunc(h.open, func(l *listening) bool { return slices.Contains(l.uris, uri) })
	})
}

// endUnwantedListens ends the streams that tell of nothing that anybody wants.
func (h *heldSubscriptions) endUnwantedListens(wanted func(uri string) bool) {
	h.open = slices.DeleteFunc(h.open, func(l *listening) bool {
		if slices.ContainsFunc(l.uris, wanted) {
			return false
		}
		l.cancel()
		return true
	})
}

// endListens ends all streams.
func (h *heldSubscriptions) endListens() {
	for _, l := range h.open {
		l.cancel()
	}
	h.open = nil
}
