package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/cassette"
	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Draft returns a test file with one test, for DraftPath or the folder of a cassette: the
// call that the cassette was recorded from, with the cassette as the answers, expects what comes
// of it now. It is formatted, and the test passes.
//
// The error is a *[DraftError] or about the file of the cassette.
func Draft(ctx context.Context, path, name string, o Options) ([]byte, error) {
	tape, err := cassette.Read(path)
	if err != nil {
		return nil, err
	}
	if tape.Run == nil || tape.Run.Config == "" {
		return nil, &DraftError{message: fmt.Sprintf("the first line of %s does not say which call it was recorded from; record one call with mcpgraph run --record", path)}
	}
	return DraftOf(ctx, tape, name, o)
}

// DraftOf is [Draft] for a cassette that need not be saved yet. Its path is where it
// will be, and it has to say which call it was recorded from.
func DraftOf(ctx context.Context, tape *cassette.Cassette, name string, o Options) ([]byte, error) {
	path := tape.Path
	// No file has this name: a place in it is never shown.
	d := &draft{path: cmp.Or(o.DraftPath, filepath.Join(filepath.Dir(path), "from-run"+suite.Suffix+".yaml")), cassette: tape, config: tape.Run.Config}
	d.Options = Options{Getenv: o.Getenv, Inputs: o.Inputs, MCPFiles: o.MCPFiles, Read: o.Read, tape: tape}
	d.loader = &loader{ctx: ctx, options: d.Options, configs: map[string]*config{}}
	file := filepath.FromSlash(tape.Run.Config)
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(path), file)
	}
	if o.DraftPath != "" && !filepath.IsAbs(filepath.FromSlash(tape.Run.Config)) {
		d.config = cassette.Relative(d.path, file)
	}
	c := d.loader.compiled(file)
	var broken *engine.LoadError
	if errors.As(c.err, &broken) {
		return nil, &DraftError{message: file + " has errors", Path: file, Diagnostics: broken.Diagnostics, Sources: broken.Sources}
	}
	if c.err != nil {
		return nil, c.err
	}
	defer c.engine.Close()
	if err := hasTool(c.engine.Current().Set(), file, tape.Run.Tool); err != nil {
		return nil, err
	}
	result, err := d.run(ctx, d.text(name, value.Undef), true)
	if err != nil {
		return nil, err
	}
	expect, err := value.Parse(result.parts)
	if err != nil {
		return nil, err
	}
	text, err := edit.Format(d.path, []byte(d.text(name, expect)))
	if err != nil {
		return nil, err
	}
	_, err = d.run(ctx, string(text), false)
	return text, err
}

// DraftError says why no test can be made from a cassette.
type DraftError struct {
	// Path is the configuration if that has errors, Diagnostics what is wrong with it,
	// and Sources the texts to show with them.
	Path        string
	Diagnostics []diag.Diagnostic
	Sources     diag.Sources

	message string
}

// Error returns what is wrong and what to do.
func (e *DraftError) Error() string { return e.message }

func hasTool(set *graph.Set, file, name string) error {
	var names []string
	for _, g := range set.Graphs {
		names = append(names, g.Name)
	}
	if slices.Contains(names, name) {
		return nil
	}
	message := fmt.Sprintf("%s has no tool %q", file, name)
	if near, ok := diag.Nearest(name, names); ok {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	return &DraftError{message: message}
}

// draft makes a test from a cassette.
type draft struct {
	Options
	path     string // where the test file would be
	cassette *cassette.Cassette
	config   string // the path of the configuration, from the test file
	loader   *loader
}

// text returns the test file as YAML; undefined expectations are left out.
func (d *draft) text(name string, expect value.Value) string {
	run := d.cassette.Run
	b := value.NewBuilder(5)
	b.Set("name", value.FromString(name))
	b.Set("tool", value.FromString(run.Tool))
	if run.Arguments.Len() > 0 {
		b.Set("arguments", run.Arguments)
	}
	b.Set("cassette", value.FromString(cassette.Relative(d.path, d.cassette.Path)))
	if !expect.IsUndefined() {
		b.Set("expect", expect)
	}
	return suite.YAML(value.ObjectOf("config", value.FromString(d.config), "tests", value.FromArray([]value.Value{b.Value()})))
}

// run runs the test of a test file. With drafts, the result has what to expect.
func (d *draft) run(ctx context.Context, text string, drafts bool) (*Result, error) {
	f := d.loader.parse(d.path, []byte(text))
	if diag.HasErrors(f.Diagnostics) || f.file == nil || len(f.file.Tests) != 1 {
		reason := "it is not one test"
		for _, one := range f.Diagnostics {
			if one.Severity == diag.Error {
				reason = one.Message
				break
			}
		}
		return nil, &DraftError{message: "the call cannot be written as a test: " + reason}
	}
	j := &job{file: f, test: f.file.Tests[0], drafts: drafts}
	result := j.run(ctx, d.Options)
	switch {
	case result == nil:
		return nil, context.Cause(ctx)
	case len(result.Problems) > 0:
		message := result.Problems[0].Message
		if !drafts {
			message = "the call does not end the same way each time: " + message
		}
		return nil, &DraftError{message: message}
	}
	return result, nil
}

// What a test that is made from a run expects of long parts would tell nobody anything.
const (
	maxDraftCalls = 20
	maxDraftLines = 40
)

// expected returns the expectations that hold for parts, those that a person can read.
func expected(parts value.Value, failed error, whole bool) value.Value {
	b := value.NewBuilder(3)
	if failed != nil {
		e := value.NewBuilder(3)
		for _, key := range []string{"name", "node", "code"} {
			if v := parts.Get("error").Get(key); !v.IsUndefined() {
				e.Set(key, v)
			}
		}
		b.Set("error", e.Value())
	} else if v := parts.Get("result"); !v.IsUndefined() {
		b.Set("result", suite.Literal(v))
	}
	if !whole {
		return b.Value()
	}
	for _, key := range []string{"path", "calls"} {
		v := suite.Literal(parts.Get(key))
		if (key == "path" || v.Len() <= maxDraftCalls) && strings.Count(suite.YAML(v), "\n") <= maxDraftLines {
			b.Set(key, v)
		}
	}
	return b.Value()
}
