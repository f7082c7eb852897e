package server

import "math"

// progressScale maps the progress of a call's steps to one increasing number
// (MCP 2025-11-25, Progress). Each finished step counts 1. Progress within a
// step moves toward the next whole number.
type progressScale struct {
	last      float64 // latest value
	started   bool    // whether there is a latest value
	stepsDone float64 // value when the latest step finished
	total     float64 // expected final value; 0 if it is unknown
	overrun   bool    // a step reported more progress than 1

	source         string  // of the latest progress within the step
	sourceStart    float64 // value when the source started
	sourceProgress float64 // latest progress of the source
}

const (
	// sourceShare is the part of the rest of a step that one source may use. A
	// retried call is a new source.
	sourceShare = 0.9
	// minProgress is the least increase, for a source whose progress adds
	// nothing to the value.
	minProgress = 1e-6
)

// report adds progress of a source within a step. total is the source's own
// total, 0 if it is unknown. ok is false if the value does not increase.
func (s *progressScale) report(source string, progress, total float64) (at float64, ok bool) {
	if s.source != source {
		s.source, s.sourceStart, s.sourceProgress = source, s.last, math.Inf(-1)
	}
	if math.IsNaN(progress) || progress <= s.sourceProgress {
		return 0, false
	}
	at = s.sourceStart + progress
	if total > 0 {
		at = s.sourceStart + sourceShare*max(0, s.stepsDone+1-s.sourceStart)*min(progress/total, 1)
	}
	if at, ok = s.advance(at); !ok {
		return 0, false
	}
	s.sourceProgress = progress
	if at >= s.stepsDone+1 {
		s.overrun, s.total = true, 0
	}
	return at, true
}

// finishStep adds a finished step. left is the number of steps that follow;
// less than 0 if it is unknown.
func (s *progressScale) finishStep(left int) (at float64, ok bool) {
	s.source = ""
	if at, ok = s.advance(math.Floor(s.last) + 1); !ok {
		return 0, false
	}
	s.stepsDone, s.total = at, 0
	if left >= 0 && !s.overrun {
		s.total = at + float64(left)
	}
	return at, true
}

// advance sets the value to at, or to a little more than before if at is not
// larger. It fails if no larger number exists.
func (s *progressScale) advance(at float64) (float64, bool) {
	switch {
	case !s.started:
		at = max(at, 0)
	case at <= s.last:
		at = max(s.last+minProgress, math.Nextafter(s.last, math.Inf(1)))
	}
	if math.IsNaN(at) || math.IsInf(at, 0) {
		return 0, false
	}
	s.last, s.started = at, true
	return at, true
}
