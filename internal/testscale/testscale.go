// Package testscale sets how much tests that generate their cases generate.
package testscale

import "os"

// variable, set to "full", asks for every case. .ci/run sets it.
const variable = "MCPGRAPH_TESTS"

// Full reports whether the environment variable MCPGRAPH_TESTS is "full".
func Full() bool { return os.Getenv(variable) == "full" }

// Of returns full where every case is asked for, and quick otherwise.
func Of[T any](quick, full T) T {
	if Full() {
		return full
	}
	return quick
}
