package testscale

import (
	"flag"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
)

// gcPercent is the GOGC of tests. Most of what they allocate is garbage at once,
// and a collection each few megabytes takes a fifth of their time.
const gcPercent = 400

// Main is the TestMain of packages whose tests allocate much. It runs the garbage
// collector less often, except for benchmarks.
func Main(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(m.Run())
}

// SetGOGC sets the environment variable GOGC to what Main uses, for hundreds of
// programs that a test starts and that end at once.
func SetGOGC() { os.Setenv("GOGC", strconv.Itoa(gcPercent)) }
