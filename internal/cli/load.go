package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

const defaultLogLevel = "info"

var logLevels = []string{"debug", "info", "warn", "error"}

func logFlag(cmd *cobra.Command, level *string) { logFlagFrom(cmd, level, defaultLogLevel) }

// quietLogFlag is logFlag for commands that show failures themselves.
func quietLogFlag(cmd *cobra.Command, level *string) { logFlagFrom(cmd, level, "error") }

func logFlagFrom(cmd *cobra.Command, level *string, standard string) {
	*level = standard
	cmd.Flags().Var((*levelFlag)(level), "log-level", "log this `LEVEL` and above to stderr: debug, info, warn or error")
	_ = cmd.RegisterFlagCompletionFunc("log-level", cobra.FixedCompletions(logLevels, cobra.ShellCompDirectiveNoFileComp))
}

// levelFlag is the value of --log-level. It is checked with the command line, so that
// commands that log nothing refuse a wrong one, too.
type levelFlag string

func (l *levelFlag) String() string { return string(*l) }
func (l *levelFlag) Type() string   { return "string" }

func (l *levelFlag) Set(text string) error {
	if _, err := parseLevel(text); err != nil {
		return err
	}
	*l = levelFlag(text)
	return nil
}

func parseLevel(text string) (level slog.Level, err error) {
	if err := level.UnmarshalText([]byte(text)); err != nil {
		return 0, fmt.Errorf("expected %s", diag.List(logLevels))
	}
	return level, nil
}

func (a *app) logger(level string) (*slog.Logger, error) {
	l, err := parseLevel(level)
	if err != nil {
		return nil, err
	}
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: l})), nil
}

// read reads the configuration at path. Where that, or a file of --mcp, is "-", it is stdin.
func (a *app) read(ctx context.Context, path string, opts ...mcpgraph.Option) (*mcpgraph.Source, error) {
	opts = append(opts, mcpgraph.WithGetenv(a.getenv), mcpgraph.WithInputs(a.inputs))
	read, err := a.reader(ctx, path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); read == nil && err == nil && info.IsDir() {
		return nil, usagef("%s is a folder; name a file", path)
	}
	// It may be a pipe that is slow.
	return unlessSignalled(ctx, func() (*mcpgraph.Source, error) {
		if read != nil {
			return mcpgraph.ReadFS(ctx, read, shownName(path), opts...)
		}
		return mcpgraph.Read(ctx, path, opts...)
	})
}

// compile loads what read has read.
func compile(ctx context.Context, source *mcpgraph.Source, opts ...mcpgraph.Option) (*mcpgraph.Engine, error) {
	return unlessSignalled(ctx, func() (*mcpgraph.Engine, error) { return source.Load(opts...) })
}

// foreign returns the options to load a file of another program, as desktop clients have
// it: its servers alone. It returns none for a configuration.
func (a *app) foreign(ctx context.Context, path string) ([]mcpgraph.Option, error) {
	read, err := a.reader(ctx, path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); path != "-" && (err != nil || !info.Mode().IsRegular()) {
		return nil, nil // a pipe can be read once
	}
	if read == nil {
		read = boundedfile.Read
	}
	name := shownName(path)
	if text, err := read(name); err == nil && config.IsForeign(name, text) {
		return []mcpgraph.Option{mcpgraph.WithServersOnly()}, nil
	}
	return nil, nil
}

// loadOnce is load for commands that a person repeats: warnings that this user has
// seen are not shown again.
func (a *app) loadOnce(ctx context.Context, path string, opts ...mcpgraph.Option) (*mcpgraph.Engine, error) {
	return a.loadShowing(ctx, path, a.showOnce(path), opts...)
}

// showOnce reports whether this user has not seen the warnings of a file.
func (a *app) showOnce(path string) func([]diag.Diagnostic, diag.Sources) bool {
	return func(ds []diag.Diagnostic, sources diag.Sources) bool { return !seenWarnings(a, path, ds, sources) }
}

// load loads a file to run it: errors and warnings go to stderr, and errors end
// the command. So does the end of ctx.
func (a *app) load(ctx context.Context, path string, opts ...mcpgraph.Option) (*mcpgraph.Engine, error) {
	return a.loadShowing(ctx, path, showAll, opts...)
}

func showAll([]diag.Diagnostic, diag.Sources) bool { return true }

func showNone([]diag.Diagnostic, diag.Sources) bool { return false }

// loadShowing is load, but shows the warnings of a file without errors only if
// show is true.
func (a *app) loadShowing(ctx context.Context, path string, show func([]diag.Diagnostic, diag.Sources) bool, opts ...mcpgraph.Option) (*mcpgraph.Engine, error) {
	source, err := a.read(ctx, path, opts...)
	if err != nil {
		return nil, failed(err)
	}
	return a.loadRead(ctx, path, source, show)
}

// loadRead is loadShowing for a file that was read.
func (a *app) loadRead(ctx context.Context, path string, source *mcpgraph.Source, show func([]diag.Diagnostic, diag.Sources) bool, opts ...mcpgraph.Option) (*mcpgraph.Engine, error) {
	engine, err := compile(ctx, source, opts...)
	var ds []diag.Diagnostic
	var sources diag.Sources
	var loadErr *mcpgraph.LoadError
	switch {
	case err == nil:
		ds, sources = engine.Diagnostics()
	case errors.As(err, &loadErr):
		return engine, a.refused(path, loadErr)
	default:
		return nil, failed(err)
	}
	if ds = worse(ds, diag.Info); len(ds) > 0 && show(ds, sources) {
		a.report(ds, sources)
	}
	return engine, nil
}

// refused reports why a file cannot be loaded, and returns the error that ends the
// command.
func (a *app) refused(path string, why *mcpgraph.LoadError) error {
	a.report(worse(why.Diagnostics, diag.Info), why.Sources)
	// An unreadable file has been reported already.
	failure := &exitError{code: codeOf(why.Diagnostics)}
	if failure.code == exitProblems {
		failure.err = fmt.Errorf("%s has errors", path)
	}
	return failure
}

// codeOf is the exit code for errors of a file: a file that cannot be read is
// no problem of the file.
func codeOf(ds []diag.Diagnostic) int {
	for _, d := range ds {
		if d.Code == diag.CodeFile {
			return exitFailed
		}
	}
	return exitProblems
}

// worse returns the diagnostics that are worse than s.
func worse(ds []diag.Diagnostic, s diag.Severity) []diag.Diagnostic {
	var kept []diag.Diagnostic
	for _, d := range ds {
		if d.Severity < s {
			kept = append(kept, d)
		}
	}
	return kept
}

// report prints diagnostics to stderr. An error of stderr has nowhere to go.
func (a *app) report(ds []diag.Diagnostic, sources diag.Sources) {
	if len(ds) == 0 {
		return
	}
	color, _ := a.color("auto", a.stderr)
	_ = diag.WriteText(a.stderr, ds, sources, diag.TextOptions{Color: color, Width: a.textWidth(a.stderr), MaxProblems: diag.DefaultMaxProblems})
}
