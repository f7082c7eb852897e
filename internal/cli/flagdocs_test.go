package cli

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// severalCommands is the heading of the flags that docs/cli.md describes once.
const severalCommands = "Flags of several commands"

var (
	flagInText    = regexp.MustCompile("--[a-z][a-z-]+")
	commandInText = regexp.MustCompile("`([a-z]+)(?: [A-Za-z -]+)?`")
)

// sections returns the texts of a document by their headings of the second level.
func sections(t *testing.T, path string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		heading, body, _ := strings.Cut(section, "\n")
		all[heading] = body
	}
	return all
}

// firstCells returns the first cell of each row of the tables in a text, with the rest.
func firstCells(text string) map[string]string {
	rows := map[string]string{}
	for line := range strings.Lines(text) {
		if cell, rest, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | "); ok && strings.HasPrefix(line, "| `") {
			rows[cell] = rest
		}
	}
	return rows
}

// ownFlags returns the names of the flags of a command.
func ownFlags(cmd *cobra.Command) map[string]bool {
	own := map[string]bool{}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			own["--"+f.Name] = true
		}
	})
	return own
}

// The page of the commands names each command, each of its flags, and no others.
func TestDocsNameEveryFlag(t *testing.T) {
	t.Parallel()
	docs := sections(t, "../../docs/cli.md")
	durable, err := os.ReadFile("../../docs/durable.md")
	if err != nil {
		t.Fatal(err)
	}
	several := map[string]map[string]bool{} // flag: commands that its row names
	everywhere := map[string]bool{}
	for cell, rest := range firstCells(docs[severalCommands]) {
		commands, _, _ := strings.Cut(rest, " | ")
		for _, flag := range flagInText.FindAllString(cell, -1) {
			if several[flag] != nil {
				t.Errorf("%s has two rows in %q", flag, severalCommands)
			}
			several[flag] = map[string]bool{}
			everywhere[flag] = !strings.HasPrefix(commands, "`")
			for _, name := range commandInText.FindAllStringSubmatch(commands, -1) {
				several[flag][name[1]] = true
			}
		}
	}
	if len(several) < 10 {
		t.Fatalf("%q has %d flags", severalCommands, len(several))
	}
	text, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	overview, _, _ := strings.Cut(string(text), "\n## ")
	for _, cmd := range rootCommand(&app{}).Commands() {
		name := cmd.Name()
		if name == "help" {
			continue
		}
		if !strings.Contains(overview, "[`"+name) {
			t.Errorf("the table of commands does not have %s", name)
		}
		own := ownFlags(cmd)
		for _, sub := range cmd.Commands() {
			maps.Copy(own, ownFlags(sub))
		}
		section := docs[name]
		switch name {
		case "version", "completion":
			section = docs["version and completion"]
		}
		if section == "" {
			t.Errorf("%s has no section", name)
		}
		known := map[string]bool{}
		for _, flag := range flagInText.FindAllString(section, -1) {
			known[flag] = true
		}
		if own["--temporal"] {
			for _, flag := range flagInText.FindAllString(string(durable), -1) {
				known[flag] = true
			}
		}
		if name == "toolkit" { // "--http ADDR and its flags"
			for _, flag := range flagInText.FindAllString(docs["serve"], -1) {
				known[flag] = true
			}
		}
		rows := map[string]bool{} // flags that the section itself describes
		for cell := range firstCells(section) {
			for _, flag := range flagInText.FindAllString(cell, -1) {
				rows[flag] = true
			}
		}
		for _, flag := range slices.Sorted(maps.Keys(own)) {
			if !known[flag] && !everywhere[flag] && !several[flag][name] {
				t.Errorf("%s %s is not documented", name, flag)
			}
			if several[flag] != nil && !everywhere[flag] && !several[flag][name] && !rows[flag] {
				t.Errorf("%q does not say that %s has %s", severalCommands, name, flag)
			}
		}
		for flag := range rows {
			if !own[flag] {
				t.Errorf("%s does not have the documented %s", name, flag)
			}
		}
		for flag, commands := range several {
			if commands[name] && !own[flag] {
				t.Errorf("%q says that %s has %s", severalCommands, name, flag)
			}
		}
	}
}
