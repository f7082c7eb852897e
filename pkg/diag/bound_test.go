package diag

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSentencesRepeatNoLongToken(t *testing.T) {
	long, wide := strings.Repeat("x", 40_000), strings.Repeat("é\"", 20_000)
	for name, text := range map[string]string{
		"word":        "unknown tag " + long,
		"quoted":      fmt.Sprintf("tool %q does not exist", long),
		"escaped":     fmt.Sprintf("tool %q does not exist, and %q", wide, wide),
		"spaces":      fmt.Sprintf("tool %q does not exist", strings.Repeat("a b ", 10_000)),
		"unclosed":    `tool "` + long,
		"many":        strings.Repeat("some words ", 4000) + strings.Repeat("the end", 50),
		"blanks":      "a" + strings.Repeat(" ", 40_000) + "b",
		"not utf-8":   strings.Repeat("\xff", 40_000),
		"at the edge": strings.Repeat("é ", 1500) + strings.Repeat("end ", 100),
	} {
		got := Sentence(text)
		if len(got) > maxSentence || !strings.Contains(got, "…") || strings.Contains(got, text[len(text)-300:]) {
			t.Errorf("%s: got %d bytes: %.300s", name, len(got), got)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%s: a character was cut", name)
		}
		if again := Sentence(got); again != got {
			t.Errorf("%s: cut twice it is another one", name)
		}
	}
	for _, text := range []string{"", "a short one", strings.Repeat("word ", 100), fmt.Sprintf("%q is unknown", strings.Repeat("n", 200))} {
		if got := Sentence(text); got != text {
			t.Errorf("%q was cut to %q", text, got)
		}
	}
	if got, want := Sentence(fmt.Sprintf("tool %q does not exist", long)), fmt.Sprintf("tool %q… does not exist", long[:shownToken-1]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestTextShowsTheWorstProblemsOfAFile prints more problems than people read.
func TestTextShowsTheWorstProblemsOfAFile(t *testing.T) {
	var ds []Diagnostic
	for i := range 300 {
		d := Diagnostic{File: "many.yaml", Pos: Pos{i + 1, 1}, Severity: Warning, Message: fmt.Sprintf("warning %d", i)}
		if i%3 == 0 {
			d.Severity, d.Message = Error, fmt.Sprintf("error %d", i)
		}
		ds = append(ds, d)
	}
	ds = append(ds, Diagnostic{File: "other.yaml", Pos: Pos{1, 1}, Message: "alone"})
	print := func(most int) string {
		var out bytes.Buffer
		if err := WriteText(&out, ds, nil, TextOptions{MaxProblems: most}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	got := print(120)
	if n := strings.Count(got, ": error: error"); n != 100 {
		t.Errorf("%d of 100 errors are shown", n)
	}
	if n := strings.Count(got, ": warning: "); n != 20 {
		t.Errorf("%d warnings are shown", n)
	}
	if strings.Index(got, ": warning: ") < strings.LastIndex(got, ": error: error") {
		t.Error("a warning stands before an error")
	}
	if want := "many.yaml: 180 of 300 problems are not shown (180 warnings); `mcpgraph validate --max-problems 0` shows all\n"; !strings.Contains(got, want) {
		t.Errorf("got %s", got[len(got)-300:])
	}
	if !strings.Contains(got, "other.yaml:1:1: error: alone\n") {
		t.Error("the other file is missing")
	}
	if got := print(0); strings.Count(got, "\n") != 301 || strings.Contains(got, "not shown") {
		t.Error("0 does not print all")
	}
}
