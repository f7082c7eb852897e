package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

func TestHelpFitsATerminal(t *testing.T) {
	root := rootCommand(&app{})
	root.InitDefaultHelpCmd()
	seen := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		var out strings.Builder
		root.SetOut(&out)
		cmd.InitDefaultHelpFlag()
		cmd.InitDefaultVersionFlag()
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		seen++
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > helpWidth {
				t.Errorf("%s --help has a line of %d columns: %s", cmd.CommandPath(), n, line)
			}
			if strings.Contains(line, "(default )") || strings.Contains(line, " | ") && !strings.Contains(line, "mcpgraph ") {
				t.Errorf("%s --help has an empty default or the source of a table: %s", cmd.CommandPath(), line)
			}
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(root)
	if seen < 15 {
		t.Errorf("only %d commands were seen", seen)
	}
}

func TestFlagGroupsShowEveryFlag(t *testing.T) {
	serve := serveCommand(&app{})
	var b strings.Builder
	writeFlags(&b, serve.LocalFlags())
	http, callers := strings.Index(b.String(), "\nFlags for HTTP:"), strings.Index(b.String(), "\nFlags for callers over HTTP:")
	if http < 0 || callers < http {
		t.Fatalf("the groups are missing:\n%s", b.String())
	}
	for flag, from := range map[string]int{"--watch": 0, "--http ": http, "--tls-key": http, "--auth-tokens": callers} {
		if i := strings.LastIndex(b.String(), "      "+flag); i < from || from == 0 && i > http {
			t.Errorf("%s is not in its group", flag)
		}
	}
}
