package server

import "math"

// scale counts the progress of a call for its client. Each step that is over
// counts 1, and what is said within a step shares the way to the next whole
// number. What it gives increases each time (MCP 2025-11-25, Progress).
type scale struct {
	last  float64 // what was given last
	any   bool    // whether anything was
	whole float64 // what the steps that are over count
	total float64 // what all steps will have counted; 0 where that is not known
	bent  bool    // more was said within a step than it counts

	source string  // of what was said last within the step
	base   float64 // last when the source began
	seen   float64 // how far the source said it is
}

const (
	// share is the part of what is left of a step that one source gets: a call
	// that is tried again is another one.
	share = 0.9
	// little is what counts where the source says no more than before on our
	// scale.
	little = 1e-6
)

// within counts what a source says within a step; total is how far the source
// goes, 0 where it does not say. ok is false where it says nothing new.
func (s *scale) within(source string, progress, total float64) (at float64, ok bool) {
	if s.source != source {
		s.source, s.base, s.seen = source, s.last, math.Inf(-1)
	}
	if math.IsNaN(progress) || progress <= s.seen {
		return 0, false
	}
	at = s.base + progress
	if total > 0 {
		at = s.base + share*max(0, s.whole+1-s.base)*min(progress/total, 1)
	}
	if at, ok = s.give(at); !ok {
		return 0, false
	}
	s.seen = progress
	if at >= s.whole+1 {
		s.bent, s.total = true, 0
	}
	return at, true
}

// step counts a step that is over; left is how many will follow, less than 0
// where that is not known.
func (s *scale) step(left int) (at float64, ok bool) {
	s.source = ""
	if at, ok = s.give(math.Floor(s.last) + 1); !ok {
		return 0, false
	}
	s.whole, s.total = at, 0
	if left >= 0 && !s.bent {
		s.total = at + float64(left)
	}
	return at, true
}

// give makes at more than what was given before. It fails at the end of what
// numbers there are.
func (s *scale) give(at float64) (float64, bool) {
	switch {
	case !s.any:
		at = max(at, 0)
	case at <= s.last:
		at = max(s.last+little, math.Nextafter(s.last, math.Inf(1)))
	}
	if math.IsNaN(at) || math.IsInf(at, 0) {
		return 0, false
	}
	s.last, s.any = at, true
	return at, true
}
