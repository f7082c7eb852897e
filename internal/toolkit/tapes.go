package toolkit

import (
	"context"
	"sync"

	"github.com/mcpgraph/mcpgraph/internal/cassette"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of the recordings of runs.
const (
	maxTapes     = 20
	maxTapeBytes = 4 << 20
)

// tapes records what upstream tools were sent and answered, for the tests that are
// made from runs. The last runs keep theirs. It is safe for concurrent use.
type tapes struct {
	mu    sync.Mutex
	order []string
	byRun map[string]*tape
}

// tape is the recording of one run.
type tape struct {
	cassette.Recorder
	mu    sync.Mutex
	bytes int // more than maxTapeBytes: it is not complete
}

// of returns the tape of a run, or a new one.
func (t *tapes) of(run string) *tape {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one := t.byRun[run]; one != nil {
		return one
	}
	if t.byRun == nil {
		t.byRun = map[string]*tape{}
	}
	one := &tape{}
	t.byRun[run] = one
	if t.order = append(t.order, run); len(t.order) > maxTapes {
		delete(t.byRun, t.order[0])
		t.order = t.order[1:]
	}
	return one
}

// find returns the tape of a run that called something.
func (t *tapes) find(run string) (*tape, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, ok := t.byRun[run]
	return one, ok
}

func (t *tape) grow(n int) (full bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes += n
	return t.bytes > maxTapeBytes
}

// intercept is an [upstream.Intercept] that records the calls of runs.
func (t *tapes) intercept(ctx context.Context, x upstream.Exchange, next func(context.Context) (value.Value, error)) (value.Value, error) {
	if x.Info == nil || x.Info.RunID == "" {
		return next(ctx)
	}
	one := t.of(x.Info.RunID)
	if one.grow(x.Args.TextSize()) {
		return next(ctx)
	}
	return one.Intercept(ctx, x, func(ctx context.Context) (value.Value, error) {
		reply, err := next(ctx)
		one.grow(reply.TextSize())
		return reply, err
	})
}
