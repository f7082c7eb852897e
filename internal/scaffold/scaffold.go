// Package scaffold writes the first files of an author: a configuration with one
// tool that calls one tool of an upstream server, and a test of it. The files are
// checked as they are made: if the schemas of the upstream tool give a file with
// problems, simpler ones take their place.
package scaffold

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Upstream is the tool that the new tool calls.
type Upstream struct {
	Server string      // its name under mcpServers
	Entry  value.Value // of mcpServers, as it is to be written
	Tool   string
	// Description, Input, Output and Annotations are what the server says of the
	// tool; the last three may be undefined.
	Description                string
	Input, Output, Annotations value.Value
}

// Call is a call of the upstream tool for the test. Arguments undefined means that
// none are known, Reply undefined that it was not called.
type Call struct {
	Arguments, Reply value.Value
}

// Files are the files of a new tool, or the files that it was added to. The tool has no outputSchema: that of the upstream
// tool would be wrong as soon as a node is added.
type Files struct {
	Config, Test []byte
	Tool         string      // the name of the new tool
	Arguments    value.Value // of its test
	Real         bool        // the test has the reply of a real call
}

// Target are the new files: their names, and what their first lines name as their JSON
// Schemas, for editors. An empty one is left out.
type Target struct {
	Config, Test             string
	Tool                     string // the name of the new tool; empty is that of the upstream tool
	ConfigSchema, TestSchema string
}

// plans are how much of the upstream tool's schemas is kept, the most first.
var plans = []plan{{}, {simple: true}, {open: true}}

type plan struct {
	simple bool // only types, descriptions and what is required
	open   bool // any object
}

// New returns the files for a tool that calls an upstream tool. The error says what is
// wrong with the entry of the server: everything else can be written somehow.
func New(u Upstream, call Call, target Target) (Files, error) {
	return planned(u, call, target, func(d *draft) (Files, error) {
		files, err := d.files()
		if err == nil {
			err = check(target.Config, files.Config, target.Test, files.Test)
		}
		return files, err
	})
}

// planned returns the files of the first plan that make works for.
func planned(u Upstream, call Call, target Target, make func(*draft) (Files, error)) (Files, error) {
	var problems error
	for _, p := range plans {
		d := newDraft(u, call, p, target)
		if d == nil {
			continue
		}
		files, err := make(d)
		if err == nil {
			return files, nil
		}
		problems = err
	}
	return Files{}, problems
}

// files returns the files, formatted as `mcpgraph fmt` formats them.
func (d *draft) files() (files Files, err error) {
	files = Files{Tool: d.name, Arguments: d.arguments, Real: d.real}
	if files.Config, err = edit.Format(d.target.Config, []byte(d.config())); err != nil {
		return files, err
	}
	files.Test, err = edit.Format(d.target.Test, []byte(d.test()))
	return files, err
}

// check returns what is wrong with a configuration or its test, warnings too.
func check(path string, text []byte, testPath string, test []byte) error {
	return asError(problemsOf(path, text, testPath, test))
}

func asError(problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	errs := make([]error, len(problems))
	for i, p := range problems {
		errs[i] = errors.New(p)
	}
	return fmt.Errorf("the file would have problems: %w", errors.Join(errs...))
}

// problemsOf returns the messages of what is wrong with a configuration or its test.
func problemsOf(path string, text []byte, testPath string, test []byte) (messages []string) {
	set := func(string) (string, bool) { return "set", true }
	file, ds := config.Parse(path, text, config.Options{Getenv: set})
	if file != nil {
		_, more := graph.Build(file, nodes.All)
		ds = append(ds, more...)
	}
	_, more := suite.Parse(testPath, test)
	ds = append(ds, more...)
	ds = slices.DeleteFunc(ds, func(d diag.Diagnostic) bool { return d.Severity == diag.Info })
	for _, d := range ds {
		messages = append(messages, d.Message)
	}
	return messages
}
