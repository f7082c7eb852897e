package repotest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/internal/suite/runner"
)

// TestExamplesPassTheirTests runs the test file of each example in this process.
// Together they walk nearly every node and edge.
func TestExamplesPassTheirTests(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("examples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	var tests []string
	for _, file := range files {
		if suite.IsTestFile(file) {
			tests = append(tests, file)
		}
	}
	o := runner.Options{Getenv: os.LookupEnv, Strict: true}
	r := runner.Load(context.Background(), tests, o).Run(context.Background(), o)
	for _, f := range r.Files {
		tested[f.Config()] = true
	}
	for _, file := range files {
		if !suite.IsTestFile(file) && !tested[file] {
			t.Errorf("%s has no tests", file)
		}
	}
	for _, d := range r.Diagnostics() {
		t.Error(d)
	}
	for _, result := range r.Results {
		for _, d := range result.Problems {
			t.Errorf("%s: %v", result.Test.Name, d)
		}
	}
	if r.Failed > 0 || len(r.Results) < 40 {
		t.Errorf("%d tests, of which %d failed", len(r.Results), r.Failed)
	}
	if got := r.Coverage().Percent(); got < 98 {
		t.Errorf("the tests walk %.1f%% of the nodes and edges", got)
	}
}

// The test files of the examples use every other key, so that one can learn from
// them.
func TestExamplesUseEveryKeyOfTests(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("examples/*.test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		all.WriteString(readFile(t, file))
	}
	for _, s := range suite.Settings() {
		for _, key := range append(s.Fields, s) {
			for _, inner := range append(key.Fields, key) {
				if !strings.Contains(all.String(), inner.Name+":") {
					t.Errorf("no example shows %q", inner.Name)
				}
			}
		}
	}
}
