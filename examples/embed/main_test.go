package main

import (
	"strings"
	"testing"
)

func TestProgramCallsTheToolAndShowsTheWay(t *testing.T) {
	t.Chdir("../..") // the example's server is started from the root of the repository
	var out strings.Builder
	if err := run(&out, "examples/count_files.yaml", "examples/data"); err != nil {
		t.Fatal(err)
	}
	want := `count_files: Counts the files of a directory, without its subdirectories
  0 entry (entry)
  1 list (mcp)
  2 count (transform)
  3 exit (exit)
{"count":3} after 4 nodes
`
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}

func TestAFileWithErrorsIsExplained(t *testing.T) {
	err := run(&strings.Builder{}, "main.go", ".")
	if err == nil || !strings.Contains(err.Error(), "main.go has errors") {
		t.Errorf("err = %v", err)
	}
}
