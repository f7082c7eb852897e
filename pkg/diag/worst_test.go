package diag

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// mixed returns n warnings of a file, n errors behind them, and a note of another one.
func mixed(n int) []Diagnostic {
	var ds []Diagnostic
	for i := range 2 * n {
		d := Diagnostic{File: "a.yaml", Pos: Pos{i + 1, 1}, Severity: Warning, Code: CodeKey, Message: fmt.Sprint("w", i)}
		if i >= n {
			d.Severity, d.Message = Error, fmt.Sprint("e", i)
		}
		ds = append(ds, d)
	}
	return append(ds, Diagnostic{File: "b.yaml", Severity: Info, Message: strings.Repeat("é", 100_000)})
}

func TestGitHubShowsTheErrorsOfManyProblems(t *testing.T) {
	var out bytes.Buffer
	if err := WriteGitHub(&out, mixed(4), 5); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var got []string
	for _, line := range lines {
		got = append(got, line[strings.LastIndex(line, "::")+2:])
	}
	if want := "e4 e5 e6 e7 w0"; len(got) != 7 || strings.Join(got[:5], " ") != want || len(got[5]) > 2000 ||
		lines[6] != "::notice file=a.yaml::3 of 8 problems are not shown" {
		t.Errorf("got\n%s", out.String())
	}
}

func TestJSONCountsAllProblems(t *testing.T) {
	for most, want := range map[int]int{0: 9, 5: 6} {
		var out bytes.Buffer
		if err := WriteJSON(&out, mixed(4), most); err != nil {
			t.Fatal(err)
		}
		var doc jsonDocument
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		if len(doc.Diagnostics) != want || doc.Errors != 4 || doc.Warnings != 4 || doc.Infos != 1 {
			t.Errorf("of at most %d: %d, %d errors, %d warnings, %d infos", most, len(doc.Diagnostics), doc.Errors, doc.Warnings, doc.Infos)
		}
	}
}

func TestSARIFHasAsManyResultsAsGitHubTakes(t *testing.T) {
	for _, c := range []struct{ n, most, results, errors, left int }{
		{4, 0, 9, 4, 0},
		{4, 5, 6, 4, 3},
		{20_000, 0, maxResults, 20_000, 15_001},
	} {
		var out bytes.Buffer
		if err := WriteSARIF(&out, mixed(c.n), c.most, "", ""); err != nil {
			t.Fatal(err)
		}
		var log sarifLog
		if err := json.Unmarshal(out.Bytes(), &log); err != nil {
			t.Fatal(err)
		}
		errors, said := 0, ""
		for _, r := range log.Runs[0].Results {
			if r.Level == "error" {
				errors++
			}
		}
		for _, i := range log.Runs[0].Invocations {
			said = i.Notifications[0].Message.Text
		}
		want := ""
		if c.left > 0 {
			want = fmt.Sprintf("%d of %d problems are not shown", c.left, 2*c.n+1)
		}
		if n := len(log.Runs[0].Results); n != c.results || errors != c.errors || said != want {
			t.Errorf("%+v: %d results, %d errors, %q", c, n, errors, said)
		}
	}
}
