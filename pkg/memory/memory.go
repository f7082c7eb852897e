// Package memory bounds what a process holds for its callers: requests, replies,
// the data of runs, answers that wait to be read, and what it keeps between
// calls.
//
// A [Budget] belongs to the process, an [Account] to one call or to one store.
// What is held is counted, not measured, so the call that would need too much
// is refused before it allocates, and no other call is hurt. The heap is
// measured only if the count reaches the limit, because expressions count what
// they allocate and not what they still hold.
package memory

import (
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/background"
)

// Shares of the limit of a process.
const (
	// collectorShare, programFile at the least, is left for what the runtime and the
	// program's own file take beside the heap: the rest is the limit of the Go runtime.
	collectorShare = 8
	programFile    = 32 << 20 // bytes
	// heldShare of the limit can be held. The collector needs the rest: garbage
	// stays until the next collection.
	heldShare = 2
	// smallShare of what can be held is the reserve of small accounts.
	smallShare = 8
)

// MinLimit is the smallest limit in bytes, 64 MiB, that New takes.
const MinLimit = 64 << 20

// Budget is the memory that the accounts of a process may hold in all. It is safe
// for concurrent use. A nil Budget has no bounds.
//
// If callers are distinguished, each may hold as much as is still free. So one
// caller gets at most half, and is refused before it takes the last of it from
// the others. An eighth of the Budget is a reserve for accounts of 256 KiB at the
// most, so that short calls are answered while long ones are refused, whatever
// the heap is measured to hold at the time.
type Budget struct {
	limit    int64 // of the process
	capacity int64 // of the accounts, without the reserve
	heap     heap

	mu       sync.Mutex
	reserve  reserve
	used     int64 // without the reserve
	churn    int64 // of used, what may be garbage by now
	churning map[*Account]struct{}
	byCaller map[string]int64 // what each named caller holds, without the reserve

	settling sync.Mutex
	settled  time.Time // when the heap was last measured for a refusal

	reclaimer
}

// New returns the Budget of a process that may take limit bytes, which are at
// least MinLimit.
func New(limit int64) *Budget {
	limit = max(limit, MinLimit)
	all := limit / heldShare
	return &Budget{
		limit: limit, capacity: all - all/smallShare, heap: &goHeap{},
		reserve:  reserve{size: all / smallShare, byCaller: map[string]int64{}},
		churning: map[*Account]struct{}{}, byCaller: map[string]int64{},
		reclaimer: reclaimer{apart: background.Do},
	}
}

// Account returns a new account of a caller. The caller is empty if callers are
// not distinguished. It has to be closed.
func (b *Budget) Account(caller string) *Account {
	if b == nil {
		return nil
	}
	return &Account{budget: b, caller: caller}
}

// Limit returns the bytes that the process may take, and 0 for a nil Budget.
func (b *Budget) Limit() int64 {
	if b == nil {
		return 0
	}
	return b.limit
}

// Held returns the bytes that the accounts hold now.
func (b *Budget) Held() int64 {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used + b.reserve.used
}

// Apply makes the limit that of the Go runtime (see [debug.SetMemoryLimit]), less
// what the process takes beside its heap. Near it the collector works harder.
func (b *Budget) Apply() {
	if b != nil {
		debug.SetMemoryLimit(b.limit - max(b.limit/collectorShare, programFile))
	}
}

// Error is returned if an account was refused memory. The call that it belongs
// to has ended: nothing is wrong with it, but the process was short of memory.
type Error struct {
	Needed int64 // bytes that were asked for
	Free   int64 // bytes that the account could still have had
	Limit  int64 // of the process
	Caller string
	Alone  bool // it would not have fitted an idle process either
}

// Error returns what was needed, and what to do.
func (e *Error) Error() string {
	if e.Alone {
		return fmt.Sprintf("this call needs more memory than one may have: %s more, of %s for the process; send or ask for less, or raise --memory",
			Format(e.Needed), Format(e.Limit))
	}
	whose := "the server is"
	if e.Caller != "" {
		whose = "the server is, or your other calls keep it,"
	}
	return fmt.Sprintf("%s short of memory: this call needs %s more, %s of %s are free for it; try again later",
		whose, Format(e.Needed), Format(e.Free), Format(e.Limit))
}

// ForFile says how much is missing to load a file, and what to do.
func (e *Error) ForFile(name string) string {
	if e.Alone {
		return fmt.Sprintf("%s needs more memory than it may have: %s more, of %s for the process; make it smaller, or raise --memory",
			name, Format(e.Needed), Format(e.Limit))
	}
	return fmt.Sprintf("the process is short of memory to load %s: it needs %s more, %s of %s are free; try again later, or raise --memory",
		name, Format(e.Needed), Format(e.Free), Format(e.Limit))
}

// Failure names the error among the failures of a run: one that protects the
// process, which no node has made.
func (*Error) Failure() string { return "interrupted" }

// Format returns a number of bytes as people read it, such as "1.5 GiB".
func Format(bytes int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if bytes >= u.size {
			n := math.Round(float64(bytes)/float64(u.size)*10) / 10
			return fmt.Sprintf("%v %s", n, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", max(0, bytes))
}

// draw books n bytes for the account, or returns why it could not. It waits for
// a collection where that may free enough, if wait is set.
func (b *Budget) draw(a *Account, n int64, churn, wait bool) *Error {
	refused := b.book(a, n, churn)
	if refused == nil || !wait || !b.settle(n) {
		return refused
	}
	return b.book(a, n, churn)
}

func (b *Budget) book(a *Account, n int64, churn bool) *Error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.closed {
		return nil // it is over: what it still allocates is garbage soon
	}
	small := a.held()+n <= smallAccount
	need := n
	if !small {
		need += a.reserved // which is for small accounts only
	}
	free, reserved := b.free(a.caller), int64(0)
	switch {
	case need <= free:
		if !small {
			b.unreserve(a, a.reserved)
		}
	case small && n <= b.reserve.free(a.caller):
		reserved = n
	default:
		if small {
			free = max(free, b.reserve.free(a.caller))
		}
		all := b.capacity
		if a.caller != "" {
			all /= 2
		}
		return &Error{Needed: n, Free: max(0, free), Limit: b.limit, Caller: a.caller, Alone: a.held()+n > all}
	}
	if churn {
		a.churn += n
		b.churn += n
		b.churning[a] = struct{}{}
	} else {
		a.kept += n
	}
	if reserved > 0 {
		a.reserved += reserved
		b.reserve.hold(a.caller, reserved)
	} else {
		b.hold(a, n)
	}
	b.notice(n)
	return nil
}

// free returns the bytes without the reserve that an account of the caller may
// still have; b.mu is held.
func (b *Budget) free(caller string) int64 {
	free := b.capacity - max(b.used, b.heap.live()-b.reserve.used)
	if caller != "" {
		free -= b.byCaller[caller]
	}
	return free
}

// hold counts n bytes, which may be less than 0, for an account; b.mu is held.
func (b *Budget) hold(a *Account, n int64) {
	b.used += n
	count(b.byCaller, a.caller, n)
}

// count adds n to what a named caller holds.
func count(byCaller map[string]int64, caller string, n int64) {
	if caller == "" {
		return
	}
	if byCaller[caller] += n; byCaller[caller] <= 0 {
		delete(byCaller, caller)
	}
}

// giveBack takes n bytes from what an account holds, of the reserve first; b.mu
// is held.
func (b *Budget) giveBack(a *Account, n int64, churn bool) {
	n = max(0, n)
	if churn {
		n = min(n, a.churn) // a collection may have found that it was less
		a.churn -= n
		b.churn -= n
		if a.churn == 0 {
			delete(b.churning, a)
		}
	} else {
		n = min(n, a.kept)
		a.kept -= n
	}
	reserved := min(n, a.reserved)
	a.reserved -= reserved
	b.reserve.hold(a.caller, -reserved)
	b.hold(a, reserved-n)
	b.notice(n)
}

// unreserve counts n bytes of the reserve that an account holds as others; b.mu
// is held.
func (b *Budget) unreserve(a *Account, n int64) {
	a.reserved -= n
	b.reserve.hold(a.caller, -n)
	b.hold(a, n)
}
