package cli

import (
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// terminal is what a command writes to, and the environment, which says how.
type terminal struct {
	stdout, stderr io.Writer
	environ        map[string]string
}

func environment(environ []string) map[string]string {
	m := make(map[string]string, len(environ))
	for _, e := range environ {
		if name, v, ok := strings.Cut(e, "="); ok {
			m[name] = v
		}
	}
	return m
}

func (t *terminal) getenv(name string) (string, bool) {
	v, ok := t.environ[name]
	return v, ok
}

// colorModes are the values of --color.
var colorModes = []string{"auto", "always", "never"}

func colorFlag(cmd *cobra.Command, mode *string) {
	cmd.Flags().StringVar(mode, "color", "auto", "`WHEN` to use colours: auto, always or never")
	_ = cmd.RegisterFlagCompletionFunc("color", cobra.FixedCompletions(colorModes, cobra.ShellCompDirectiveNoFileComp))
}

// color decides whether w gets colours: on a terminal only, and not where
// NO_COLOR is set (https://no-color.org), unless mode overrides it.
func (t *terminal) color(mode string, w io.Writer) (bool, error) {
	switch mode {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto":
		return t.environ["NO_COLOR"] == "" && t.isTerminal(w), nil
	}
	return false, usagef("--color is %q; expected %s", mode, diag.List(colorModes))
}

// isTerminal reports whether w is a terminal that understands control codes.
func (t *terminal) isTerminal(w io.Writer) bool {
	f := fileOf(w)
	return f != nil && term.IsTerminal(int(f.Fd())) && t.environ["TERM"] != "dumb"
}

// defaultWidth is the width in columns where w is not a terminal.
const defaultWidth = 100

// width returns the columns of w, or those of COLUMNS where it is no terminal.
func (t *terminal) width(w io.Writer) int {
	if f := fileOf(w); f != nil {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	if n, err := strconv.Atoi(t.environ["COLUMNS"]); err == nil && n > 0 {
		return n
	}
	return defaultWidth
}

// red marks a failure where that is wanted.
func red(text string, wanted bool) string {
	if !wanted || text == "" {
		return text
	}
	return "\x1b[31m" + text + "\x1b[0m"
}

// textWidth returns the columns that diagnostics on w may take, 0 if w is not a
// terminal and COLUMNS is not set.
func (t *terminal) textWidth(w io.Writer) int {
	if f := fileOf(w); t.environ["COLUMNS"] == "" && (f == nil || !term.IsTerminal(int(f.Fd()))) {
		return 0
	}
	return t.width(w)
}
