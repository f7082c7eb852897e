package upstream

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

// cache keeps the results of one server's tools.
type cache struct {
	held    *memory.Account
	results *otter.Cache[cacheKey, value.Value]
	// age counts how often everything was dropped. It is in the keys, so that
	// what was asked before is not found afterwards, even where its answer
	// comes later.
	age atomic.Uint64

	mu    sync.Mutex
	calls map[cacheKey]*sharedCall // under way
}

// sharedCall is a call under way that equal ones wait for.
type sharedCall struct {
	done  chan struct{}
	reply value.Value
	err   error
	valid bool // for those who wait; else each of them has to ask
}

// join returns the call under way with this key. Where there is none it returns a
// new one and true, and leave has to be called.
func (c *cache) join(key cacheKey) (f *sharedCall, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f = c.calls[key]; f != nil {
		return f, false
	}
	f = &sharedCall{done: make(chan struct{})}
	c.calls[key] = f
	return f, true
}

// leave ends a call under way with what those who wait get, where that is valid.
func (c *cache) leave(key cacheKey, f *sharedCall, reply value.Value, err error, valid bool) {
	f.reply, f.err, f.valid = reply, err, valid
	c.mu.Lock()
	delete(c.calls, key)
	c.mu.Unlock()
	close(f.done)
}

// wait waits for a call under way; ok is false where it or ctx ended without
// anything that counts.
func (f *sharedCall) wait(ctx context.Context) (reply value.Value, err error, ok bool) {
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

// newCache returns a cache whose results count on held.
func newCache(c *config.Cache, held *memory.Account) *cache {
	return &cache{held: held, calls: map[cacheKey]*sharedCall{}, results: otter.Must(&otter.Options[cacheKey, value.Value]{
		MaximumSize: max(1, c.MaxEntries), ExpiryCalculator: otter.ExpiryWriting[cacheKey, value.Value](c.TTL),
		OnAtomicDeletion: func(e otter.DeletionEvent[cacheKey, value.Value]) { held.Shrink(resultBytes(e.Value)) },
	})}
}

// resultBytes is what a result takes in the cache, which keeps it as text.
func resultBytes(reply value.Value) int64 { return int64(reply.TextSize()) + cacheEntryBytes }

const cacheEntryBytes = 256

func (c *cache) key(id identity, tool string, args value.Value) cacheKey {
	text := binary.BigEndian.AppendUint64(make([]byte, 0, 256), c.age.Load())
	for _, part := range []string{string(id), tool} {
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
func (c *cache) get(key cacheKey, held *memory.Account) (value.Value, bool) {
	reply, ok := c.results.GetIfPresent(key)
	return ownCopy(reply, held), ok
}

// ownCopy returns a value that is decoded on its own, for held.
func ownCopy(v value.Value, held *memory.Account) value.Value {
	if held == nil {
		return v.Undecoded(nil)
	}
	return v.Undecoded(held)
}

// put keeps a result, unless it is an error of the tool's, only asks for more
// input (resultType, revision 2026-07-28), or there is no memory for it.
func (c *cache) put(key cacheKey, reply value.Value) {
	if reply.Get("isError").Bool() {
		return
	}
	if t := reply.Get("resultType"); !t.IsUndefined() && t.Str() != "complete" {
		return
	}
	if c.held.Grow(resultBytes(reply)) == nil {
		c.results.Set(key, ownCopy(reply, nil))
	}
}

func (c *cache) drop() {
	c.age.Add(1)
	c.results.InvalidateAll()
}
