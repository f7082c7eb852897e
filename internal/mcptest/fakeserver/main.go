// Command fakeserver is the fake server of mcptest as a program of its own, which
// starts faster than the program of a test.
package main

import (
	"os"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

func main() { os.Exit(mcptest.Run()) }
