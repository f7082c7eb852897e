package cli

import (
	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
)

func schemaCommand(a *app) *cobra.Command {
	var tests bool
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of configuration or test files, for editors",
		Long: `Print the JSON Schema (draft-07) of configuration files or, with --test, of test
files. It describes every key, with examples. Editors use it to complete and
check files:

  # yaml-language-server: $schema=mcpgraph.schema.json`,
		Example: `  mcpgraph schema > mcpgraph.schema.json
  mcpgraph schema --test > mcpgraph-test.schema.json`,
		Args: configArgs(),
		RunE: func(*cobra.Command, []string) error {
			schema := nodes.JSONSchema
			if tests {
				schema = suite.JSONSchema
			}
			return failed(writeAll(a.stdout, append(schema().AppendIndent(nil, "  "), '\n')))
		},
	}
	cmd.Flags().BoolVar(&tests, "test", false, "print the schema of test files")
	return cmd
}
