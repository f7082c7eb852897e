package cassette

import (
	"context"
	"strings"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Player answers the calls of one test from a cassette. It is for one run of the
// test, in which each exchange answers one call. It is safe for concurrent use.
type Player struct {
	cassette *Cassette
	test     string
	paths    *Paths
	secrets  func(info *callinfo.Info, text string) string

	mu    sync.Mutex
	own   []*Exchange // those of the test
	used  []bool      // of own
	stale *StaleError // the first one
}

// Play returns a player of the exchanges of a test, and of those that have no test.
// Paths and secrets are those that the cassette was recorded with (see
// [Recorder.Exchanges]): arguments are compared after both have been applied. Both
// may be nil.
func (c *Cassette) Play(test string, paths *Paths, secrets func(info *callinfo.Info, text string) string) *Player {
	p := &Player{cassette: c, test: test, paths: paths, secrets: secrets}
	for i := range c.Exchanges {
		if x := &c.Exchanges[i]; x.Test == "" || x.Test == test {
			p.own = append(p.own, x)
		}
	}
	p.used = make([]bool, len(p.own))
	return p
}

// Intercept is an [upstream.Intercept] that never calls next. It answers with the
// first exchange of the same server, tool and arguments that has not answered yet.
// The error is a *[StaleError] if there is none: no retry repeats the call and no rule
// of a graph catches it.
func (p *Player) Intercept(ctx context.Context, x upstream.Exchange, _ func(context.Context) (value.Value, error)) (value.Value, error) {
	var hide func(string) string
	if p.secrets != nil {
		hide = func(text string) string { return p.secrets(x.Info, text) }
	}
	want, err := p.paths.apply(ctx, Exchange{
		Test: p.test, Server: x.Server, Tool: x.Tool, Arguments: argumentsOf(x), Reply: value.FromEntries(nil),
	}, hide)
	if err != nil {
		return value.Undef, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, one := range p.own {
		if p.used[i] || !one.answers(&want) {
			continue
		}
		p.used[i] = true
		if one.Failure != nil {
			return value.Undef, one.Failure
		}
		return one.Reply, nil
	}
	stale := p.staleError(&want)
	if p.stale == nil {
		p.stale = stale
	}
	return value.Undef, stale
}

// Stale returns the error of the first call that the cassette could not answer, nil
// if there was none.
func (p *Player) Stale() *StaleError {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stale
}

// Unused returns the exchanges of the test that answered no call, those without a
// test apart.
func (p *Player) Unused() []Exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []Exchange
	for i, one := range p.own {
		if !p.used[i] && one.Test != "" {
			all = append(all, *one)
		}
	}
	return all
}

// answers reports whether x is an exchange of the call want.
func (x *Exchange) answers(want *Exchange) bool {
	return x.Server == want.Server && x.Tool == want.Tool && same(x.Arguments, want.Arguments)
}

// same reports whether a value is what was recorded, in which the placeholder stands
// for anything.
func same(recorded, v value.Value) bool {
	switch recorded.Kind() {
	case value.String:
		text := recorded.Str()
		if text == Placeholder {
			return !v.IsUndefined()
		}
		if !strings.Contains(text, Placeholder) {
			break
		}
		return v.Kind() == value.String && fits(text, v.Str())
	case value.Object:
		members := recorded.Entries()
		if v.Kind() != value.Object || len(members) != v.Len() {
			return false
		}
		for _, m := range members {
			if !same(m.Value, v.Get(m.Key)) {
				return false
			}
		}
		return true
	case value.Array:
		elements, others := recorded.Elems(), v.Elems()
		if v.Kind() != value.Array || len(elements) != len(others) {
			return false
		}
		for i := range elements {
			if !same(elements[i], others[i]) {
				return false
			}
		}
		return true
	}
	return value.Equal(recorded, v)
}

// fits reports whether a text is what was recorded, with anything in the place of
// each placeholder.
func fits(recorded, text string) bool {
	parts := strings.Split(recorded, Placeholder)
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}
