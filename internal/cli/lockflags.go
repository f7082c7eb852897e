package cli

import (
	"cmp"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
)

// lockOptions are the flags for the lock file, as options of the engine.
type lockOptions struct {
	path     string
	required bool
	options  []mcpgraph.Option
}

// file returns the path of the lock file of a configuration.
func (o *lockOptions) file(config string) string { return cmp.Or(o.path, lock.Path(config)) }

// fileFlags adds the flags that say which file is read.
func (o *lockOptions) fileFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Func("lock", "use this lock `FILE`; default: beside the file, with .lock.json in place of its ending", func(path string) error {
		if path == "" {
			return errors.New("expected the name of a file")
		}
		o.path = path
		o.options = append(o.options, mcpgraph.WithLock(path))
		return nil
	})
	f.BoolFunc("require-lock", "fail if there is no lock file", func(text string) error {
		if text != "true" {
			return errors.New("expected no value")
		}
		o.required = true
		o.options = append(o.options, mcpgraph.WithLockRequired())
		return nil
	})
}

// there reports whether a configuration has a lock file.
func (o *lockOptions) there(config string) bool {
	_, err := os.Stat(o.file(config))
	return err == nil
}

// flags adds the flags of commands that call tools, too.
func (o *lockOptions) flags(cmd *cobra.Command) {
	o.fileFlags(cmd)
	var names []string
	for _, m := range lock.Modes {
		names = append(names, string(m))
	}
	cmd.Flags().Func("lock-mode", "what happens to calls of tools that differ from the lock file: `MODE` is default (calls fail), strict (also for descriptions), warn (logged only) or off (the file is not read)", func(text string) error {
		mode := lock.Mode(text)
		if !mode.Valid() {
			return errors.New("expected " + diag.List(names))
		}
		o.options = append(o.options, mcpgraph.WithLockMode(mode))
		return nil
	})
	_ = cmd.RegisterFlagCompletionFunc("lock-mode", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

// annotations adds the flag for the annotations of tools.
func (o *lockOptions) annotations(cmd *cobra.Command) {
	cmd.Flags().Func("annotations", "annotations of tools: `WHICH` is computed (those that the file leaves out, from the lock file) or off (as the file has them); default computed", func(text string) error {
		switch text {
		case "computed":
			return nil
		case "off":
			o.options = append(o.options, mcpgraph.WithStatedAnnotations())
			return nil
		}
		return errors.New("expected computed or off")
	})
	_ = cmd.RegisterFlagCompletionFunc("annotations", cobra.FixedCompletions([]string{"computed", "off"}, cobra.ShellCompDirectiveNoFileComp))
}
