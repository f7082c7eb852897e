package diag

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// WriteGitHub prints problems as workflow commands of GitHub Actions, which
// shows them beside the lines of a pull request. It shows ten of each kind, so errors
// come first. Of one file there are at most maxProblems, or all if that is 0, and a
// notice says how many more it has. It returns the first error of w.
func WriteGitHub(w io.Writer, ds []Diagnostic, maxProblems int) error {
	out := bufio.NewWriter(w)
	kept, left := worst(ds, maxProblems)
	errorsFirst(kept)
	for _, file := range slices.Sorted(maps.Keys(left)) {
		kept = append(kept, Diagnostic{File: file, Severity: Info, Message: notShown(left[file], left[file]+maxProblems)})
	}
	for _, d := range kept {
		command := d.Severity.String()
		if d.Severity == Info {
			command = "notice"
		}
		var props []string
		add := func(name, value string) {
			props = append(props, name+"="+githubProperty.Replace(value))
		}
		if d.File != "" {
			add("file", d.File)
		}
		if !d.Pos.IsZero() {
			add("line", fmt.Sprint(d.Pos.Line))
			if !d.End.IsZero() {
				add("endLine", fmt.Sprint(d.End.Line))
			}
			// Columns count only where the place lies on one line; endColumn
			// is the last column of it, not the one behind.
			if d.End.IsZero() || d.End.Line == d.Pos.Line {
				add("col", fmt.Sprint(d.Pos.Col))
				add("endColumn", fmt.Sprint(max(d.Pos.Col, d.End.Col-1)))
			}
		}
		if d.Code != "" {
			add("title", d.Code)
		}
		text := d.Message
		if d.Hint != "" {
			text += ". " + d.Hint
		}
		head := command
		if len(props) > 0 {
			head += " " + strings.Join(props, ",")
		}
		fmt.Fprintf(out, "::%s::%s\n", head, githubData.Replace(text))
	}
	return out.Flush()
}
