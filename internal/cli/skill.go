package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/skills"
)

// skillFolders are the folders in which programs look for skills, in that of the
// project and in the home of the user.
var skillFolders = map[string]string{
	"claude": ".claude/skills",
	"cursor": ".cursor/skills",
	"vscode": ".github/skills",
	"codex":  ".agents/skills",
}

// userSkillFolders are those in the home of the user where they differ.
var userSkillFolders = map[string]string{"vscode": ".copilot/skills"}

func skillCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "skill",
		Short: "Print or install the skill for agents",
		Long: `Print or install the skill: it explains to an agent when to make a graph tool, and how
to build, test and save one with few calls. It works with the tools of mcpgraph
toolkit, and with the commands.`,
		Example: "  mcpgraph skill show\n  mcpgraph skill install --for claude --project",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(skillShowCommand(a), skillInstallCommand(a))
	return cmd
}

func skillShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show [TOPIC]",
		Short: "Print the skill, or one topic of it",
		Long:  `Print the main file of the skill, SKILL.md, or one topic of its references: ` + strings.Join(skills.Topics()[1:], ", ") + `.`,
		Example: `  mcpgraph skill show
  mcpgraph skill show expressions`,
		ValidArgsFunction: cobra.FixedCompletions(skills.Topics(), cobra.ShellCompDirectiveNoFileComp),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) <= 1 {
				return nil
			}
			return configArgs("TOPIC")(nil, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				text, err := skillFile("SKILL.md")
				if err != nil {
					return failed(err)
				}
				return failed(writeAll(a.stdout, text))
			}
			text, ok := skills.Topic(args[0])
			if !ok {
				return usagef("there is no topic %q; expected %s", args[0], diag.List(skills.Topics()))
			}
			return failed(writeAll(a.stdout, []byte(text)))
		},
	}
}

// skillFile returns a file of the skill; SKILL.md is stamped with the version of this
// program.
func skillFile(name string) ([]byte, error) {
	text, err := fs.ReadFile(skills.Files(), name)
	if err == nil && name == "SKILL.md" {
		head, body, _ := strings.Cut(string(text), "\n---\n")
		text = []byte(head + "\nmetadata:\n  version: \"" + mcpgraph.Version() + "\"\n---\n" + body)
	}
	return text, err
}

type skillOptions struct {
	program       string
	project, user bool
}

func skillInstallCommand(a *app) *cobra.Command {
	var o skillOptions
	var names []string
	for name := range skillFolders {
		names = append(names, name)
	}
	slices.Sort(names)
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Write the skill where an agent looks for it",
		Long: `Write the skill into the folder in which a program looks for skills: that of the
project (--project, the default: below this folder) or that of the user (--user). An
older version of the skill there is replaced.

  PROGRAM   --project        --user
  claude    .claude/skills   ~/.claude/skills
  cursor    .cursor/skills   ~/.cursor/skills
  vscode    .github/skills   ~/.copilot/skills
  codex     .agents/skills   ~/.agents/skills`,
		Example: `  mcpgraph skill install
  mcpgraph skill install --for codex --user`,
		Args: configArgs(),
		RunE: func(*cobra.Command, []string) error { return installSkill(a, o) },
	}
	cmd.Flags().StringVar(&o.program, "for", "claude", "install for this `PROGRAM`: "+strings.Join(names, ", "))
	_ = cmd.RegisterFlagCompletionFunc("for", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().BoolVar(&o.project, "project", false, "install below this folder (the default)")
	cmd.Flags().BoolVar(&o.user, "user", false, "install in the home of the user")
	return cmd
}

func installSkill(a *app, o skillOptions) error {
	folder, ok := skillFolders[o.program]
	if !ok {
		var names []string
		for name := range skillFolders {
			names = append(names, name)
		}
		return usagef("--for is %q; expected %s", o.program, diag.List(names))
	}
	if o.project && o.user {
		return usagef("--project and --user exclude each other")
	}
	if o.user {
		if own, ok := userSkillFolders[o.program]; ok {
			folder = own
		}
		home, _ := a.getenv("HOME")
		if home == "" {
			home, _ = a.getenv("USERPROFILE")
		}
		if home == "" {
			return failedf("--user: neither HOME nor USERPROFILE is set")
		}
		folder = filepath.Join(home, filepath.FromSlash(folder))
	}
	target := filepath.Join(filepath.FromSlash(folder), skills.Name)
	err := fs.WalkDir(skills.Files(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := skillFile(path)
		if err != nil {
			return err
		}
		file := filepath.Join(target, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		var revision edit.Revision
		if old, err := boundedfile.Read(file); err == nil {
			revision = edit.RevisionOf(old)
		}
		return edit.Write(file, revision, text)
	})
	if err != nil {
		return failed(err)
	}
	_, err = fmt.Fprintf(a.stdout, "wrote %s\n", filepath.Join(target, "SKILL.md"))
	return failed(err)
}
