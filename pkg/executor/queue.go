package executor

// queue has the frames that are ready, the first one first, and some that are no
// more: each with the generation of its task.
type queue struct {
	list  []queued
	head  int       // the first in the list
	first [1]queued // is enough for a run without bodies
}

type queued struct {
	frame *frame
	task  uint32
}

// add puts a frame at the end.
func (q *queue) add(f *frame) {
	switch {
	case q.list == nil:
		q.list = q.first[:0]
	case len(q.list) == cap(q.list) && q.head > len(q.list)/2:
		// It may never become empty, and must not grow with what has passed.
		q.list = append(q.list[:0], q.list[q.head:]...)
		clear(q.list[len(q.list):cap(q.list)])
		q.head = 0
	}
	q.list = append(q.list, queued{f, f.task})
}

// peek returns the first frame that is ready, or nil if none is.
func (q *queue) peek() *frame {
	for ; q.head < len(q.list); q.head++ {
		if t := &q.list[q.head]; t.frame.state == ready && t.frame.task == t.task {
			return t.frame
		}
	}
	q.list, q.head = q.list[:0], 0
	return nil
}

// take removes that frame.
func (q *queue) take() *frame {
	f := q.peek()
	if f == nil {
		return nil
	}
	q.list[q.head] = queued{}
	if q.head++; q.head == len(q.list) {
		q.list, q.head = q.list[:0], 0
	}
	return f
}
