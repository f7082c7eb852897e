package server

import "container/list"

// line is the calls of one caller.
type line struct {
	caller  string
	running int
	waiting list.List // of *turn
	at      int       // its place in limiter.ready, -1 where it is not there
}

// readyLines is a heap of lines, the one whose first turn came first at its
// top.
type readyLines []*line

func (of *line) first() *turn { return of.waiting.Front().Value.(*turn) }

func (r readyLines) Len() int           { return len(r) }
func (r readyLines) Less(i, j int) bool { return r[i].first().number < r[j].first().number }
func (r readyLines) Swap(i, j int) {
	r[i], r[j] = r[j], r[i]
	r[i].at, r[j].at = i, j
}

// Push implements heap.Interface.
func (r *readyLines) Push(x any) {
	of := x.(*line)
	of.at = len(*r)
	*r = append(*r, of)
}

// Pop implements heap.Interface.
func (r *readyLines) Pop() any {
	old := *r
	of := old[len(old)-1]
	old[len(old)-1] = nil
	*r = old[:len(old)-1]
	of.at = -1
	return of
}
