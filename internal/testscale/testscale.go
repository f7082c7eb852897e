// Package testscale sets how many cases tests try that generate them, or that run
// many programs of others.
package testscale

import (
	"os"
	"testing"
)

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

// OnlyFull skips a test unless every case is asked for. A similar case that is
// not skipped stands beside each use.
func OnlyFull(t testing.TB) {
	t.Helper()
	if !Full() {
		t.Skip("one of many similar cases: it runs where " + variable + " is full")
	}
}
