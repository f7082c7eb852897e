// Package diff compares texts line by line.
package diff

import (
	"bytes"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Colours of a terminal, as git uses them.
const (
	bold  = "\x1b[1m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	cyan  = "\x1b[36m"
	reset = "\x1b[0m"
)

// Unified returns the differences of two texts as a unified diff with three
// lines of context, or "" if the texts are equal. color marks removed lines red
// and added ones green, for a terminal. The time grows with n log n lines.
func Unified(oldName, newName, oldText, newText string, color bool) string {
	out := diff.Diff(oldName, []byte(oldText), newName, []byte(newText))
	_, out, _ = bytes.Cut(out, []byte("\n")) // the command line of the program diff
	if !color {
		return string(out)
	}
	var b strings.Builder
	header := 2 // lines with the names
	for line := range strings.Lines(string(out)) {
		text := strings.TrimSuffix(line, "\n")
		paint := ""
		switch {
		case header > 0:
			paint = bold
			header--
		case strings.HasPrefix(text, "@@"):
			paint = cyan
		case strings.HasPrefix(text, "-"):
			paint = red
		case strings.HasPrefix(text, "+"):
			paint = green
		}
		if paint != "" {
			text = paint + text + reset
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}
