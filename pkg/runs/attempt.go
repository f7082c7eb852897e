package runs

import (
	"errors"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// attempt is one of the attempts of a step.
type attempt struct {
	start, end int64 // in nanoseconds since 1970
	err        string
}

// addAttempts packs the attempts of a step.
func (p *packer) addAttempts(m *more, list []graph.Attempt) {
	for _, one := range list {
		kept := attempt{start: nanoseconds(one.Start), end: nanoseconds(one.End)}
		if one.Err != nil {
			kept.err = errorText(one.Err, p.redact)
		}
		m.attempted = append(m.attempted, kept)
		p.used += tryBytes + int64(len(kept.err))
	}
}

// times returns the attempts of a step.
func (m *more) times() (times []graph.Attempt) {
	for _, one := range m.attempted {
		again := graph.Attempt{Start: timeOf(one.start), End: timeOf(one.end)}
		if one.err != "" {
			again.Err = errors.New(one.err)
		}
		times = append(times, again)
	}
	return times
}
