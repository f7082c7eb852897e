package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var (
	shellBlock    = regexp.MustCompile("(?ms)^ *```(?:sh|console)\n(.*?)^ *```$")
	commentBlock  = regexp.MustCompile(`(?m)(^#   .*\n)+`)
	inlineCommand = regexp.MustCompile("`(mcpgraph [a-z][^`]*)`")
	afterCommand  = regexp.MustCompile(`^(\||\|\||&&|;|#|<|\d?>.*)`)
)

// commandsIn returns the calls of mcpgraph in lines of a shell, each as its arguments.
func commandsIn(t *testing.T, script string) [][]string {
	t.Helper()
	var calls [][]string
	for line := range strings.Lines(strings.ReplaceAll(script, "\\\n", " ")) {
		words, err := splitWords(strings.TrimPrefix(strings.TrimSpace(line), "$ "))
		if err != nil {
			continue // an output with an apostrophe
		}
		for from := slices.Index(words, "mcpgraph"); from >= 0; {
			words = words[from+1:]
			to := slices.IndexFunc(words, afterCommand.MatchString)
			if to < 0 {
				to = len(words)
			}
			calls = append(calls, words[:to])
			words = words[to:]
			from = slices.Index(words, "mcpgraph")
		}
	}
	return calls
}

// wrongCommand returns what is wrong with the command line of a call.
func wrongCommand(args []string) error {
	root := rootCommand(&app{})
	cmd, rest, err := root.Find(joined(root, args))
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if cmd.HasSubCommands() {
		return nil
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// The commands that the documents, the examples and help show exist, with their flags
// and as many arguments. Other tests run those with a prompt.
func TestCommandsInDocsAreRight(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	check := func(place, script string) {
		for _, args := range commandsIn(t, script) {
			seen++
			if err := wrongCommand(args); err != nil {
				t.Errorf("%s: mcpgraph %s: %v", place, strings.Join(args, " "), err)
			}
		}
	}
	topics, err := filepath.Glob("../../skills/mcpgraph/references/*.md")
	if err != nil || len(topics) == 0 {
		t.Fatal(err)
	}
	examples, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(examples) == 0 {
		t.Fatal(err)
	}
	for _, file := range examples {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range commentBlock.FindAllString(string(text), -1) {
			check(file, strings.ReplaceAll(strings.ReplaceAll(m, "#   ", ""), "go run ./cmd/mcpgraph", "mcpgraph"))
		}
	}
	for _, page := range slices.Concat(pages, topics, []string{"../../skills/mcpgraph/SKILL.md", "../../README.md", "../../CONTRIBUTING.md"}) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range shellBlock.FindAllStringSubmatch(string(text), -1) {
			check(page, m[1])
		}
		for _, m := range inlineCommand.FindAllStringSubmatch(string(text), -1) {
			args := strings.Fields(m[1])[1:]
			if cmd, rest, err := rootCommand(&app{}).Find(args); err != nil || cmd.Parent() == nil {
				t.Errorf("%s names %s: there is no such command (%v)", page, m[0], err)
			} else {
				for _, word := range rest {
					name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
					if strings.HasPrefix(word, "--") && cmd.Flags().Lookup(name) == nil {
						t.Errorf("%s names %s: there is no flag %s", page, m[0], word)
					}
				}
			}
		}
	}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		check(cmd.CommandPath()+" --help", cmd.Example)
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(rootCommand(&app{}))
	if seen < 180 {
		t.Errorf("only %d commands were found: has the form of the blocks changed?", seen)
	}
}
