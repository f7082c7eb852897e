package cli

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/internal/suite/report"
	"github.com/mcpgraph/mcpgraph/internal/suite/runner"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

type testOptions struct {
	paths       []string
	run         string
	verbose     bool
	failFast    bool
	parallel    int
	strict      bool
	format      string
	outputs     []string
	coverage    bool
	minCoverage float64
	watch       bool
	update      bool
	live        bool
	allowWrites bool
	record      bool
	fromRun     string
	name        string
	color       string
	mcpFiles    []string
	lock        lockOptions
}

func testCommand(a *app) *cobra.Command {
	o := testOptions{minCoverage: -1}
	cmd := &cobra.Command{
		Use:   "test [PATH...]",
		Short: "Test the tools of a file without its servers",
		Long: `Run the tests of test files. No upstream server is started: mocks in the test file
answer, on a clock on which waiting takes no time.

PATH is a test file, - for stdin, or a folder, in which all test files are tested:
*.test.yaml and *.test.yml files with a key of test files, such as "tests". Without
PATH, that is the current folder.

The exit code is 0 if all tests passed, 1 if one failed, if a file has errors or if
it has no test, 2 for a wrong command line or a folder without a test file, and 3 if
a file cannot be read.`,
		Example: `  mcpgraph test
  mcpgraph test count_files.test.yaml --run 'three tries' --verbose
  mcpgraph test --coverage --min-coverage 90 --output junit=report.xml
  mcpgraph test --watch
  mcpgraph test two.test.yaml --from-run count.jsonl --name 'two files'`,
		ValidArgsFunction: completeTestFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.fromRun != "" || o.name != "" {
				return draftTest(a, cmd, o, args)
			}
			o.paths = pathsOr(args)
			return testFiles(a, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.run, "run", "", "run only the tests whose names match this `REGEXP`")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "show all tests, with the walks of their runs, and files that are skipped")
	flags.BoolVar(&o.failFast, "fail-fast", false, "start no further test after one has failed")
	flags.IntVar(&o.parallel, "parallel", 0, "run `N` tests at the same time (default: the number of processors)")
	flags.BoolVar(&o.strict, "strict", false, "let a test fail if it has a mock that was not called")
	flags.StringVar(&o.format, "format", "text", "print as `FORMAT`: text, json, junit, github or tap")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(report.Formats, cobra.ShellCompDirectiveNoFileComp))
	flags.StringArrayVarP(&o.outputs, "output", "o", nil, "also write a report to a file, `FORMAT=FILE` (repeatable)")
	flags.BoolVar(&o.coverage, "coverage", false, "list nodes and edges that no test walks")
	flags.Float64Var(&o.minCoverage, "min-coverage", -1, "fail if less than this `PERCENT` of nodes and edges is covered")
	flags.Lookup("min-coverage").DefValue = "0" // which help leaves out
	flags.BoolVarP(&o.watch, "watch", "w", false, "run the tests again when a file changes")
	flags.BoolVarP(&o.update, "update", "u", false, "write snapshots that are new or have changed")
	flags.BoolVar(&o.live, "live", false, "call the real servers, in real time; mocks do not answer")
	flags.BoolVar(&o.record, "record", false, "run the tests that name a cassette against the real servers, and write their cassettes")
	flags.BoolVar(&o.allowWrites, "allow-writes", false, "with --live or --record, also call tools that are not marked read-only")
	flags.StringVar(&o.fromRun, fromRunFlag, "", "print a test of the call that mcpgraph run --record recorded in this `CASSETTE`, or write it to PATH")
	flags.StringVar(&o.name, nameFlag, "", "with --from-run, the `NAME` of the test")
	colorFlag(cmd, &o.color)
	mcpFlag(a, cmd, &o.mcpFiles)
	o.lock.fileFlags(cmd)
	return cmd
}

func completeTestFile(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"test.yaml", "test.yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// testFiles runs the tests, once or, with --watch, again and again.
func testFiles(a *app, o testOptions) error {
	session, err := newTestSession(a, o)
	if err != nil {
		return err
	}
	ctx, stop := a.untilSignal()
	defer stop()
	if err := session.readStdin(ctx); err != nil {
		return err
	}
	if o.watch {
		return session.watch(ctx)
	}
	return session.once(ctx)
}

// testSession is one use of the command test.
type testSession struct {
	*app
	options testOptions
	runner  runner.Options
	report  report.Options
	outputs []testOutput
	files   []string // that the latest run was about
}

// testOutput is a report that goes to a file.
type testOutput struct{ format, path string }

// newTestSession checks the flags.
func newTestSession(a *app, o testOptions) (*testSession, error) {
	s := &testSession{app: a, options: o}
	colored, err := a.color(o.color, a.stdout)
	if err != nil {
		return nil, err
	}
	s.report = report.Options{Color: colored, Width: a.textWidth(a.stdout), Verbose: o.verbose}
	s.runner = runner.Options{
		Getenv: a.getenv, Inputs: a.inputs, MCPFiles: o.mcpFiles, Parallel: o.parallel, FailFast: o.failFast,
		LockFile: o.lock.path, LockRequired: o.lock.required, Strict: o.strict, Update: o.update, Verbose: o.verbose, Live: o.live, Record: o.record, AllowWrites: o.allowWrites,
	}
	if o.run != "" {
		re, err := regexp.Compile(o.run)
		if err != nil {
			return nil, usagef("--run %q: %v", o.run, err)
		}
		s.runner.Match = re.MatchString
	}
	if !slices.Contains(report.Formats, o.format) {
		return nil, usagef("--format is %q; expected %s", o.format, diag.List(report.Formats))
	}
	if o.allowWrites && !o.live && !o.record {
		return nil, usagef("--allow-writes needs --live or --record")
	}
	if o.parallel < 0 {
		return nil, usagef("--parallel is %d; expected a positive number", o.parallel)
	}
	if o.minCoverage != -1 && (o.minCoverage < 0 || o.minCoverage > 100) {
		return nil, usagef("--min-coverage is %v; expected a number from 0 to 100", o.minCoverage)
	}
	for _, text := range o.outputs {
		format, path, ok := strings.Cut(text, "=")
		if !ok || path == "" || !slices.Contains(report.Formats, format) {
			return nil, usagef("--output is %q; expected FORMAT=FILE with the format %s", text, diag.List(report.Formats))
		}
		s.outputs = append(s.outputs, testOutput{format, path})
	}
	return s, nil
}

// readStdin reads the test file, or the file of --mcp, that is on stdin.
func (s *testSession) readStdin(ctx context.Context) (err error) {
	path := ""
	if slices.Contains(s.options.paths, "-") {
		path = "-"
	}
	for flag, on := range map[string]bool{"--watch": s.options.watch, "--update": s.options.update && path == "-"} {
		if err := s.needsFiles("test "+flag, path); on && err != nil {
			return err
		}
	}
	s.runner.Read, err = s.reader(ctx, path)
	return err
}

// once runs the tests and reports what came of them.
func (s *testSession) once(ctx context.Context) error {
	files, err := (&fileSearch{app: s.app, tests: true, verbose: s.options.verbose}).files(s.options.paths)
	if err != nil {
		return err
	}
	for i, path := range files {
		files[i] = shownName(path)
	}
	r, err := s.perform(ctx, files)
	if err != nil {
		return err
	}
	if err := s.write(r); err != nil {
		return failed(err)
	}
	return s.verdict(ctx, r)
}

// perform runs the tests of files. In the text format, results are shown as they come.
func (s *testSession) perform(ctx context.Context, files []string) (*runner.Report, error) {
	o := s.runner
	loaded, err := unlessSignalled(ctx, func() (*runner.Loaded, error) { return runner.Load(ctx, files, o), nil })
	if err != nil {
		return nil, err
	}
	s.files = loaded.Paths()
	if s.options.format == "text" {
		text := report.NewText(s.stdout, loaded.Sources(), s.report)
		o.Done = text.Result
		r := loaded.Run(ctx, o)
		s.addCoverage(r)
		text.Coverage(s.report.Coverage)
		return r, failed(text.End(r))
	}
	r := loaded.Run(ctx, o)
	s.addCoverage(r)
	return r, failed(report.Write(s.stdout, s.options.format, r, s.report))
}

func (s *testSession) addCoverage(r *runner.Report) {
	s.report.Coverage = nil
	if s.options.coverage || s.options.minCoverage >= 0 {
		s.report.Coverage = r.Coverage()
	}
}

// write writes the reports of --output.
func (s *testSession) write(r *runner.Report) error {
	o := s.report
	o.Color, o.Width = false, 0
	for _, out := range s.outputs {
		f, err := os.Create(out.path)
		if err != nil {
			return err
		}
		err = report.Write(f, out.format, r, o)
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return fmt.Errorf("cannot write %s: %w", out.path, err)
		}
	}
	return nil
}

// verdict returns how the command ends.
func (s *testSession) verdict(ctx context.Context, r *runner.Report) error {
	if err := interrupted(ctx); err != nil {
		return err
	}
	if ds := r.Diagnostics(); diag.HasErrors(ds) {
		return &exitError{code: codeOf(ds)}
	}
	switch c := s.report.Coverage; {
	case r.Failed > 0:
		return &exitError{code: exitProblems}
	case len(r.Results) == 0 && s.options.run != "":
		return &exitError{exitProblems, fmt.Errorf("no test has a name that matches --run %q", s.options.run)}
	case len(r.Results) == 0:
		return &exitError{exitProblems, fmt.Errorf("there are no tests in %s", strings.Join(s.options.paths, ", "))}
	case s.options.minCoverage >= 0 && c.Percent() < s.options.minCoverage:
		return &exitError{exitProblems, fmt.Errorf("the coverage is %.1f%%, less than --min-coverage %v", report.Rounded(c.Percent()), s.options.minCoverage)}
	}
	return nil
}
