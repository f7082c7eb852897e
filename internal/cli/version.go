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

func versionCommand(a *app) *cobra.Command {
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
