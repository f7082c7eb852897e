package runner

import (
	"time"

	"github.com/mcpgraph/mcpgraph/internal/cassette"
	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// CodeTestFailed is the code of the diagnostics of failed tests.
const CodeTestFailed = "test-failed"

// CodeUnusedMock is the code of the diagnostics of mocks that nobody called.
const CodeUnusedMock = "unused-mock"

// CodeSnapshot is the code of the diagnostics of snapshots that no test has.
const CodeSnapshot = "obsolete-snapshot"

// Status is what came of a test.
type Status uint8

// What can come of a test.
const (
	Passed Status = iota
	Failed
	Skipped
)

// String returns "passed", "failed" or "skipped".
func (s Status) String() string { return [...]string{"passed", "failed", "skipped"}[s] }

// Result is what came of one test.
type Result struct {
	File, Config string // paths
	Of           *File
	Test         *suite.Test
	Status       Status
	Elapsed      time.Duration // real time
	Outcome
}

// Outcome is what a test did.
type Outcome struct {
	// Problems are why the test failed.
	Problems []Problem
	// Warnings are what is worth knowing about a test that passed, too.
	Warnings []diag.Diagnostic
	// Walk is the way of the run through the graph, for people; empty where the run
	// did not begin.
	Walk []string
	// Duration is the time that the run took on the clock of the test.
	Duration time.Duration

	covered  covered
	recorded []cassette.Exchange
	used     []int  // how often each mock was called
	snapshot string // the text to compare with the snapshot; empty: none
	parts    string // what the test may expect, as JSON; empty unless it is a draft
}

// Problem is one reason why a test failed.
type Problem struct {
	diag.Diagnostic
	// Expected and Found are YAML to be shown as a diff; both are empty if there is
	// nothing to compare.
	Expected, Found string
	// Detail is more to show, such as a mock to paste; it may be empty.
	Detail string
}

func (r *Result) fail(p Problem) {
	r.Status = Failed
	r.Problems = append(r.Problems, p)
}

// Report is what came of a run of tests.
type Report struct {
	Files   []*File
	Results []*Result // in the order of the files
	Sources diag.Sources
	Elapsed time.Duration

	Passed, Failed, Skipped int
}

func (r *Report) add(one *Result) {
	r.Results = append(r.Results, one)
	switch one.Status {
	case Passed:
		r.Passed++
	case Failed:
		r.Failed++
	case Skipped:
		r.Skipped++
	}
}

// Diagnostics returns what is wrong with the files themselves, errors and warnings.
func (r *Report) Diagnostics() []diag.Diagnostic {
	var all []diag.Diagnostic
	for _, f := range r.Files {
		all = append(all, f.Diagnostics...)
	}
	return all
}

// OK reports whether all files could be read and no test failed.
func (r *Report) OK() bool { return r.Failed == 0 && !diag.HasErrors(r.Diagnostics()) }
