package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/project"
	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/internal/suite/runner"
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

var validateFormats = []string{"text", "json", "sarif", "github"}

func validateCommand(a *app) *cobra.Command {
	var o struct {
		strict   bool
		verbose  bool
		format   string
		color    string
		mcpFiles []string
		live     bool
		lock     lockOptions
		caller   caller

		maxProblems int
	}
	cmd := &cobra.Command{
		Use:   "validate [PATH...]",
		Short: "Find errors in files",
		Long: `Find all errors in files, without starting or calling anything.

PATH is a file, - for stdin, or a folder; without PATH, the current folder. In a folder
and its subfolders, it checks the files of mcpgraph: *.yaml and *.yml files with two of
the top-level keys of the language, such as "version" and "tools", or with the line of
its JSON Schema; and test files, which end in .test.yaml or .test.yml. It skips
node_modules and folders whose names begin with a dot. -v names the YAML files that it
skips.

If there is a lock file beside a file (see mcpgraph lock --help), calls of upstream
tools are checked against it, and expressions against the outputs of these tools.

--live also connects to the upstream servers. It checks that they have the tools
that nodes call, and that the known arguments match their inputSchemas.

The exit code is 0 without errors, 1 with errors (with --strict, also warnings),
2 for a wrong command line or a folder without a file of mcpgraph, and 3 if a file
cannot be read.`,
		Example: `  mcpgraph validate tools.yaml
  mcpgraph validate --strict --format github .
  envsubst < tools.yaml.in | mcpgraph validate -
  mcpgraph validate --live tools.yaml
  mcpgraph validate --format sarif tools.yaml > mcpgraph.sarif`,
		ValidArgsFunction: completeConfig,
		RunE: func(cmd *cobra.Command, args []string) error {
			if program := o.format == "json" || o.format == "sarif"; program && !cmd.Flags().Changed("max-problems") {
				o.maxProblems = 0 // programs read all
			}
			if o.maxProblems < 0 {
				return usagef("--max-problems is %d; expected 0 or more", o.maxProblems)
			}
			write, err := diagnosticsWriter(a, o.format, o.color, o.maxProblems)
			if err != nil {
				return err
			}
			ctx, stop := a.untilSignal()
			defer stop()
			info, err := o.caller.info()
			if err != nil {
				return err
			}
			if o.caller.given() && !o.live {
				return usagef("--header and --meta need --live")
			}
			live := func(*mcpgraph.Engine) []diag.Diagnostic { return nil }
			if o.live {
				live = func(e *mcpgraph.Engine) []diag.Diagnostic {
					connecting := a.begin("connecting to " + textline.Count(len(e.File().Upstreams), "server"))
					defer connecting.end()
					return e.CheckLive(ctx, mcpgraph.WithCallInfo(info))
				}
			}
			files, err := (&fileSearch{app: a, verbose: o.verbose}).files(pathsOr(args))
			if err != nil {
				return err
			}
			opts := func(path string) []mcpgraph.Option {
				opts := append(slices.Clip(o.lock.options), mcpgraph.WithMCPFiles(o.mcpFiles...))
				if !o.live && o.lock.there(path) {
					opts = append(opts, mcpgraph.WithUnsetVariables()) // no server is needed
				}
				return opts
			}
			found, err := checkFiles(ctx, a, files, o.mcpFiles, opts, live)
			if err != nil {
				return err
			}
			if err := interrupted(ctx); err != nil {
				return err
			}
			if _, err := unlessSignalled(ctx, func() (any, error) { return nil, write(a.stdout, found) }); err != nil {
				return failed(err)
			}
			if found.count(diag.Error) > 0 || o.strict && found.count(diag.Warning) > 0 {
				return &exitError{code: codeOf(found.diagnostics)}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&o.strict, "strict", false, "treat warnings as errors")
	skippedFlag(cmd, &o.verbose)
	cmd.Flags().StringVar(&o.format, "format", "text", "print as `FORMAT`: text, json, sarif or github")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(validateFormats, cobra.ShellCompDirectiveNoFileComp))
	colorFlag(cmd, &o.color)
	cmd.Flags().IntVar(&o.maxProblems, "max-problems", diag.DefaultMaxProblems, "print at most `N` problems of a file, errors first; 0 prints all, as --format json and sarif do by default")
	mcpFlag(a, cmd, &o.mcpFiles)
	o.lock.fileFlags(cmd)
	cmd.Flags().BoolVar(&o.live, "live", false, "also connect to the servers and check calls against their tools")
	o.caller.flags(cmd)
	return cmd
}

// findings are what is wrong in some files.
type findings struct {
	files       int
	diagnostics []diag.Diagnostic
	sources     diag.Sources
	seen        map[finding]bool
}

// finding identifies a diagnostic.
type finding struct {
	file          string
	pos           diag.Pos
	code, message string
}

func (f findings) count(s diag.Severity) int {
	n := 0
	for _, d := range f.diagnostics {
		if d.Severity == s {
			n++
		}
	}
	return n
}

// checkFiles loads files without running them. live also checks files without errors
// against their servers.
func checkFiles(ctx context.Context, a *app, paths, mcpFiles []string, opts func(path string) []mcpgraph.Option, live func(*mcpgraph.Engine) []diag.Diagnostic) (findings, error) {
	found := findings{files: len(paths), sources: diag.Sources{}, seen: map[finding]bool{}}
	for _, path := range paths {
		if suite.IsTestFile(path) {
			ds, sources, err := checkTests(ctx, a, path, mcpFiles)
			if err != nil {
				return found, err
			}
			found.add(ds, sources)
			continue
		}
		source, err := a.read(ctx, path, opts(path)...)
		var engine *mcpgraph.Engine
		if err == nil {
			engine, err = compile(ctx, source)
		}
		var loadErr *mcpgraph.LoadError
		switch {
		case err == nil:
			ds, sources := engine.Diagnostics()
			ds = append(slices.Clip(ds), live(engine)...)
			diag.Sort(ds)
			found.add(ds, sources)
			if err := engine.Close(); err != nil {
				return found, failed(err)
			}
		case errors.As(err, &loadErr):
			found.add(loadErr.Diagnostics, loadErr.Sources)
		default:
			return found, failed(err)
		}
	}
	return found, nil
}

// checkTests checks a test file and runs none of its tests.
func checkTests(ctx context.Context, a *app, path string, mcpFiles []string) ([]diag.Diagnostic, diag.Sources, error) {
	read, err := a.reader(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	o := runner.Options{
		Getenv: a.getenv, Inputs: a.inputs, MCPFiles: mcpFiles, Read: read, Match: func(string) bool { return false },
	}
	r := runner.Load(ctx, []string{path}, o).Run(ctx, o)
	return r.Diagnostics(), r.Sources, nil
}

// add adds diagnostics. Those of a configuration that is checked by itself and with
// its tests count once.
func (f *findings) add(ds []diag.Diagnostic, sources diag.Sources) {
	for _, d := range ds {
		if one := (finding{d.File, d.Pos, d.Code, d.Message}); !f.seen[one] {
			f.seen[one] = true
			f.diagnostics = append(f.diagnostics, d)
		}
	}
	maps.Copy(f.sources, sources)
}

func diagnosticsWriter(a *app, format, color string, maxProblems int) (func(io.Writer, findings) error, error) {
	colored, err := a.color(color, a.stdout)
	if err != nil {
		return nil, err
	}
	switch format {
	case "text":
		return func(w io.Writer, f findings) error {
			opts := diag.TextOptions{Color: colored, Width: a.textWidth(a.stdout), MaxProblems: maxProblems}
			if err := diag.WriteText(w, f.diagnostics, f.sources, opts); err != nil {
				return err
			}
			_, err := fmt.Fprintln(w, f.summary())
			return err
		}, nil
	case "json":
		return func(w io.Writer, f findings) error { return diag.WriteJSON(w, f.diagnostics, maxProblems) }, nil
	case "sarif":
		return func(w io.Writer, f findings) error {
			return diag.WriteSARIF(w, f.diagnostics, maxProblems, mcpgraph.Version(), project.URL)
		}, nil
	case "github":
		return func(w io.Writer, f findings) error { return diag.WriteGitHub(w, f.diagnostics, maxProblems) }, nil
	}
	return nil, usagef("--format is %q; expected %s", format, diag.List(validateFormats))
}

// summary is the last line of the text format.
func (f findings) summary() string {
	parts := []string{}
	for _, p := range []struct {
		n    int
		noun string
	}{{f.count(diag.Error), "error"}, {f.count(diag.Warning), "warning"}, {f.count(diag.Info), "note"}} {
		if p.n > 0 {
			parts = append(parts, textline.Count(p.n, p.noun))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no problems"}
	}
	return textline.Count(f.files, "file") + ": " + strings.Join(parts, ", ")
}

// skippedFlag adds -v to a command that looks for files in folders.
func skippedFlag(cmd *cobra.Command, verbose *bool) {
	cmd.Flags().BoolVarP(verbose, "verbose", "v", false, "name the YAML files in folders that are not of mcpgraph")
}
