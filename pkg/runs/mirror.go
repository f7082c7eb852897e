package runs

import (
	"context"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
)

// Mirror returns a place whose runs are known in a Store of this process, too, while a
// call of Do waits for them, and afterwards. If watched is true they are known as they go
// on, else at their ends.
func Mirror(p Place, store *Store, watched bool) Place { return mirror{p, store, watched} }

type mirror struct {
	Place
	store   *Store
	watched bool
}

// Do implements [Place].
func (m mirror) Do(ctx context.Context, c *Call) (st *State, err error) {
	own, live := *c, (*Live)(nil)
	own.Watched = own.Watched || m.watched
	own.Begun = func(id string) {
		secrets := own.Program.Secrets(own.Run)
		secrets.Note(own.Info.OrNone())
		live = m.store.Begin(Entry{
			ID: id, Run: own.Run, Caller: own.Info.OrNone().Caller, Began: time.Now(), Program: own.Program, Secrets: secrets,
		})
		c.Run = own.Run
		c.begun(id)
	}
	failure := ErrPanicked // unless nothing panics
	defer func() {
		switch {
		case live == nil:
		case st != nil && st.Status == Waiting:
			live.Leave()
		default:
			live.End(time.Now(), failure)
		}
	}()
	st, err = m.Place.Do(ctx, &own)
	if failure = err; err == nil {
		failure = executor.Interrupted(ctx, st.Tool, st.Err)
	}
	return st, err
}
