package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// flagError returns what is wrong with a flag in the words of this program:
// which flag was meant, or what its value should have been.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if c, _, found := cmd.Root().Find([]string{unknown.GetSpecifiedName()}); found == nil && c != cmd.Root() {
			err = fmt.Errorf("%w; did you mean the command %q?", err, c.CommandPath())
		} else if near, ok := diag.Nearest(unknown.GetSpecifiedName(), names); ok {
			err = fmt.Errorf("%w; did you mean --%s?", err, near)
		}
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		expected := errors.Unwrap(invalid).Error()
		switch f.Value.Type() {
		case "int", "int64":
			expected = "expected a whole number"
		case "bool":
			expected = "expected true or false"
		case "duration":
			expected = "expected a time with its unit, such as 30s or 10m"
		}
		err = fmt.Errorf("--%s is %q; %s", f.Name, invalid.GetValue(), expected)
	}
	return &exitError{exitUsage, err}
}
