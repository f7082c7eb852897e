package cassette

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Recorder notes what goes over to the servers of one test or call, and what comes
// back, failures included. Calls that their caller gave up are left out: nobody
// knows what the server would have answered. The zero value is ready. It is safe for
// concurrent use.
type Recorder struct {
	mu       sync.Mutex
	moments  int // beginnings and ends so far
	recorded []*recorded
	bytes    int
	limit    int // of bytes; 0: MaxBytes
}

// recorded is one exchange as it was, with secrets.
type recorded struct {
	info            *callinfo.Info
	server, tool    string
	arguments, text string // JSON; no text: there is no reply
	failure         *upstream.Failure
	began, ended    int // moments
}

// Intercept is an [upstream.Intercept]: it makes the exchange and notes it.
func (r *Recorder) Intercept(ctx context.Context, x upstream.Exchange, next func(context.Context) (value.Value, error)) (value.Value, error) {
	one := &recorded{info: x.Info, server: x.Server, tool: x.Tool, arguments: argumentsOf(x).JSON()}
	r.mu.Lock()
	r.moments++
	one.began, one.ended = r.moments, math.MaxInt
	r.recorded = append(r.recorded, one) // in the order in which they began
	r.mu.Unlock()
	reply, err := next(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.moments++
	one.ended = r.moments
	if err == nil {
		one.text = reply.JSON()
	} else if f, ok := upstream.FailureOf(err); ok {
		one.failure = f
	}
	if r.bytes += len(one.arguments) + len(one.text); r.bytes > r.bound() {
		one.arguments, one.text = "", "" // Exchanges reports it; nothing more is kept
	}
	return reply, err
}

// Exchanges returns what was recorded, with secrets replaced: those that secrets takes
// out of a text of a call with this info (nil: none), and what stands at the paths
// (nil: none). Call it after the calls have ended, when all their secrets are known.
// It returns an error if there is more than [MaxBytes], or if a path fails.
func (r *Recorder) Exchanges(ctx context.Context, paths *Paths, secrets func(info *callinfo.Info, text string) string) ([]Exchange, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bytes > r.bound() {
		return nil, fmt.Errorf("more than %d bytes were sent and answered, which is the bound of a cassette", r.bound())
	}
	var all []Exchange
	for _, one := range r.ordered() {
		if one.text == "" && one.failure == nil {
			continue
		}
		x := Exchange{Server: one.server, Tool: one.tool, Failure: one.failure}
		var err error
		if x.Arguments, err = value.ParseLazy(one.arguments); err != nil {
			return nil, err
		}
		if one.failure == nil {
			if x.Reply, err = value.ParseLazy(one.text); err != nil {
				return nil, err
			}
		}
		var hide func(string) string
		if secrets != nil {
			hide = func(text string) string { return secrets(one.info, text) }
		}
		if x, err = paths.apply(ctx, x, hide); err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// ordered returns what was recorded in the order of the calls. Calls that were under
// way at the same time, which begin in any order, are sorted: a recording of the same
// calls is the same file.
func (r *Recorder) ordered() []*recorded {
	all := slices.Clone(r.recorded)
	for from := 0; from < len(all); {
		to, end := from+1, all[from].ended
		for ; to < len(all) && all[to].began < end; to++ {
			end = max(end, all[to].ended)
		}
		slices.SortStableFunc(all[from:to], func(a, b *recorded) int {
			return cmp.Or(strings.Compare(a.server, b.server), strings.Compare(a.tool, b.tool), strings.Compare(a.arguments, b.arguments))
		})
		from = to
	}
	return all
}

func (r *Recorder) bound() int { return cmp.Or(r.limit, MaxBytes) }

// argumentsOf returns the arguments as they are sent: an object always.
func argumentsOf(x upstream.Exchange) value.Value {
	if x.Args.Kind() != value.Object {
		return value.FromEntries(nil)
	}
	return x.Args
}
