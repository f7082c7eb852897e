// Package suite reads test files: the tests of the tools of a configuration, with
// mocks in the place of its upstream servers and what is expected of each run.
package suite

import (
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Suffix is how the name of a test file ends, before .yaml or .yml.
const Suffix = ".test"

const (
	defaultNow     = "2026-01-01T00:00:00Z"
	defaultTimeout = 10 * time.Second
	defaultSeed    = 1

	// maxTests bounds the tests of a file, each case counted.
	maxTests = 100_000
)

// File is a test file as it was written. It is immutable once Parse has returned
// it.
type File struct {
	Path string
	// Config is the path of the configuration. ConfigText is where the file names
	// it; it is empty if the file does not.
	Config     string
	ConfigText config.Text
	// Mocks are those of the file itself.
	Mocks []*Mock
	// Tests has one test for each case, in the order of the file.
	Tests []*Test
	// Node is the whole file.
	Node *config.Node
}

// Test is one test, or one case of it.
type Test struct {
	// Name is the name of the test and, behind a slash, that of the case.
	Name string
	// Node is the test, or the case, as it is written.
	Node *config.Node
	// Tool is the tool that is called, ToolNode where it is named.
	Tool      string
	ToolNode  *config.Node
	Arguments value.Value // an object
	// Mocks are those of the test, Own of them, and then those of the file.
	Mocks []*Mock
	Own   int
	// Cassette is the path of the file of recorded exchanges; empty: none. Redact
	// are JSONata paths to values that recordings leave out.
	Cassette string
	Redact   []string
	Answers  []Answer
	Now      time.Time
	Seed     uint64
	Caller   *Caller      // nil: none
	Headers  []HeaderLine // of the call
	Meta     value.Value  // of the call; undefined if there is none
	Timeout  time.Duration
	Expect   *Expect // never nil
	Skip     string  // why the test is left out; empty: it is not
}

// Caller is who calls.
type Caller struct {
	Name string
	// Scopes are those that were granted; nil: all.
	Scopes []string
}

// HeaderLine is one HTTP header of the call.
type HeaderLine struct{ Name, Value string }

// Answer answers the questions of a node.
type Answer struct {
	ID   config.Text // of the node
	Node *config.Node
	// Given is the answer as it is written: that to each question or, if it is a list
	// and does not answer a roots node, one answer after the other.
	Given value.Value
}

// To returns the answer to a question of the node, which has asked so many times
// before; the last answer of a list is used again. method is the request that the
// question is.
func (a *Answer) To(method string, before int) value.Value {
	if list := a.Given.Elems(); len(list) > 0 && method != graph.AskRoots {
		return list[min(before, len(list)-1)]
	}
	return a.Given
}
