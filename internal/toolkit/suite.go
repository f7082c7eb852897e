package toolkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/internal/cassette"
	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/internal/suite/runner"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// testTime bounds a run of tests.
const testTime = 5 * time.Minute

func suiteTools() []*tool {
	return []*tool{
		{handle: testGraphTool, Tool: define("testGraphTool", "Runs the tests of a tool, or of all tools, without upstream servers.", reads,
			`"toolName":{"type":"string"}`, ``,
			`{"type":"object","properties":{"passed":{"type":"integer"},"failed":{"type":"integer"},"items":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"tool":{"type":"string"},"status":{"type":"string"},"problems":{"type":"array","items":{"type":"object"}}}}},"problems":{"type":"array","items":{"type":"object"}}},"required":["passed","failed","items"]}`)},
		{handle: writeGraphTest, Tool: define("writeGraphTest", "Makes a test with its cassette from a kept run of a saved tool, beside the file.", adds,
			`"runId":{"type":"string"},"name":{"type":"string","minLength":1,"maxLength":100}`, `"runId","name"`,
			`{"type":"object","properties":{"success":{"type":"boolean"},"message":{"type":"string"},"test":{"type":"string"},"file":{"type":"string"},"cassette":{"type":"string"}},"required":["success","message"]}`)},
	}
}

// testFiles returns the test files beside the configuration that are about it.
func (t *Toolkit) testFiles() []string {
	folder := filepath.Dir(t.opts.Path)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var files []string
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if e.IsDir() || !suite.IsTestFile(path) {
			continue
		}
		text, err := boundedfile.Read(path)
		if err != nil {
			continue
		}
		if f, _ := suite.Parse(path, text); f != nil && sameFile(f.Config, t.opts.Path) {
			files = append(files, path)
		}
	}
	return files
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func (t *Toolkit) runnerOptions() runner.Options {
	return runner.Options{Getenv: t.opts.Getenv, Inputs: t.opts.Inputs, MCPFiles: t.opts.MCPFiles}
}

func testGraphTool(ctx context.Context, c *call) (value.Value, error) {
	ctx, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	tool := c.text("toolName")
	o := c.runnerOptions()
	files := c.testFiles()
	if len(files) == 0 {
		return value.Undef, errors.New("there is no test file beside the file; writeGraphTest makes a test from a run")
	}
	if tool != "" {
		names := map[string]bool{}
		for _, path := range files {
			text, err := boundedfile.Read(path)
			if err != nil {
				return value.Undef, err
			}
			f, _ := suite.Parse(path, text)
			if f == nil {
				continue // it has been changed meanwhile
			}
			for _, one := range f.Tests {
				names[one.Name] = names[one.Name] || one.Tool == tool
			}
		}
		o.Match = func(name string) bool { return names[name] }
	}
	report := runner.Load(ctx, files, o).Run(ctx, o)
	items := []value.Value{}
	passed, failed := 0, 0
	for _, r := range report.Results {
		if tool != "" && r.Test.Tool != tool {
			continue
		}
		switch r.Status {
		case runner.Passed:
			passed++
		case runner.Failed:
			failed++
		}
		problems := value.Undef
		if len(r.Problems) > 0 {
			var list []value.Value
			for _, p := range r.Problems[:min(len(r.Problems), 10)] {
				list = append(list, value.ObjectOf("message", p.Message, "hint", optional(p.Hint), "line", p.Pos.Line,
					"expected", optional(cutText(p.Expected, maxTestText)), "found", optional(cutText(p.Found, maxTestText)), "detail", optional(cutText(p.Detail, maxTestText))))
			}
			problems = value.FromArray(list)
		}
		items = append(items, value.ObjectOf("name", r.Test.Name, "tool", r.Test.Tool, "status", r.Status.String(), "problems", problems))
	}
	out := value.ObjectOf("passed", passed, "failed", failed, "items", items)
	if ds := report.Diagnostics(); len(ds) > 0 {
		var list []value.Value
		for _, d := range ds[:min(len(ds), maxDiagnostics)] {
			list = append(list, value.ObjectOf("severity", d.Severity.String(), "message", d.Message, "hint", optional(d.Hint), "file", d.File, "line", d.Pos.Line))
		}
		out = with(out, "problems", list)
	}
	return out, ctx.Err()
}

// maxTestText bounds a text of a problem in a test, in bytes.
const maxTestText = 2000

var unsafeInNames = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

func writeGraphTest(ctx context.Context, c *call) (value.Value, error) {
	r, v, err := keptRun(c)
	if err != nil {
		return value.Undef, err
	}
	if r.Running {
		return value.Undef, fmt.Errorf("run %q has not ended", r.ID)
	}
	base := strings.TrimSuffix(c.opts.Path, filepath.Ext(c.opts.Path))
	name := c.text("name")
	tapePath := fmt.Sprintf("%s.%s.%s.jsonl", base, r.Tool, strings.Trim(unsafeInNames.ReplaceAllString(name, "-"), "-"))
	if _, err := os.Stat(tapePath); err == nil {
		return refused(fmt.Sprintf("there is a file %s already; choose another name", tapePath)), nil
	}
	tape := &cassette.Cassette{Path: tapePath, Run: &cassette.Run{Config: filepath.Base(c.opts.Path), Tool: r.Tool, Arguments: v.Get("arguments")}}
	if recorded, ok := c.tapes.find(r.ID); ok {
		if recorded.grow(0) {
			return refused("the run called too much, or too long ago, to be recorded"), nil
		}
		if tape.Exchanges, err = recorded.Exchanges(ctx, nil, c.engine.Redact); err != nil {
			return value.Undef, err
		}
	}
	if err := tape.Write(); err != nil {
		return value.Undef, err
	}
	text, err := runner.Draft(ctx, tapePath, name, c.runnerOptions())
	if err == nil {
		err = c.addTest(base+suite.Suffix+".yaml", text)
	}
	if err != nil {
		_ = os.Remove(tapePath)
		var draft *runner.DraftError
		if errors.As(err, &draft) || errors.Is(err, edit.ErrPath) || errors.Is(err, errSameTest) {
			return refused(err.Error()), nil
		}
		return value.Undef, err
	}
	return value.ObjectOf("success", true, "message", fmt.Sprintf("test %q was written; it passes", name), "test", string(text),
		"file", base+suite.Suffix+".yaml", "cassette", tapePath), nil
}

// errSameTest is returned if a test has the name already.
var errSameTest = errors.New("there is a test with this name already")

// addTest puts the one test of a test file into another file, or makes that.
func (t *Toolkit) addTest(path string, drafted []byte) error {
	text, err := boundedfile.Read(path)
	if errors.Is(err, os.ErrNotExist) {
		return edit.Write(path, "", drafted)
	}
	if err != nil {
		return err
	}
	one, err := edit.Parse(path, drafted)
	if err != nil {
		return err
	}
	doc, err := edit.Parse(path, text)
	if err != nil {
		return err
	}
	test := one.Value().Get("tests").Elems()[0]
	if slices.ContainsFunc(doc.Value().Get("tests").Elems(), func(v value.Value) bool { return value.Equal(v.Get("name"), test.Get("name")) }) {
		return errSameTest
	}
	_, next, err := doc.Edit(edit.Insert("/tests/-", test))
	if err != nil {
		return err
	}
	return edit.Write(path, doc.Revision(), next.Source())
}
