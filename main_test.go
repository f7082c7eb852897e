package mcpgraph_test

import (
	"flag"
	"os"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

// fakeServer is the variable that makes the test binary a fake MCP server; the
// script is its first argument.
const fakeServer = "MCPGRAPH_FAKE_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(fakeServer) != "" {
		os.Exit(mcptest.Run())
	}
	_ = flag.Set("test.parallel", "8") // most of the parallel tests wait for processes
	os.Exit(m.Run())
}
