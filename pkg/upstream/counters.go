package upstream

import "sync/atomic"

// counters count what became of the calls of one server.
type counters struct{ calls, errors, retries, waits, hits atomic.Int64 }

// Traffic counts what became of the calls of a server since the pool was made.
type Traffic struct {
	Calls          int64 `json:"calls"`  // of tools, however they ended
	Errors         int64 `json:"errors"` // calls that ended with an error; a result with isError is none
	Retries        int64 `json:"retries"`
	RateLimitWaits int64 `json:"rateLimitWaits"` // calls that had to wait for a rate limit
	CacheHits      int64 `json:"cacheHits"`
	// Breakers are the circuit breakers in use, in the order of tools and states.
	Breakers []Breaker `json:"breakers,omitempty"`
}

func (s *server) traffic() Traffic {
	return Traffic{
		Calls: s.counts.calls.Load(), Errors: s.counts.errors.Load(), Retries: s.counts.retries.Load(),
		RateLimitWaits: s.counts.waits.Load(), CacheHits: s.counts.hits.Load(), Breakers: s.layers.states(),
	}
}
