package telemetry

import (
	"context"
	"errors"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpgraph/mcpgraph/pkg/upstream"
)

// poolMetrics measures what pools of upstream servers are doing, at the moment when
// metrics are collected.
type poolMetrics struct {
	counters []counter
	state    metric.Int64ObservableGauge
	sessions metric.Int64ObservableGauge
	breakers metric.Int64ObservableGauge

	mu          sync.Mutex
	pools       []*watchedPool
	closedPools map[string]*upstream.Stats // what closed pools had counted, by server
}

// watchedPool is the statistics of one pool.
type watchedPool struct{ stats func() []upstream.Stats }

// counter is a count and where it stands in the statistics.
type counter struct {
	instrument metric.Int64ObservableCounter
	of         func(*upstream.Stats) *int64
}

var (
	upstreamStates = []string{"idle", "connecting", "connected", "failed", "closed"}
	breakerStates  = []string{"closed", "open", "half-open"}
)

func newPoolMetrics(m metric.Meter) (*poolMetrics, error) {
	f := &poolMetrics{closedPools: map[string]*upstream.Stats{}}
	var errs []error
	var all []metric.Observable
	for _, c := range []struct {
		name, unit, description string
		of                      func(*upstream.Stats) *int64
	}{
		{"opened_sessions", "{session}", "Sessions opened with an upstream server", func(s *upstream.Stats) *int64 { return &s.Opened }},
		{"calls", "{call}", "Calls of an upstream server's tools, however they ended", func(s *upstream.Stats) *int64 { return &s.Calls }},
		{"errors", "{call}", "Calls of an upstream server's tools that ended without a result", func(s *upstream.Stats) *int64 { return &s.Errors }},
		{"retries", "{retry}", "Further attempts of calls", func(s *upstream.Stats) *int64 { return &s.Retries }},
		{"rate_limit_waits", "{call}", "Calls that had to wait for a rate limit", func(s *upstream.Stats) *int64 { return &s.RateLimitWaits }},
		{"cache_hits", "{call}", "Calls that were answered from the cache", func(s *upstream.Stats) *int64 { return &s.CacheHits }},
	} {
		counts, err := m.Int64ObservableCounter("mcpgraph.upstream."+c.name, metric.WithUnit(c.unit), metric.WithDescription(c.description))
		errs = append(errs, err)
		all = append(all, counts)
		f.counters = append(f.counters, counter{counts, c.of})
	}
	gauge := func(name, unit, description string) metric.Int64ObservableGauge {
		g, err := m.Int64ObservableGauge("mcpgraph.upstream."+name, metric.WithUnit(unit), metric.WithDescription(description))
		errs = append(errs, err)
		all = append(all, g)
		return g
	}
	f.state = gauge("state", "{server}", "1 for the state that an upstream server is in, 0 for the others")
	f.sessions = gauge("sessions", "{session}", "Sessions that are open with an upstream server")
	f.breakers = gauge("breakers", "{breaker}", "Circuit breakers of a tool that are in a state")
	_, err := m.RegisterCallback(f.observe, all...)
	return f, errors.Join(append(errs, err)...)
}

// Watch reports the metrics of stats until the returned function is called;
// what was counted then is kept, so that no count ever falls.
func (t *Telemetry) Watch(stats func() []upstream.Stats) (stop func()) {
	f, p := t.pools, &watchedPool{stats}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pools = append(f.pools, p)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if i := slices.Index(f.pools, p); i >= 0 {
			f.pools = slices.Delete(f.pools, i, i+1)
			f.add(f.closedPools, stats())
		}
	}
}

// add adds what was counted.
func (f *poolMetrics) add(to map[string]*upstream.Stats, all []upstream.Stats) {
	for i := range all {
		sum := to[all[i].Server]
		if sum == nil {
			sum = &upstream.Stats{}
			to[all[i].Server] = sum
		}
		for _, c := range f.counters {
			*c.of(sum) += *c.of(&all[i])
		}
	}
}

func (f *poolMetrics) observe(_ context.Context, o metric.Observer) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	sums := map[string]*upstream.Stats{}
	for name, s := range f.closedPools {
		past := *s
		past.Server = name
		f.add(sums, []upstream.Stats{past})
	}
	for _, p := range f.pools {
		all := p.stats()
		f.add(sums, all)
		for _, s := range all {
			f.observeServer(o, s)
		}
	}
	for name, s := range sums {
		for _, c := range f.counters {
			o.ObserveInt64(c.instrument, *c.of(s), metric.WithAttributes(attribute.String(serverKey, name)))
		}
	}
	return nil
}

// observeServer observes how a server is.
func (f *poolMetrics) observeServer(o metric.Observer, s upstream.Stats) {
	server := attribute.String(serverKey, s.Server)
	o.ObserveInt64(f.sessions, int64(s.Sessions), metric.WithAttributes(server))
	for _, state := range upstreamStates {
		o.ObserveInt64(f.state, number(s.State == state), metric.WithAttributes(server, attribute.String("mcpgraph.upstream.state", state)))
	}
	counts := map[string]map[string]int{}
	for _, b := range s.Breakers {
		if counts[b.Tool] == nil {
			counts[b.Tool] = map[string]int{}
		}
		counts[b.Tool][b.State] = b.Count
	}
	for tool, byState := range counts {
		for _, state := range breakerStates {
			o.ObserveInt64(f.breakers, int64(byState[state]), metric.WithAttributes(server,
				attribute.String("gen_ai.tool.name", tool), attribute.String("mcpgraph.breaker.state", state)))
		}
	}
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
