package debug

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// Replay returns a run of g with the records of the other run before the place: it has
// done what that one had, and goes on from there. Their times are moved, so that the
// last of them was now. The error explains which record does not fit g, which may have
// changed since.
func (f *From) Replay(g *graph.Graph, now time.Time) (*executor.Run, error) {
	if f.Run == nil {
		return nil, errors.New("there is no run to go on from")
	}
	if was := f.Run.Graph().Name; was != g.Name {
		return nil, fmt.Errorf("the run is one of tool %q, not of %q", was, g.Name)
	}
	if last := f.Run.NextIndex(); f.Before < 0 || f.Before > last {
		return nil, fmt.Errorf("the run has records 0 to %d; there is no place before record %d", last-1, f.Before)
	}
	var shift time.Duration
	for rec := range f.Run.Records(0) {
		if rec.Index >= f.Before {
			break
		}
		shift = now.Sub(rec.End)
	}
	run, err := executor.Replay(g, f.Run.Args(), f.Run.Seed(), func(yield func(executor.Record) bool) {
		for rec := range f.Run.Records(0) {
			if rec.Index >= f.Before {
				return
			}
			rec.AttemptTimes = slices.Clone(rec.AttemptTimes)
			times := []*time.Time{&rec.Start, &rec.End, &rec.Until}
			for i := range rec.AttemptTimes {
				times = append(times, &rec.AttemptTimes[i].Start, &rec.AttemptTimes[i].End)
			}
			for _, at := range times {
				if !at.IsZero() {
					*at = at.Add(shift)
				}
			}
			if !yield(rec) {
				return
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("cannot go on with a run of tool %q, which may have changed since: %w", g.Name, err)
	}
	if run.Done() {
		return nil, fmt.Errorf("the run is over before record %d: choose an earlier place", f.Before)
	}
	return run, nil
}
