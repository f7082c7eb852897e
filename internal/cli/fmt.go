package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/internal/diff"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
)

func fmtCommand(a *app) *cobra.Command {
	var o fmtOptions
	cmd := &cobra.Command{
		Use:   "fmt [PATH...]",
		Short: "Format files",
		Long: `Format configuration and test files in place, and print the names of those that changed.

PATH is a file, - for stdin, or a folder; without PATH, the current folder. In a folder
and its subfolders, it formats the files that validate checks (see mcpgraph validate
--help); -v names the YAML files that it skips. Stdin is formatted to stdout.

It changes indentation, the order of the keys of tools, nodes, servers and tests, and
writes long expressions as blocks. Comments and blank lines stay. It reads the result
again: a file that would not mean the same is not written.

The exit code is 0 if all went well, 1 if a file has errors (or, with --check, would
change), 2 for a wrong command line or a folder without a file of mcpgraph, and 3 if
a file cannot be read or written.`,
		Example: `  mcpgraph fmt tools.yaml
  mcpgraph fmt --check .
  mcpgraph fmt --diff tools.yaml
  mcpgraph fmt - < tools.yaml`,
		ValidArgsFunction: completeConfig,
		RunE: func(_ *cobra.Command, args []string) error {
			var err error
			if o.outColored, err = a.color(o.color, a.stdout); err != nil {
				return err
			}
			if o.errColored, err = a.color(o.color, a.stderr); err != nil {
				return err
			}
			ctx, stop := a.untilSignal()
			defer stop()
			files, err := (&fileSearch{app: a, verbose: o.verbose}).files(pathsOr(args))
			if err != nil {
				return err
			}
			return formatFiles(ctx, a, files, &o)
		},
	}
	cmd.Flags().BoolVar(&o.check, "check", false, "write nothing; list the files that would change, and exit with 1 if there are any")
	cmd.Flags().BoolVar(&o.diff, "diff", false, "write nothing; print what would change as a diff")
	skippedFlag(cmd, &o.verbose)
	colorFlag(cmd, &o.color)
	return cmd
}

type fmtOptions struct {
	check, diff, verbose   bool
	color                  string
	outColored, errColored bool
}

// formatFiles formats files. It goes on behind a file with errors and returns the
// gravest of them.
func formatFiles(ctx context.Context, a *app, files []string, o *fmtOptions) error {
	var worst *exitError
	for _, path := range files {
		if err := interrupted(ctx); err != nil {
			return err
		}
		err := formatOne(ctx, a, path, o)
		var exit *exitError
		if err != nil && !errors.As(err, &exit) {
			return err
		}
		if exit == nil {
			continue
		}
		if exit.err != nil {
			fmt.Fprintf(a.stderr, "mcpgraph: %v\n", exit.err)
		}
		if worst == nil || exit.code > worst.code {
			worst = &exitError{code: exit.code}
		}
	}
	if worst != nil {
		return worst
	}
	return nil
}

func formatOne(ctx context.Context, a *app, path string, o *fmtOptions) error {
	name, source, err := readSource(ctx, a, path)
	if err != nil {
		return err
	}
	out, err := unlessSignalled(ctx, func() ([]byte, error) { return edit.Format(name, source) })
	var invalid *edit.InvalidError
	switch {
	case interrupted(ctx) != nil:
		return interrupted(ctx)
	case errors.As(err, &invalid):
		text := bytes.TrimPrefix(source, []byte("\ufeff"))
		options := diag.TextOptions{Color: o.errColored, Width: a.textWidth(a.stderr), MaxProblems: diag.DefaultMaxProblems}
		if err := diag.WriteText(a.stderr, invalid.Diagnostics, diag.Sources{name: text}, options); err != nil {
			return failed(err)
		}
		return &exitError{code: exitProblems}
	case err != nil:
		return &exitError{exitProblems, fmt.Errorf("%s is not formatted: %w", name, err)}
	}
	changed := !bytes.Equal(source, out)
	if changed && o.diff {
		text, err := unlessSignalled(ctx, func() (string, error) {
			return diff.Unified(name, name+" (formatted)", string(source), string(out), o.outColored), nil
		})
		if err != nil {
			return err
		}
		if _, err := io.WriteString(a.stdout, text); err != nil {
			return failed(err)
		}
	}
	switch {
	case o.check && changed:
		if !o.diff {
			fmt.Fprintln(a.stdout, name)
		}
		return &exitError{code: exitProblems}
	case o.check, o.diff:
		return nil
	case path == "-":
		_, err := a.stdout.Write(out)
		return failed(err)
	case !changed:
		return nil
	}
	if err := edit.Write(path, edit.RevisionOf(source), out); err != nil {
		return failed(err)
	}
	_, err = fmt.Fprintln(a.stdout, name)
	return failed(err)
}

// readSource returns the text of a file, or of stdin, and what to call it.
func readSource(ctx context.Context, a *app, path string) (name string, text []byte, err error) {
	if path != "-" {
		text, err = unlessSignalled(ctx, func() ([]byte, error) { return boundedfile.Read(path) })
		if stopped := interrupted(ctx); stopped != nil {
			return path, nil, stopped
		}
		return path, text, failed(err)
	}
	s, name, err := a.readInput(ctx, "-", path)
	return name, []byte(s), err
}
