package debug

import (
	"testing"
	"time"
)

// SetEvalTimeout bounds the time of evaluations until the test ends.
func SetEvalTimeout(t testing.TB, d time.Duration) {
	before := evalTimeout
	evalTimeout = d
	t.Cleanup(func() { evalTimeout = before })
}
