package server

import (
	"context"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Dynamic are prompts and resources that a server does not know beforehand, such as
// those of upstream servers. Where a name or URI is also in Options, that one wins.
// All functions may be nil.
type Dynamic struct {
	// Version differs between two values that list different things. [Server.Replace]
	// compares it.
	Version string
	// Prompts, Resources and Templates return what the caller of a request sees, as
	// lists of clients have it. They return at the latest when ctx is done. Clients read
	// long lists in pages, which are those of one list as a rule.
	Prompts, Resources, Templates func(ctx context.Context, r *Request) []value.Value
	// Identity returns the same text for requests whose lists are the same. Nil means that
	// all have the same.
	Identity func(r *Request) string
	// Prompt returns the prompt with this name; nil if there is none. It does not
	// block, and may return a prompt whose Get finds out that there is none.
	Prompt func(r *Request, name string) *Prompt
	// Resource returns the resource at a URI, or the template with this text. It is
	// like Prompt.
	Resource func(r *Request, uri string) *Resource
	// Subscribes and Completes report whether something of it can be subscribed to,
	// and completed.
	Subscribes, Completes bool
}

// dynamicListed returns values of a Dynamic as a list, without those that are in
// static.
func dynamicListed(values []value.Value, key string, static map[string]*offer) []listed {
	var list []listed
	seen := map[string]bool{}
	none := &offer{}
	for _, v := range values {
		name := v.Get(key).Str()
		if static[name] != nil || seen[name] {
			continue
		}
		seen[name] = true
		text := v.Append(nil)
		list = append(list, listed{offer: none, key: name, legacy: text, modern: text})
	}
	return list
}

// Bounds of the lists that are kept for clients that read them in pages.
const (
	keptListTime  = time.Minute // since they were last read
	keptListBytes = 64 << 20    // of all together
)

// dynamicLists keeps lists of a Dynamic that have several pages, so that they are not made
// again for each page. It is safe for concurrent use.
type dynamicLists struct {
	memory *memory.Budget

	mu    sync.Mutex
	kept  map[dynamicKey]*dynamicList
	bytes int64
}

// dynamicKey says whose list it is, and of what.
type dynamicKey struct {
	of                *snapshot
	members, identity string
}

// dynamicList is one of them.
type dynamicList struct {
	list    []listed
	digest  []byte // of list
	bytes   int64
	account *memory.Account
	usedAt  time.Time
	expiry  *time.Timer
}

// find returns the list that is kept under a key; nil if there is none.
func (all *dynamicLists) find(k dynamicKey) *dynamicList {
	all.mu.Lock()
	defer all.mu.Unlock()
	d := all.kept[k]
	if d != nil {
		d.usedAt = time.Now()
		d.expiry.Reset(keptListTime)
	}
	return d
}

// keep keeps a list if it has several pages and there is room for it.
func (all *dynamicLists) keep(k dynamicKey, d *dynamicList) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.drop(k, all.kept[k])
	if len(d.list) <= pageSize {
		return
	}
	const overhead = 128 // of an entry
	for _, l := range d.list {
		d.bytes += int64(len(l.key)+len(l.legacy)) + overhead
	}
	if d.bytes > keptListBytes {
		return
	}
	for all.bytes+d.bytes > keptListBytes {
		var oldest dynamicKey
		for other, one := range all.kept {
			if first := all.kept[oldest]; first == nil || one.usedAt.Before(first.usedAt) {
				oldest = other
			}
		}
		all.drop(oldest, all.kept[oldest])
	}
	if d.account = all.memory.Account(""); !d.account.TryGrow(d.bytes) {
		d.account.Close()
		return
	}
	if all.kept == nil {
		all.kept = map[dynamicKey]*dynamicList{}
	}
	all.kept[k] = d
	all.bytes += d.bytes
	d.usedAt = time.Now()
	d.expiry = time.AfterFunc(keptListTime, func() {
		all.mu.Lock()
		defer all.mu.Unlock()
		all.drop(k, d)
	})
}

// drop drops a list, which may be nil or dropped already. The lists are locked.
func (all *dynamicLists) drop(k dynamicKey, d *dynamicList) {
	if d == nil || all.kept[k] != d {
		return
	}
	delete(all.kept, k)
	all.bytes -= d.bytes
	d.expiry.Stop()
	d.account.Close()
}

// clear drops all lists.
func (all *dynamicLists) clear() {
	all.mu.Lock()
	defer all.mu.Unlock()
	for k, d := range all.kept {
		all.drop(k, d)
	}
}
