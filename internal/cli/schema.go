package cli

import (
	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/pkg/nodes"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of configuration files, for editors",
		Long: `Print the JSON Schema (draft-07) of configuration files. It describes every key,
with examples. Editors use it to complete and check files:

  # yaml-language-server: $schema=mcpgraph.schema.json`,
		Example: `  mcpgraph schema > mcpgraph.schema.json`,
		Args:    configArgs(),
		RunE: func(*cobra.Command, []string) error {
			return failed(writeAll(a.stdout, append(nodes.JSONSchema().AppendIndent(nil, "  "), '\n')))
		},
	}
}
