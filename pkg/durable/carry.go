package durable

import (
	"compress/flate"
	"encoding/json"
	"io"

	"go.temporal.io/sdk/workflow"
)

// next returns the input of the workflow that goes on with the run. It reports false
// where that is too long; this workflow then goes on.
func (d *driving) next() (*request, bool) {
	next := *d.in
	next.Records, next.Began, next.Spent, next.Shares = []json.RawMessage{}, d.began, d.run.Spent(), d.shares()
	size := len(next.Args)
	for rec := range d.run.Records(0) {
		text := raw(rec.Value())
		size += len(text)
		next.Records = append(next.Records, text)
	}
	return &next, d.fits(&next, size)
}

// maxCarried is how many bytes of records go from workflow to workflow: compressed
// they are a fraction.
func maxCarried(maxValue int) int { return 4 * maxValue }

// fits reports whether Temporal takes a request with so many bytes of arguments and
// records. How far they are compressed is no part of what is replayed: it can differ
// between versions of Go.
func (d *driving) fits(next *request, size int) bool {
	switch {
	case size > maxCarried(d.in.MaxValue):
		return false
	case size <= MaxValue:
		return true
	case d.in.MaxValue > MaxValue:
		return true // it is kept outside
	}
	ok := false
	err := workflow.SideEffect(d.ctx, func(workflow.Context) any { return compressedSize(next) <= MaxValue }).Get(&ok)
	return err == nil && ok
}

// compressedSize returns how many bytes the request has as a payload, about.
func compressedSize(in *request) int {
	var n counter
	w, _ := flate.NewWriter(&n, flate.BestSpeed)
	if json.NewEncoder(w).Encode(in) != nil || w.Close() != nil {
		return maxPayload
	}
	return int(n)
}

// counter counts what is written to it.
type counter int

var _ io.Writer = new(counter)

// Write implements io.Writer.
func (n *counter) Write(p []byte) (int, error) {
	*n += counter(len(p))
	return len(p), nil
}
