package server

import (
	"testing"
	"time"
)

// SetTimes gives clients less time for headers, bodies and reading, until the
// test ends. No server may run.
func SetTimes(t testing.TB, d time.Duration) {
	header, body, write := headerTime, bodyTime, writeTime
	headerTime, bodyTime, writeTime = d, d, d
	t.Cleanup(func() { headerTime, bodyTime, writeTime = header, body, write })
}
