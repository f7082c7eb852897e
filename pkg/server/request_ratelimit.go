package server

import "time"

// Limits of progress notifications, and of log messages, of one call: so many
// at once, then so many per second. A graph with a loop, or an upstream server,
// could otherwise fill the client's connection (MCP 2025-11-25, Progress and
// Logging, require a rate limit).
const (
	messageBurst = 1000
	messageRate  = 1000 // per second
)

// rateLimiter is a token bucket.
type rateLimiter struct {
	started bool
	tokens  float64 // messages that may be sent at once
	updated time.Time
}

func (f *rateLimiter) allow() bool {
	now := time.Now()
	if !f.started {
		f.started, f.tokens = true, messageBurst
	} else {
		f.tokens = min(messageBurst, f.tokens+now.Sub(f.updated).Seconds()*messageRate)
	}
	f.updated = now
	if f.tokens < 1 {
		return false
	}
	f.tokens--
	return true
}
