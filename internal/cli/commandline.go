package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// joined returns a command line in which the value of a flag that may stand
// alone is joined to it: --trace json becomes --trace=json. Flags declare such
// values with optionalValue.
func joined(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil {
		return args
	}
	flags := cmd.Flags()
	var out []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(out, args[i:]...)
		}
		out = append(out, arg)
		f := lastFlag(flags, arg)
		if f == nil || i+1 == len(args) {
			continue
		}
		switch values := f.Annotations[optionalKey]; {
		case slices.Contains(values, args[i+1]):
			out[len(out)-1] += "=" + args[i+1]
			i++
		case f.NoOptDefVal == "":
			out = append(out, args[i+1]) // its value, whatever it looks like
			i++
		}
	}
	return out
}

// lastFlag returns the flag whose value the argument after arg could be, or nil
// if there is none.
func lastFlag(flags *pflag.FlagSet, arg string) *pflag.Flag {
	if strings.Contains(arg, "=") || len(arg) < 2 || arg[0] != '-' {
		return nil
	}
	if name, long := strings.CutPrefix(arg, "--"); long {
		return flags.Lookup(name)
	}
	for i := 1; i < len(arg); i++ {
		f := flags.ShorthandLookup(arg[i : i+1])
		if f == nil || i == len(arg)-1 {
			return f
		}
		if f.NoOptDefVal == "" {
			return nil // the rest of arg is its value
		}
	}
	return nil
}

const optionalKey = "mcpgraph_optional_values"

// optionalValue lets a flag stand alone, where it means the first of the values.
func optionalValue(flags *pflag.FlagSet, name string, values ...string) {
	flags.Lookup(name).NoOptDefVal = values[0]
	_ = flags.SetAnnotation(name, optionalKey, values)
}
