package ui

import (
	"flag"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // the longest tests wait for intervals
	os.Exit(m.Run())
}
