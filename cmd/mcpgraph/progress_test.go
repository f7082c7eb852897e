package main

import (
	"slices"
	"testing"
)

// TestTypeScriptClientsReportNoErrors calls tools with progress, fast and slow, and cancels
// one: the SDK reports progress or an answer that it does not expect as an error.
func TestTypeScriptClientsReportNoErrors(t *testing.T) {
	t.Parallel()
	withTypeScript(t, "testdata/progress.mjs", "testdata/progress.yaml", "sdk stdio", func(t *testing.T, _ string, out, errors []string) {
		if want := []string{`node "entry" (entry)`, "aborted", "goes on"}; !slices.Equal(out, want) {
			t.Errorf("got %q, want %q", out, want)
		}
		if len(errors) > 0 {
			t.Errorf("the client reports %d errors, such as %s", len(errors), errors[0])
		}
	})
}
