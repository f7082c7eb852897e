package regex

import (
	"context"
	"errors"
	"time"

	"github.com/dlclark/regexp2/v2"

	"github.com/mcpgraph/mcpgraph/internal/regexclock"
)

// Limit is the longest that one search by backtracking may take, whatever its
// context allows.
const Limit = regexclock.Longest

const (
	// maxStack bounds the memory of one search by backtracking, in integers.
	maxStack = 1 << 20
	// firstSlice is how long a search runs before the context is looked at.
	firstSlice = 20 * time.Millisecond
)

// findBacktrack searches units from the index from on, and stores the start and
// end of the match and of its captures in loc (-1 for those that took no part).
// regexp2 knows timeouts but no contexts, so a search runs in slices: where one
// ends without a result and the context lives, it starts again with twice the
// time. All slices together take at most twice as long as the last.
//
// Slices but the first take their turns with the work of others.
func (r *Regex) findBacktrack(ctx context.Context, p Processor, units []rune, from int, loc []int) (bool, error) {
	compiled, err := r.backtrack()
	if err != nil {
		return false, err
	}
	spent := time.Duration(0) // by slices: no clock is asked, which may be a virtual one
	for slice := firstSlice; ; slice *= 2 {
		if slice == 2*firstSlice && p != nil {
			defer p.Acquire(ctx)()
		}
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		left := r.limit - spent
		if left <= 0 {
			return false, ErrTimeout
		}
		if deadline, ok := ctx.Deadline(); ok {
			left = min(left, time.Until(deadline))
		}
		// The timeout belongs to the value, so each search has a copy of its own;
		// what the copies share is made for sharing.
		re := *compiled
		re.MatchTimeout = max(min(slice, left), time.Millisecond)
		spent += re.MatchTimeout
		found := false
		regexclock.Keep()
		err := re.FindRunesMatches(units, from, func(m regexp2.MatchView) bool {
			found = true
			for g := range r.groups + 1 {
				loc[2*g], loc[2*g+1] = -1, -1
				if at, n, ok := m.GroupRange(g); ok {
					loc[2*g], loc[2*g+1] = at, at+n
				}
			}
			return false
		})
		if err == nil {
			return found, nil
		}
		if errors.Is(err, regexp2.ErrBacktrackingStackLimit) {
			return false, ErrTooComplex
		}
	}
}
