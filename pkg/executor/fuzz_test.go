package executor_test

import (
	"slices"
	"testing"
)

// FuzzRun drives generated graphs with random policies, outcomes and schedules,
// some of which are stopped on the way. Each run ends, and its log and each
// beginning of it can be replayed and go on to an end.
func FuzzRun(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed, seed+1, seed, seed%2 == 0, seed%3 == 0, uint16(seed%4*seed), uint16(seed))
	}
	f.Fuzz(func(t *testing.T, seed, schedule, salt uint64, loose, replaces bool, stopAt, cut uint16) {
		g := generate(t, seed, loose)
		r := newRun(g)
		d := drive(t, r, schedule, genesis)
		d.salt, d.replaces, d.stopAt = salt, replaces, int(stopAt)
		d.finish()
		records := log(r)
		again := replay(t, g, records)
		if got := log(again); !slices.Equal(got, records) {
			t.Fatalf("replayed: %s", difference(got, records))
		}
		if r.Stopped() == nil && (!again.Done() || textOf(again.Result()) != textOf(r.Result())) {
			t.Fatalf("replayed, done %v: %s, want %s", again.Done(), textOf(again.Result()), textOf(r.Result()))
		}
		part := replay(t, g, records[:int(cut)%(len(records)+1)])
		d = drive(t, part, schedule+1, last(part))
		d.salt = salt
		d.finish()
	})
}
