package executor

import (
	"iter"
	"sort"
)

// runLog is what a run has done: its records, of which old ones are dropped. Guarded by
// the mutex of the run.
type runLog struct {
	list     []*entry
	next     int // index of the next record
	trimming trimming
	replies  replies
}

// add adds an entry and sets its index.
func (l *runLog) add(e *entry) {
	e.index = l.next
	l.next++
	l.list = grow(l.list, e)
	l.trim(e)
}

// search returns the place in the log of the first record with this index or a
// higher one.
func (l *runLog) search(index int) int {
	return sort.Search(len(l.list), func(i int) bool { return l.list[i].index >= index })
}

// Records returns the records from an index on, in their order, as they are
// now. Those of bodies that were dropped are missing; see Record.Results.
func (r *Run) Records(from int) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for at := from; ; {
			r.mu.Lock()
			i := r.log.search(at)
			if i == len(r.log.list) {
				r.mu.Unlock()
				return
			}
			rec := r.log.list[i].record()
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

// History returns the executions that are over, of all walks, in their order.
func (r *Run) History() []Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	records, n := make([]Record, len(r.log.list)), 0
	for _, e := range r.log.list {
		if e.event == Done {
			e.fill(&records[n])
			n++
		}
	}
	return records[:n]
}
