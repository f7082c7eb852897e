package upstream

import (
	"sync/atomic"

	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/policy"
)

// counters count what became of the calls of one server.
type counters struct {
	calls, errors atomic.Int64
	layers        policy.Counts
}

// Traffic counts what became of the calls of a server since the pool was made.
type Traffic struct {
	Calls          int64 `json:"calls"`  // of tools, and requests for prompts, resources and completions, however they ended
	Errors         int64 `json:"errors"` // calls that ended with an error; a result with isError is none
	Retries        int64 `json:"retries"`
	RateLimitWaits int64 `json:"rateLimitWaits"` // calls that had to wait for a rate limit
	CacheHits      int64 `json:"cacheHits"`
	// Breakers are the circuit breakers in use, in the order of tools and states.
	Breakers []Breaker `json:"breakers,omitempty"`
}

// Breaker counts the circuit breakers of a tool in one state. There is one
// for each caller if calls carry callers' credentials, else one.
type Breaker struct {
	Tool  string `json:"tool"`
	State string `json:"state"` // closed, open or half-open
	Count int    `json:"count"`
}
