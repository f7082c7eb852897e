package memory

import "time"

// The collector returns memory to the system over minutes, and does not collect
// at all while nothing is allocated. So the Budget does both once after a load,
// as soon as things have become calm: the cost is that of two collections for a
// load, and nothing while there is none.
const (
	reclaimFrom  = 8 << 20         // bytes drawn or given back that make it worth the while
	reclaimAfter = 2 * time.Second // of calm
	reclaimBy    = 6 * time.Second // calm or not
	reclaimIdle  = 8 << 20         // bytes that are left to the process
)

// reclaimer returns memory to the system after a load. Its fields are guarded
// by Budget.mu, but for the first two.
type reclaimer struct {
	pause time.Duration // between two measurements; guarded by Budget.settling
	// apart runs a function that starts a timer. In a bubble of virtual time, a timer would
	// end with the bubble. It never changes.
	apart func(func())

	moved int64       // bytes drawn or given back since the last time
	first time.Time   // when the load began that is waited for
	last  time.Time   // when the last were
	timer *time.Timer // nil while nothing is to be given back
}

// notice counts what was drawn or given back; b.mu is held.
func (b *Budget) notice(n int64) {
	b.moved += n
	if b.moved < reclaimFrom {
		return
	}
	b.last = time.Now()
	if b.timer == nil {
		b.first = b.last
		b.apart(func() { b.timer = time.AfterFunc(reclaimAfter, b.reclaim) })
	}
}

// reclaim returns memory to the system unless there is still a load.
func (b *Budget) reclaim() {
	b.mu.Lock()
	now := time.Now()
	if now.Sub(b.last) < reclaimAfter && now.Sub(b.first) < reclaimBy {
		b.timer.Reset(reclaimAfter)
		b.mu.Unlock()
		return
	}
	b.timer, b.moved = nil, 0
	b.mu.Unlock()
	b.heap.collect() // only then is it known what is idle
	if b.heap.idle() > reclaimIdle {
		b.heap.free()
	}
}
