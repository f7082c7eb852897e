// Package report writes what came of tests: for people, for CI systems and for programs.
package report

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/suite/runner"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// Formats are the names of the formats that Write knows.
var Formats = []string{"text", "json", "junit", "github", "tap"}

// Options change how a report is written.
type Options struct {
	Color    bool
	Width    int  // of text, in columns; 0: no terminal shows it
	Verbose  bool // tests that passed, too
	Coverage *runner.Coverage
}

// Write writes a report in one of Formats. The error is that of w.
func Write(w io.Writer, format string, r *runner.Report, o Options) error {
	switch format {
	case "json":
		return writeJSON(w, r, o)
	case "junit":
		return writeJUnit(w, r)
	case "github":
		return writeGitHub(w, r, o)
	case "tap":
		return writeTAP(w, r)
	}
	t := NewText(w, r.Sources, o)
	for _, one := range r.Results {
		t.Result(one)
	}
	return t.End(r)
}

// jsonReport is the JSON format. Its fields are stable.
type jsonReport struct {
	Tests       []jsonTest    `json:"tests"`
	Diagnostics []jsonProblem `json:"diagnostics,omitempty"`
	Summary     jsonSummary   `json:"summary"`
	Coverage    *jsonCoverage `json:"coverage,omitempty"`
}

type jsonTest struct {
	File       string        `json:"file"`
	Name       string        `json:"name"`
	Tool       string        `json:"tool"`
	Line       int           `json:"line"`
	Status     string        `json:"status"`
	Skip       string        `json:"skip,omitempty"`
	ElapsedMs  float64       `json:"elapsedMs"`
	DurationMs float64       `json:"durationMs"`
	Problems   []jsonProblem `json:"problems,omitempty"`
	Walk       []string      `json:"walk,omitempty"`
}

type jsonProblem struct {
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
	Col      int    `json:"col,omitempty"`
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

type jsonSummary struct {
	Tests     int     `json:"tests"`
	Passed    int     `json:"passed"`
	Failed    int     `json:"failed"`
	Skipped   int     `json:"skipped"`
	ElapsedMs float64 `json:"elapsedMs"`
}

type jsonCoverage struct {
	Percent      float64    `json:"percent"`
	Nodes        int        `json:"nodes"`
	NodesCovered int        `json:"nodesCovered"`
	Edges        int        `json:"edges"`
	EdgesCovered int        `json:"edgesCovered"`
	Tools        []jsonTool `json:"tools"`
}

type jsonTool struct {
	File    string       `json:"file"`
	Tool    string       `json:"tool"`
	Percent float64      `json:"percent"`
	Missed  []jsonMissed `json:"missed"`
}

type jsonMissed struct {
	Line int    `json:"line"`
	Col  int    `json:"col"`
	What string `json:"what"`
}

func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}

func problemOf(d diag.Diagnostic) jsonProblem {
	return jsonProblem{
		File: d.File, Line: d.Pos.Line, Col: d.Pos.Col, Severity: d.Severity.String(), Code: d.Code, Message: d.Message, Hint: d.Hint,
	}
}

func writeJSON(w io.Writer, r *runner.Report, o Options) error {
	doc := jsonReport{Tests: []jsonTest{}, Summary: jsonSummary{len(r.Results), r.Passed, r.Failed, r.Skipped, milliseconds(r.Elapsed)}}
	for _, one := range r.Results {
		t := jsonTest{
			File: one.File, Name: one.Test.Name, Tool: one.Test.Tool, Line: one.Test.Node.Pos().Line, Status: one.Status.String(),
			Skip: one.Test.Skip, ElapsedMs: milliseconds(one.Elapsed), DurationMs: milliseconds(one.Duration), Walk: one.Walk,
		}
		for _, p := range one.Problems {
			j := problemOf(p.Diagnostic)
			j.Expected, j.Found, j.Detail = p.Expected, p.Found, p.Detail
			t.Problems = append(t.Problems, j)
		}
		for _, d := range one.Warnings {
			t.Problems = append(t.Problems, problemOf(d))
		}
		doc.Tests = append(doc.Tests, t)
	}
	for _, d := range r.Diagnostics() {
		doc.Diagnostics = append(doc.Diagnostics, problemOf(d))
	}
	if c := o.Coverage; c != nil {
		doc.Coverage = &jsonCoverage{Rounded(c.Percent()), c.Nodes, c.NodesCovered, c.Edges, c.EdgesCovered, []jsonTool{}}
		for _, t := range c.Tools {
			j := jsonTool{t.File, t.Tool, Rounded(t.Percent()), []jsonMissed{}}
			for _, m := range t.Missed {
				j.Missed = append(j.Missed, jsonMissed{m.Pos.Line, m.Pos.Col, m.What})
			}
			doc.Coverage.Tools = append(doc.Coverage.Tools, j)
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(doc)
}

// Rounded returns a percentage with one digit behind the point, never too high.
func Rounded(percent float64) float64 { return math.Floor(percent*10) / 10 }

// The JUnit format, as Jenkins and GitLab read it.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		ClassName string        `xml:"classname,attr"`
		File      string        `xml:"file,attr"`
		Line      int           `xml:"line,attr,omitempty"`
		Time      string        `xml:"time,attr"`
		Failure   *junitFailure `xml:"failure"`
		Error     *junitFailure `xml:"error"`
		Skipped   *junitSkipped `xml:"skipped"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
)

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

func writeJUnit(w io.Writer, r *runner.Report) error {
	doc := junitSuites{Time: seconds(r.Elapsed)}
	for _, f := range r.Files {
		s := junitSuite{Name: f.Path}
		var elapsed time.Duration
		var broken []string
		for _, d := range f.Diagnostics {
			if d.Severity == diag.Error {
				broken = append(broken, d.Error())
			}
		}
		if broken != nil {
			s.Errors++
			s.Cases = append(s.Cases, junitCase{Name: "(file)", ClassName: f.Path, File: f.Path, Time: "0.000",
				Error: &junitFailure{broken[0], diag.CodeFile, strings.Join(broken, "\n")}})
		}
		for _, one := range r.Results {
			if one.Of != f {
				continue
			}
			c := junitCase{Name: one.Test.Name, ClassName: f.Path, File: f.Path, Line: one.Test.Node.Pos().Line, Time: seconds(one.Elapsed)}
			switch one.Status {
			case runner.Failed:
				s.Failures++
				c.Failure = &junitFailure{one.Problems[0].Message, runner.CodeTestFailed, plainText(one)}
			case runner.Skipped:
				s.Skipped++
				c.Skipped = &junitSkipped{one.Test.Skip}
			}
			elapsed += one.Elapsed
			s.Cases = append(s.Cases, c)
		}
		s.Tests, s.Time = len(s.Cases), seconds(elapsed)
		doc.Tests += s.Tests
		doc.Failures += s.Failures
		doc.Errors += s.Errors
		doc.Skipped += s.Skipped
		doc.Suites = append(doc.Suites, s)
	}
	out, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, out)
	return err
}

// writeGitHub writes annotations for GitHub Actions, and a summary.
func writeGitHub(w io.Writer, r *runner.Report, o Options) error {
	all := r.Diagnostics()
	for _, one := range r.Results {
		for _, p := range one.Problems {
			d := p.Diagnostic
			d.Message = one.Test.Name + ": " + d.Message
			if text := comparison(p, false); text != "" {
				d.Message += "\n" + text
			}
			all = append(all, d)
		}
		all = append(all, one.Warnings...)
	}
	if err := diag.WriteGitHub(w, all, diag.DefaultMaxProblems); err != nil {
		return err
	}
	_, err := io.WriteString(w, summary(r)+"\n"+coverageText(o.Coverage))
	return err
}

// writeTAP writes the Test Anything Protocol, version 14.
func writeTAP(w io.Writer, r *runner.Report) error {
	var b strings.Builder
	n := 0
	var broken []diag.Diagnostic
	for _, d := range r.Diagnostics() {
		if d.Severity == diag.Error {
			broken = append(broken, d)
		}
	}
	fmt.Fprintf(&b, "TAP version 14\n1..%d\n", len(r.Results)+len(broken))
	for _, d := range broken {
		n++
		fmt.Fprintf(&b, "not ok %d - %s\n", n, tapText(d.Error()))
	}
	for _, one := range r.Results {
		n++
		name := tapText(one.File + ": " + one.Test.Name)
		switch one.Status {
		case runner.Passed:
			fmt.Fprintf(&b, "ok %d - %s\n", n, name)
		case runner.Skipped:
			fmt.Fprintf(&b, "ok %d - %s # SKIP %s\n", n, name, tapText(one.Test.Skip))
		case runner.Failed:
			fmt.Fprintf(&b, "not ok %d - %s\n  ---\n  message: |\n", n, name)
			for line := range strings.Lines(plainText(one)) {
				b.WriteString("    " + line)
			}
			b.WriteString("  ...\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tapText escapes a description.
func tapText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`, "\n", " ").Replace(s)
}
