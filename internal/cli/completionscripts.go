package cli

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func completionCommand(a *app) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the completion script of a shell",
		Long: `Print the completion script of a shell. That of bash works with and without the
package bash-completion.`,
		Example: `  source <(mcpgraph completion bash)
  mcpgraph completion zsh > "${fpath[1]}/_mcpgraph"
  mcpgraph completion fish > ~/.config/fish/completions/mcpgraph.fish`,
		Args:      configArgs("SHELL"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return failed(bashCompletion(a, root))
			case "zsh":
				return failed(root.GenZshCompletion(a.stdout))
			case "fish":
				return failed(root.GenFishCompletion(a.stdout, true))
			case "powershell":
				return failed(root.GenPowerShellCompletionWithDesc(a.stdout))
			}
			return usagef("unknown shell %q; expected bash, zsh, fish or powershell", args[0])
		},
	}
}

//go:embed completion.bash
var bashFunctions string

// bashCalls are what cobra's script calls of the package bash-completion, by what it calls
// instead.
var bashCalls = map[string]string{
	"__mcpgraph_words \"$@\"\n": "_get_comp_words_by_ref \"$@\" cur prev words cword\n",
	"__mcpgraph_filedir":        "_filedir",
}

// bashCompletion prints cobra's script, which needs the package bash-completion, with
// functions for where that is missing.
func bashCompletion(a *app, root *cobra.Command) error {
	var b bytes.Buffer
	if err := root.GenBashCompletionV2(&b, true); err != nil {
		return err
	}
	header, script, _ := strings.Cut(b.String(), "\n")
	for ours, theirs := range bashCalls {
		if !strings.Contains(script, theirs) {
			return fmt.Errorf("the completion script of bash has no %s", strings.TrimSpace(theirs))
		}
		script = strings.ReplaceAll(script, theirs, ours)
	}
	return writeAll(a.stdout, []byte(header+"\n"+bashFunctions+script))
}
