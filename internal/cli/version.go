package cli

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
)

func versionLine() string {
	return fmt.Sprintf("mcpgraph %s (%s, %s/%s)", mcpgraph.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Example: `  mcpgraph version
  mcpgraph version --json`,
		Args: configArgs(),
		RunE: func(*cobra.Command, []string) error {
			if !asJSON {
				_, err := fmt.Fprintln(a.stdout, versionLine())
				return failed(err)
			}
			return failed(json.NewEncoder(a.stdout).Encode(struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				OS      string `json:"os"`
				Arch    string `json:"arch"`
			}{mcpgraph.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH}))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the completion script of a shell",
		Example: `  source <(mcpgraph completion bash)
  mcpgraph completion zsh > "${fpath[1]}/_mcpgraph"
  mcpgraph completion fish > ~/.config/fish/completions/mcpgraph.fish`,
		Args:      configArgs("SHELL"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return failed(root.GenBashCompletionV2(a.stdout, true))
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
