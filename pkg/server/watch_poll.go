package server

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const readMethod = string(mcp.MethodResourcesRead)

// resubscribeAfter is the time until a subscription that an upstream server refused is
// tried again.
const resubscribeAfter = 30 * time.Second

// look reads the resource, or subscribes to it upstream, for the oldest subscription
// that may read it. Subscriptions that may not are removed.
func (w *watch) look() {
	w.mu.Lock()
	w.looking, w.again = true, false
	w.mu.Unlock()
	next := time.Duration(0)
	for {
		one := w.oldest()
		if one == nil {
			return
		}
		if one.ctx.Err() == nil && (one.admitted == nil || one.admitted()) {
			var ok bool
			if next, ok = w.lookFor(one); ok {
				break
			}
		}
		w.remove(one)
		if one.over != nil {
			one.over()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looking = false
	switch {
	case len(w.watchers) == 0:
	case w.again:
		w.timer.Reset(0)
	case next > 0:
		w.timer.Reset(next)
	}
}

// lookFor reports false if the caller cannot subscribe to the resource any more.
// Otherwise it returns the time until the watch must look again; 0: never.
func (w *watch) lookFor(one *watcher) (next time.Duration, ok bool) {
	p, release := w.server.retain(true)
	defer release()
	r := one.request
	r.session, r.peer = newSession(r.Session), nobody{}
	o, variables := p.findResource(&r, r.URI)
	if o == nil || !o.resource.subscribable() || missingFor(&r, o) {
		return 0, false
	}
	r.offer, r.Tool, r.Args = o, o.target, variables
	if o.resource.Subscribe != nil {
		return w.subscribe(one, &r), true
	}
	w.poll(p, one, &r)
	return o.resource.SubscribeEvery, true
}

// subscribe subscribes at the upstream server.
func (w *watch) subscribe(one *watcher, r *Request) (next time.Duration) {
	stop, err := r.offer.resource.Subscribe(one.ctx, r, w.tellSoon)
	w.mu.Lock()
	defer w.mu.Unlock()
	current := len(w.watchers) > 0 && w.watchers[0] == one
	switch {
	case err != nil && !current:
		w.again = true
	case err != nil:
		w.report(r, "cannot subscribe to a resource", err)
		return resubscribeAfter
	case !current || w.again:
		go stop()
		w.again = true
	default:
		w.failing, w.stop = false, stop
		w.digest = []byte{}
		go w.tellSoon() // it may have changed since the client subscribed, or since the last one
	}
	return 0
}

// poll reads the resource and tells the subscribers if it has changed. A poll that
// fails is logged, and changes nothing.
func (w *watch) poll(p *snapshot, one *watcher, r *Request) {
	turn := w.polls.enqueue(w.key.identity)
	defer turn.release()
	if turn.wait(one.ctx) != nil {
		return
	}
	account := w.server.memory.Account(r.Caller)
	defer account.Close()
	ctx, cancel := memory.WithAccount(one.ctx, account)
	defer cancel()
	if !r.offer.instant {
		r.slot = w.server.callLimiter.Load().enqueue(r.Caller)
		defer r.slot.release()
	}
	v, err := (&reply{Request: r, from: p}).run(ctx)
	if err == nil {
		err = account.Err()
	}
	var digest []byte
	if err == nil {
		digest = digestOf(v)
		err = account.Err() // v is decoded while it is read
	}
	if one.ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	if err != nil {
		w.report(r, "cannot read a resource that a client subscribed to", err)
		w.mu.Unlock()
		return
	}
	changed := w.digest != nil && string(w.digest) != string(digest)
	w.failing, w.digest = false, digest
	w.mu.Unlock()
	if changed {
		w.tell()
	}
}

// report logs the first of several failures in a row. The caller holds the lock.
func (w *watch) report(r *Request, what string, err error) {
	if w.failing {
		return
	}
	w.failing = true
	w.server.log.Warn(what, "uri", clip(r.URI), "caller", r.Caller, "error", strings.ToValidUTF8(err.Error(), ""))
}

// digestOf identifies a value. The order of the members of objects does not count.
func digestOf(v value.Value) []byte {
	h := sha256.New()
	writeDigest(h, v)
	return h.Sum(nil)
}

func writeDigest(h hash.Hash, v value.Value) {
	size := func(kind byte, n int) {
		var b [9]byte
		b[0] = kind
		binary.BigEndian.PutUint64(b[1:], uint64(n))
		h.Write(b[:])
	}
	switch v.Kind() {
	case value.Object:
		entries := slices.Clone(v.Entries())
		slices.SortFunc(entries, func(a, b value.Entry) int { return strings.Compare(a.Key, b.Key) })
		size('{', len(entries))
		for _, e := range entries {
			size('k', len(e.Key))
			h.Write([]byte(e.Key))
			writeDigest(h, e.Value)
		}
	case value.Array:
		size('[', v.Len())
		for _, e := range v.Elems() {
			writeDigest(h, e)
		}
	default:
		text := v.Append(nil)
		size('v', len(text))
		h.Write(text)
	}
}

// nobody is the peer of requests that the server makes itself.
type nobody struct{}

func (nobody) callerKey() string                            { return "" }
func (nobody) verify(*snapshot, *Request) *rpcError         { return nil }
func (nobody) notify(string, value.Value)                   {}
func (nobody) sendRequest(string, string, value.Value) bool { return false }
func (nobody) sessionNotifier() func(string, value.Value)   { return nil }
func (nobody) keepOpen(context.Context)                     {}
func (nobody) lasting() (context.Context, func() bool, func()) {
	return context.Background(), nil, func() {}
}
