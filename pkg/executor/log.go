package executor

import (
	"iter"
	"sort"
)

// Records returns the records from an index on, in their order, as they are
// now. Those of bodies that were dropped are missing; see Record.Results.
func (r *Run) Records(from int) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for at := from; ; {
			r.mu.Lock()
			i := r.search(at)
			if i == len(r.log) {
				r.mu.Unlock()
				return
			}
			rec := r.log[i].record()
			r.mu.Unlock()
			at = rec.Index + 1
			if !yield(rec) {
				return
			}
		}
	}
}

// recordOf is record for those who do not have the lock.
func (r *Run) recordOf(e *entry) Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return e.record()
}

// search returns the place in the log of the first record with this index or a
// higher one.
func (r *Run) search(index int) int {
	return sort.Search(len(r.log), func(i int) bool { return r.log[i].index >= index })
}

// History returns the executions that are over, of all walks, in their order.
func (r *Run) History() []Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	records, n := make([]Record, len(r.log)), 0
	for _, e := range r.log {
		if e.event == Done {
			e.fill(&records[n])
			n++
		}
	}
	return records[:n]
}

// append adds an entry and sets its index.
func (r *Run) append(e *entry) {
	e.index = r.next
	r.next++
	r.log = grow(r.log, e)
	r.trimLog(e)
}
