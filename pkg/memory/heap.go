package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// heap is what the Budget asks of the collector; tests have one of their own.
type heap interface {
	// live returns the bytes that the last collection found in use.
	live() int64
	// collect runs a collection.
	collect()
	// idle returns the bytes that the process has taken from the system and
	// neither uses nor has given back.
	idle() int64
	// free runs collections and returns idle memory to the system.
	free()
}

// goHeap is that of this process.
type goHeap struct {
	looked atomic.Int64 // when live was last read, in nanoseconds since start
	bytes  atomic.Int64
}

var start = time.Now()

// lookEvery is how old a result of live may be: it changes only with
// collections.
const lookEvery = 10 * time.Millisecond

const liveBytes = "/gc/heap/live:bytes"

func (h *goHeap) live() int64 {
	now := int64(time.Since(start))
	if was := h.looked.Load(); was == 0 || now-was > int64(lookEvery) {
		h.bytes.Store(read(liveBytes))
		h.looked.Store(now)
	}
	return h.bytes.Load()
}

func (h *goHeap) collect() {
	runtime.GC()
	h.looked.Store(0)
}

func (*goHeap) idle() int64 {
	return read("/memory/classes/heap/free:bytes") + read("/memory/classes/heap/unused:bytes") +
		max(0, read("/memory/classes/heap/objects:bytes")-read(liveBytes))
}

func (h *goHeap) free() {
	defer h.looked.Store(0)
	runtime.GC() // what pools keep outlives one collection
	debug.FreeOSMemory()
}

func read(name string) int64 {
	sample := [1]metrics.Sample{{Name: name}}
	metrics.Read(sample[:])
	return int64(sample[0].Value.Uint64())
}

// A collection for a refusal is made at most every settleEvery, and takes at most
// a tenth of the time.
const (
	settleEvery = 100 * time.Millisecond
	settlePart  = 9
)

// settle measures what accounts hold that count allocations, if n bytes can
// become free by that, and reports whether it did. Those that come while one is
// waited for share it.
func (b *Budget) settle(n int64) bool {
	asked := time.Now()
	b.mu.Lock()
	worth := max(b.churn, b.heap.live()-b.used-b.reserve.used) > 0 && b.used-b.churn+n <= b.capacity
	b.mu.Unlock()
	if !worth {
		return false
	}
	b.settling.Lock()
	defer b.settling.Unlock()
	if b.settled.After(asked) {
		return true
	}
	time.Sleep(time.Until(b.settled.Add(b.pause)))
	began := time.Now()
	b.heap.collect()
	b.settled = time.Now()
	b.pause = max(settleEvery, settlePart*b.settled.Sub(began))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.recount(b.heap.live())
	return true
}

// recount takes garbage out of what evaluations have counted: they hold no more
// than is in use. b.mu is held.
func (b *Budget) recount(live int64) {
	if b.churn <= live {
		return
	}
	part := float64(live) / float64(b.churn)
	for a := range b.churning {
		b.giveBack(a, a.churn-int64(part*float64(a.churn)), true)
	}
}
