package policy

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/maypok86/otter/v2"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// resultCache keeps the results of one server's tools.
type resultCache struct {
	*Options
	results *otter.Cache[cacheKey, value.Value]
	// age counts how often everything was dropped. It is in the keys, so that
	// what was asked before is not found afterwards, even where its answer
	// comes later.
	age atomic.Uint64

	mu    sync.Mutex
	calls map[cacheKey]*pendingCall // under way
}

// pendingCall is a call under way that equal ones wait for.
type pendingCall struct {
	done  chan struct{}
	reply value.Value
	err   error
	valid bool // for the calls that wait; else each of them has to ask
}

// layer answers calls with what is kept, and makes equal calls at the same time one.
func (c *resultCache) layer(next Caller) Caller {
	return func(ctx context.Context, call *Call) (Reply, error) {
		if call.reads() || !c.Entry.Cache.Caches(call.Name) {
			return next(ctx, call)
		}
		held := memory.AccountOf(ctx)
		for {
			key := c.key(call.caller(), call.Name, call.Args)
			if reply, ok := c.get(key, held); ok {
				c.Counts.CacheHits.Add(1)
				return Reply{Value: reply, Cached: true}, nil
			}
			f, first := c.join(key)
			if !first {
				reply, err, ok := f.wait(ctx)
				switch {
				case ctx.Err() != nil && !ok:
					return Reply{}, c.Errors.Stopped(ctx, call, "before it was answered", nil)
				case !ok:
					continue // it was cut short for reasons of its own caller
				case err == nil:
					c.Counts.CacheHits.Add(1)
				}
				return Reply{Value: separateCopy(reply, held), Cached: err == nil}, err
			}
			if _, ok := c.get(key, nil); ok { // one has just ended
				c.leave(key, f, value.Undef, nil, false)
				continue
			}
			var reply Reply
			err := errUnfinished
			defer func() {
				// What is due to this caller's time alone says nothing to the others.
				valid := err != errUnfinished && ctx.Err() == nil && !c.Classify(err).Silent
				c.leave(key, f, reply.Value, err, valid)
			}()
			if reply, err = next(ctx, call); err == nil {
				c.put(key, reply.Value)
			}
			return reply, err
		}
	}
}

// join returns the call under way with this key. If there is none it returns a
// new one and true, and leave has to be called.
func (c *resultCache) join(key cacheKey) (f *pendingCall, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f = c.calls[key]; f != nil {
		return f, false
	}
	f = &pendingCall{done: make(chan struct{})}
	c.calls[key] = f
	return f, true
}

// leave ends a call under way. Calls that wait for it get its outcome if valid.
func (c *resultCache) leave(key cacheKey, f *pendingCall, reply value.Value, err error, valid bool) {
	f.reply, f.err, f.valid = reply, err, valid
	c.mu.Lock()
	delete(c.calls, key)
	c.mu.Unlock()
	close(f.done)
}

// wait waits for a call under way; ok is false if it or ctx ended without
// anything that counts.
func (f *pendingCall) wait(ctx context.Context) (reply value.Value, err error, ok bool) {
	select {
	case <-f.done:
		return f.reply, f.err, f.valid
	case <-ctx.Done():
		return value.Undef, nil, false
	}
}

// cacheKey is a hash of who called what with which arguments: the arguments may
// be long or secret.
type cacheKey [sha256.Size]byte

// newResultCache returns a cache whose results count on o.Cached.
func newResultCache(c *config.Cache, o *Options) *resultCache {
	return &resultCache{Options: o, calls: map[cacheKey]*pendingCall{}, results: otter.Must(&otter.Options[cacheKey, value.Value]{
		MaximumSize: max(1, c.MaxEntries), ExpiryCalculator: otter.ExpiryWriting[cacheKey, value.Value](c.TTL),
		OnAtomicDeletion: func(e otter.DeletionEvent[cacheKey, value.Value]) { o.Cached.Shrink(resultBytes(e.Value)) },
	})}
}

// resultBytes is what a result takes in the cache, which keeps it as text.
func resultBytes(reply value.Value) int64 { return int64(reply.TextSize()) + cacheEntryBytes }

const cacheEntryBytes = 256

func (c *resultCache) key(caller string, tool string, args value.Value) cacheKey {
	text := binary.BigEndian.AppendUint64(make([]byte, 0, 256), c.age.Load())
	for _, part := range []string{caller, tool} {
		text = binary.AppendUvarint(text, uint64(len(part)))
		text = append(text, part...)
	}
	if args.Kind() == value.Object { // anything else is sent as an empty object
		text = appendCanonical(text, args)
	} else {
		text = append(text, "{}"...)
	}
	return sha256.Sum256(text)
}

// get returns a result, which is decoded for its reader alone and not kept in that
// form.
func (c *resultCache) get(key cacheKey, held *memory.Account) (value.Value, bool) {
	reply, ok := c.results.GetIfPresent(key)
	return separateCopy(reply, held), ok
}

// separateCopy returns a value that is decoded on its own, for held.
func separateCopy(v value.Value, held *memory.Account) value.Value {
	if held == nil {
		return v.Undecoded(nil)
	}
	return v.Undecoded(held)
}

// put keeps a result, unless it is an error of the tool's, only asks for more
// input (resultType, revision 2026-07-28), or there is no memory for it.
func (c *resultCache) put(key cacheKey, reply value.Value) {
	if reply.Get("isError").Bool() {
		return
	}
	if t := reply.Get("resultType"); !t.IsUndefined() && t.Str() != "complete" {
		return
	}
	if c.Cached.Grow(resultBytes(reply)) == nil {
		c.results.Set(key, separateCopy(reply, nil))
	}
}

func (c *resultCache) drop() {
	c.age.Add(1)
	c.results.InvalidateAll()
}
