package server

import "container/list"

// callerQueue holds the calls of one caller.
type callerQueue struct {
	caller    string
	running   int
	waiting   list.List // of *callSlot
	heapIndex int       // index in callLimiter.ready; -1 if it is not there
}

// readyQueues is a heap of queues; the queue whose first call arrived first is
// at the top.
type readyQueues []*callerQueue

func (q *callerQueue) first() *callSlot { return q.waiting.Front().Value.(*callSlot) }

func (r readyQueues) Len() int           { return len(r) }
func (r readyQueues) Less(i, j int) bool { return r[i].first().sequence < r[j].first().sequence }
func (r readyQueues) Swap(i, j int) {
	r[i], r[j] = r[j], r[i]
	r[i].heapIndex, r[j].heapIndex = i, j
}

// Push implements heap.Interface.
func (r *readyQueues) Push(x any) {
	q := x.(*callerQueue)
	q.heapIndex = len(*r)
	*r = append(*r, q)
}

// Pop implements heap.Interface.
func (r *readyQueues) Pop() any {
	old := *r
	q := old[len(old)-1]
	old[len(old)-1] = nil
	*r = old[:len(old)-1]
	q.heapIndex = -1
	return q
}
