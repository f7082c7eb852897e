package config

import "time"

// Retry configures how often a call is tried, and when.
type Retry struct {
	MaxAttempts  int           // tries in all, the first included
	InitialDelay time.Duration // before the second try
	MaxDelay     time.Duration
	Backoff      float64 // factor from one delay to the next, at least 1
	Jitter       bool    // whether delays vary at random
	// RetryOn adds to the failures after which a call is tried again, SkipOn
	// takes away and wins. Each is one of [FailureNames], an HTTP status ("500"),
	// a class of them ("5xx") or the code of a JSON-RPC error ("-32001").
	RetryOn, SkipOn []string
}

// FailureNames returns the failures that have a name in retryOn and skipOn: the
// server could not be reached, the connection was reset or closed, nothing came
// in time, the answer was not one of MCP.
func FailureNames() []string { return []string{"connect", "closed", "timeout", "malformed"} }

// CircuitBreaker configures when the calls of a tool fail without being tried.
type CircuitBreaker struct {
	FailureThreshold int // failures in a row that open it
	SuccessThreshold int // successes in a row that close it again
	ResetTimeout     time.Duration
	HalfOpenMaxCalls int // calls at a time while it is found out whether it can close
}

// RateLimit configures how many calls are sent to a server; further calls wait.
type RateLimit struct {
	// Limit calls in each Period; both are 0 where only single tools have limits.
	Limit   int
	Period  time.Duration
	PerTool []ToolRate // in the order of the file
}

// ToolRate is the limit of one tool: so many calls in each Period.
type ToolRate struct {
	Tool   string
	Limit  int
	Period time.Duration
}

// Approval configures which calls a person has to approve.
type Approval struct {
	Tools []string // names or globs
	Once  bool     // one approval is for all calls of the tool in a run
}

// Needs reports whether calls of the tool need approval.
func (a *Approval) Needs(tool string) bool { return a != nil && matches(a.Tools, tool) }

// Cache configures which results are kept for later calls.
type Cache struct {
	TTL        time.Duration
	MaxEntries int
	Tools      []string // names or globs, at least one
}

// Caches reports whether results of the tool are kept.
func (c *Cache) Caches(tool string) bool { return c != nil && matches(c.Tools, tool) }
