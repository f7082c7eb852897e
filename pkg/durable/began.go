package durable

import "sync"

// began has the ids that Temporal gave to workflows which this process started, for those
// who wait for the result next. Without it the SDK asks Temporal first.
type began struct {
	mu sync.Mutex
	of map[string]string // by the ids of runs
}

// maxBegan bounds those that nobody has waited for.
const maxBegan = 10_000

func (b *began) add(id, workflow string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil || len(b.of) >= maxBegan {
		b.of = map[string]string{}
	}
	b.of[id] = workflow
}

// take returns it once; empty if it is not known.
func (b *began) take(id string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	workflow := b.of[id]
	delete(b.of, id)
	return workflow
}
