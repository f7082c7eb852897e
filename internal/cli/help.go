package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the width of help in columns.
const helpWidth = 80

// Groups of commands.
const (
	groupServe = "serve"
	groupCheck = "check"
	groupSetup = "setup"
)

func addGroups(root *cobra.Command) {
	root.AddGroup(
		&cobra.Group{ID: groupServe, Title: "Serve and run:"},
		&cobra.Group{ID: groupCheck, Title: "Write and check:"},
		&cobra.Group{ID: groupSetup, Title: "Set up:"},
	)
}

// grouped puts commands into a group.
func grouped(id string, commands ...*cobra.Command) []*cobra.Command {
	for _, c := range commands {
		c.GroupID = id
	}
	return commands
}

const flagGroupKey = "mcpgraph_group"

// flagGroup lets help show flags under a title of their own.
func flagGroup(flags *pflag.FlagSet, title string, names ...string) {
	for _, name := range names {
		_ = flags.SetAnnotation(name, flagGroupKey, []string{title})
	}
}

// help writes what a command does and how it is used.
func help(cmd *cobra.Command, _ []string) {
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	out := cmd.OutOrStdout()
	if text != "" {
		fmt.Fprintf(out, "%s\n\n", reflow(text))
	}
	fmt.Fprint(out, cmd.UsageString())
}

// reflow fits paragraphs to helpWidth. Paragraphs that are indented stay as they
// are.
func reflow(text string) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, " ") {
			continue
		}
		paragraphs[i] = wrap(p, helpWidth)
	}
	return strings.Join(paragraphs, "\n\n")
}

// wrap fits the words of a text to lines of a width in columns. A longer word has
// a line of its own.
func wrap(text string, width int) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case column == 0:
		case column+1+n > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// usage writes how a command is used; below a wrong command line and as part of
// its help.
func usage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.Runnable() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	writeCommands(&b, cmd)
	writeFlags(&b, cmd.LocalFlags())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n%s COMMAND --help shows the flags of a command.\n", cmd.CommandPath())
	}
	_, err := io.WriteString(cmd.OutOrStderr(), b.String())
	return err
}

func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	section := func(title, id string) {
		for _, c := range cmd.Commands() {
			if c.GroupID != id || !c.IsAvailableCommand() && c.Name() != helpName {
				continue
			}
			if title != "" {
				fmt.Fprintf(b, "\n%s\n", title)
				title = ""
			}
			fmt.Fprintf(b, "  %-*s %s\n", cmd.NamePadding(), c.Name(), c.Short)
		}
	}
	for _, g := range cmd.Groups() {
		section(g.Title, g.ID)
	}
	title := "Commands:"
	if len(cmd.Groups()) > 0 {
		title = "Other commands:"
	}
	section(title, "")
}

// writeFlags writes flags in their groups, in the order in which they were
// defined; those without a group come first.
func writeFlags(b *strings.Builder, flags *pflag.FlagSet) {
	var titles []string
	sets := map[string]*pflag.FlagSet{}
	add := func(title string, f *pflag.Flag) {
		if sets[title] == nil {
			sets[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
			titles = append(titles, title)
		}
		sets[title].AddFlag(f)
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if len(f.Annotations[flagGroupKey]) == 0 && !f.Hidden {
			add("Flags", f)
		}
	})
	flags.VisitAll(func(f *pflag.Flag) {
		if group := f.Annotations[flagGroupKey]; len(group) > 0 && !f.Hidden {
			add(group[0], f)
		}
	})
	for _, title := range titles {
		fmt.Fprintf(b, "\n%s:\n%s", title, sets[title].FlagUsagesWrapped(helpWidth))
	}
}
