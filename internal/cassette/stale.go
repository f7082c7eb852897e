package cassette

import (
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// StaleError is the error of a call that a cassette does not answer: the graph calls
// something else by now.
type StaleError struct {
	Path string   // of the cassette
	Want Exchange // the call, secrets replaced; there is no reply
	// Nearest is the exchange of the test that is the most like it: one that has
	// answered already if Used is set. It is nil if the test has none.
	Nearest *Exchange
	// Used reports that all exchanges of this call have answered: the call was made
	// more often than when the cassette was recorded.
	Used bool
}

// maxShown bounds the arguments in the text of the error, in bytes.
const maxShown = 300

// Error says what was called and what the cassette has instead.
func (e *StaleError) Error() string {
	text := fmt.Sprintf("the cassette %s is stale: ", e.Path)
	call := func(x *Exchange) string {
		return fmt.Sprintf("tool %q of server %q with the arguments %s", x.Tool, x.Server, x.Arguments.Preview(maxShown))
	}
	switch {
	case e.Used:
		text += fmt.Sprintf("%s was called more often than when it was recorded", call(&e.Want))
	case e.Nearest == nil:
		text += fmt.Sprintf("it has no call of %s, and none at all of this test", call(&e.Want))
	default:
		text += fmt.Sprintf("it has no call of %s; the nearest is %s, in line %d", call(&e.Want), call(e.Nearest), e.Nearest.Line)
	}
	return text + "; record it again with --record"
}

// FailureName returns a name that no rule of a graph handles: the test fails
// whatever its graph does about failures.
func (*StaleError) FailureName() string { return graph.FailInternal }

// staleError returns the error of a call that no exchange is left for.
func (p *Player) staleError(want *Exchange) *StaleError {
	e := &StaleError{Path: p.cassette.Path, Want: *want}
	best := -1
	for i, x := range p.own {
		if x.answers(want) { // and was used
			e.Nearest, e.Used = x, true
			return e
		}
		score := likeness(x, want) * 2
		if !p.used[i] {
			score++
		}
		if score > best {
			e.Nearest, best = x, score
		}
	}
	return e
}

// likeness tells how much two calls have in common: the server, then the tool, then
// arguments of the same value, then those of the same name.
func likeness(x, want *Exchange) int {
	const server, tool, argument = 1 << 24, 1 << 20, 1 << 10
	score := 0
	if x.Server == want.Server {
		score += server
		if x.Tool == want.Tool {
			score += tool
		}
	}
	for _, m := range x.Arguments.Entries() {
		switch other := want.Arguments.Get(m.Key); {
		case other.IsUndefined():
		case value.Equal(other, m.Value):
			score += argument
		default:
			score++
		}
	}
	return min(score, 2*server)
}
