package policy

import "time"

// Failure is what an error of a call means for retry and circuit breaker.
type Failure struct {
	Names   []string      // as retryOn and skipOn have them
	Final   bool          // it is never tried again
	Retried bool          // it is tried again unless the entry says otherwise
	Unknown bool          // the server may have done what it was asked for
	Fault   bool          // it counts against the server, for the circuit breaker
	Silent  bool          // it tells nothing of the server
	Words   string        // what happened
	After   time.Duration // how long the server wants to be left alone; 0: it does not say
}
