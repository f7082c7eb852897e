package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/internal/suite/runner"
)

// The flags of test that make a test from a recorded call.
const (
	fromRunFlag = "from-run"
	nameFlag    = "name"
)

// draftTest prints a test that is made from a recorded call, or writes it to the file in
// args, which must not exist.
func draftTest(a *app, cmd *cobra.Command, o testOptions, args []string) error {
	switch {
	case o.fromRun == "":
		return usagef("--name needs --from-run CASSETTE")
	case o.name == "":
		return usagef("--from-run needs --name NAME, the name of the test")
	case len(args) > 1:
		return usagef("unexpected argument %q: --from-run writes one test file", args[1])
	}
	path := ""
	if len(args) == 1 {
		path = args[0]
		if !suite.IsTestFile(path) {
			return usagef("the file of the test is %q; expected a name that ends in %s.yaml", path, suite.Suffix)
		}
		if _, err := os.Lstat(path); err == nil {
			return existsAlready(path)
		}
	}
	var other error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case fromRunFlag, nameFlag, "mcp", "input", "lock", "require-lock":
		default:
			other = usagef("--from-run and --%s exclude each other", f.Name)
		}
	})
	if other != nil {
		return other
	}
	ctx, stop := a.untilSignal()
	defer stop()
	read, err := a.reader(ctx, "")
	if err != nil {
		return err
	}
	text, err := runner.Draft(ctx, o.fromRun, o.name, runner.Options{
		Getenv: a.getenv, Inputs: a.inputs, MCPFiles: o.mcpFiles, Read: read, LockFile: o.lock.path, LockRequired: o.lock.required, DraftPath: path,
	})
	if stopped := interrupted(ctx); stopped != nil {
		return stopped
	}
	var refused *runner.DraftError
	switch {
	case errors.As(err, &refused) && refused.Path != "":
		return a.refused(refused.Path, &mcpgraph.LoadError{Path: refused.Path, Diagnostics: refused.Diagnostics, Sources: refused.Sources})
	case errors.As(err, &refused):
		return &exitError{exitProblems, refused}
	case err != nil:
		return failed(err)
	}
	if path == "" {
		return failed(writeAll(a.stdout, text))
	}
	if err := create(path, text); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "wrote %s\n", path)
	return failed(err)
}
