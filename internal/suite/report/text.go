package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/diff"
	"github.com/mcpgraph/mcpgraph/internal/suite/runner"
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// Text writes a report for people while the tests run: those that failed, with the
// reasons, and a summary.
type Text struct {
	w        io.Writer
	problems *diag.TextWriter
	options  Options
	err      error
}

// NewText returns a Text that writes to w. Sources are the texts of the files.
func NewText(w io.Writer, sources diag.Sources, o Options) *Text {
	opts := diag.TextOptions{Color: o.Color, Width: o.Width, MaxProblems: diag.DefaultMaxProblems}
	return &Text{w: w, problems: diag.NewTextWriter(w, sources, opts), options: o}
}

// Result writes what came of a test.
func (t *Text) Result(r *runner.Result) {
	mark, color := "PASS", green
	switch r.Status {
	case runner.Failed:
		mark, color = "FAIL", red
	case runner.Skipped:
		mark, color = "SKIP", yellow
	}
	if r.Status == runner.Passed && !t.options.Verbose {
		t.diagnostics(r.Warnings)
		return
	}
	line := fmt.Sprintf("%s %s: %s", t.paint(color, mark), r.File, r.Test.Name)
	if r.Status == runner.Skipped {
		line += " (" + oneLine(r.Test.Skip) + ")"
	} else {
		line += " (" + elapsed(r.Elapsed) + ")"
	}
	t.write(line + "\n")
	for _, p := range r.Problems {
		t.problem(p)
	}
	t.diagnostics(r.Warnings)
	t.write(walkText(r))
}

func (t *Text) problem(p runner.Problem) {
	t.diagnostics([]diag.Diagnostic{p.Diagnostic})
	if text := comparison(p, t.options.Color); text != "" {
		t.write(indented(text))
	}
	if p.Detail != "" {
		t.write(indented(p.Detail) + "\n")
	}
}

func (t *Text) diagnostics(ds []diag.Diagnostic) {
	if len(ds) > 0 && t.err == nil {
		t.err = t.problems.Write(ds)
	}
}

// Coverage sets the coverage that End writes; nil: none.
func (t *Text) Coverage(c *runner.Coverage) { t.options.Coverage = c }

// End writes what is wrong with the files, the coverage and the summary. The error is
// the first one of the writer.
func (t *Text) End(r *runner.Report) error {
	t.diagnostics(r.Diagnostics())
	t.write(coverageText(t.options.Coverage))
	line := summary(r)
	if !r.OK() {
		line = t.paint(red, line)
	}
	t.write(line + "\n")
	return t.err
}

func (t *Text) write(s string) {
	if t.err == nil {
		_, t.err = io.WriteString(t.w, s)
	}
}

// Colours of a terminal.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (t *Text) paint(color, text string) string {
	if !t.options.Color {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// comparison returns the differences of a problem, or "".
func comparison(p runner.Problem, color bool) string {
	if p.Expected == "" && p.Found == "" {
		return ""
	}
	return diff.Unified("expected", "found", p.Expected, p.Found, color)
}

func walkText(r *runner.Result) string {
	if len(r.Walk) == 0 {
		return ""
	}
	return "  walk:\n    " + strings.Join(r.Walk, "\n    ") + "\n"
}

// plainText returns why a test failed, without colour.
func plainText(r *runner.Result) string {
	var b strings.Builder
	for _, p := range r.Problems {
		b.WriteString(p.Error() + "\n")
		if p.Hint != "" {
			b.WriteString("  hint: " + p.Hint + "\n")
		}
		b.WriteString(indented(comparison(p, false)))
		if p.Detail != "" {
			b.WriteString(indented(p.Detail) + "\n")
		}
	}
	return b.String() + walkText(r)
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// elapsed returns a time as people read it.
func elapsed(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// summary is the last line.
func summary(r *runner.Report) string {
	parts := []string{fmt.Sprintf("%d passed", r.Passed)}
	if r.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", r.Failed))
	}
	if r.Skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d skipped", r.Skipped))
	}
	errors := 0
	for _, d := range r.Diagnostics() {
		if d.Severity == diag.Error {
			errors++
		}
	}
	if errors > 0 {
		parts = append(parts, textline.Count(errors, "error")+" in files")
	}
	return fmt.Sprintf("%s in %s: %s (%s)", textline.Count(len(r.Results), "test"), textline.Count(len(r.Files), "file"), strings.Join(parts, ", "), elapsed(r.Elapsed))
}

// coverageText returns the coverage and what no test walked; "" for nil.
func coverageText(c *runner.Coverage) string {
	if c == nil {
		return ""
	}
	var b strings.Builder
	for _, t := range c.Tools {
		for _, m := range t.Missed {
			fmt.Fprintf(&b, "%s:%s: not covered: %s of %s\n", t.File, m.Pos, m.What, graph.Quoted(t.Tool))
		}
	}
	fmt.Fprintf(&b, "coverage: %.1f%% (%d of %s, %d of %s)\n", Rounded(c.Percent()),
		c.NodesCovered, textline.Count(c.Nodes, "node"), c.EdgesCovered, textline.Count(c.Edges, "edge"))
	return b.String()
}
