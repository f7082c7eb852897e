// Package cli is the command line of mcpgraph. Every command takes its streams
// and its environment, and ends with one of a few exit codes.
package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// Exit codes of every command.
const (
	exitClean    = 0 // done, nothing wrong
	exitProblems = 1 // problems in the file, or a call or an expression that failed
	exitUsage    = 2 // the command line is wrong
	exitFailed   = 3 // could not run: a file, a stream or the system failed

	// exitSignal plus its number is the code of a process that a signal ended, as
	// shells have it.
	exitSignal = 128
)

// Main runs one command line, without the program's name, and returns its exit
// code, for [Exit]. environ has the form of os.Environ. Without temporal, the process
// becomes another program where a command needs durable runs.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, environ []string, temporal Temporal) int {
	a := &app{
		argv: args, linked: temporal, input: input{stdin: stdin},
		terminal: terminal{stdout: stdout, stderr: stderr, environ: environment(environ)},
	}
	if a.isTerminal(stderr) {
		a.stderr = &screen{file: fileOf(stderr)}
	}
	root := rootCommand(a)
	root.SetArgs(joined(root, args))
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(a.stderr)
	cmd, err := root, wasBecome(a)
	if err == nil {
		cmd, err = root.ExecuteC()
	}
	code := a.conclude(root, cmd, err)
	if s := a.stopped.Load(); s != nil {
		return killedBy(s.signal)
	}
	return code
}

// conclude prints the error of a command and returns its exit code.
func (a *app) conclude(root, cmd *cobra.Command, err error) int {
	var signalled *signalError
	if err == nil || a.serving && errors.As(err, &signalled) {
		return exitClean
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		// What cobra itself finds wrong is the command line.
		exit = &exitError{exitUsage, err}
	}
	if exit.err != nil {
		fmt.Fprintf(a.stderr, "mcpgraph: %v\n", exit.err)
		if exit.code == exitUsage {
			if cmd.Name() == helpName {
				cmd = root
			}
			fmt.Fprintf(a.stderr, "See %s --help.\n", cmd.CommandPath())
		}
	}
	return exit.code
}

// app is what all commands share: the streams, the signals that end the process and, in
// load.go, how files are loaded. Commands are functions over it.
type app struct {
	terminal
	input
	argv    []string                    // the command line
	linked  Temporal                    // nil in the program that does not link it
	stopped atomic.Pointer[signalError] // the signal by which the process ends
	serving bool                        // the command ends well at a signal
	inputs  map[string]string           // of --input, by id
}

// exitError ends a command with an exit code. err is printed first.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// failed is for errors of files, streams and the system; nil stays nil, and what has an
// exit code keeps it.
func failed(err error) error {
	if err == nil {
		return nil
	}
	if exit, ok := err.(*exitError); ok {
		return exit
	}
	return &exitError{exitFailed, err}
}

func failedf(format string, args ...any) error { return failed(fmt.Errorf(format, args...)) }

const rootExample = `  mcpgraph serve tools.yaml
  mcpgraph validate --strict tools.yaml
  mcpgraph run tools.yaml count_files --arg directory=. --trace`

func rootCommand(a *app) *cobra.Command {
	var graphFile string
	var mcpFiles []string
	var version bool
	root := &cobra.Command{
		Use:   "mcpgraph",
		Short: "MCP servers whose tools are graphs",
		Long: `mcpgraph turns a YAML file into an MCP server whose tools are graphs.

With -g FILE and no command, it serves FILE on stdio, like the TypeScript
mcpGraph.`,
		Example:           rootExample,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 || version {
			return nil
		}
		return unknownCommand(cmd, args[0])
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(helpCommand())
	root.SetUsageFunc(usage)
	root.SetHelpFunc(help)
	addGroups(root)
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case version:
			_, err := fmt.Fprintln(a.stdout, versionLine())
			return failed(err)
		case graphFile != "":
			return serveFile(a, serveOptions{programOptions: programOptions{
				config: graphFile, mcpFiles: mcpFiles, logLevel: defaultLogLevel, observe: observeOptions{keep: runs.DefaultCount},
			}})
		case len(mcpFiles) > 0:
			return usagef("--mcp needs --graph FILE")
		}
		return cmd.Help()
	}
	// Cobra's own flag prints by a template, which makes the linker keep all methods.
	root.Flags().BoolVarP(&version, "version", "v", false, "version for mcpgraph")
	root.Flags().StringVarP(&graphFile, "graph", "g", "", "serve this `FILE` on stdio")
	mcpFlag(a, root, &mcpFiles)
	root.AddCommand(grouped(groupServe, serveCommand(a), uiCommand(a), toolkitCommand(a), runCommand(a), workerCommand(a), runsCommand(a), statusCommand(a), healthCommand(a))...)
	root.AddCommand(grouped(groupCheck, validateCommand(a), lockCommand(a), fmtCommand(a), toolsCommand(a), evalCommand(a), graphCommand(a), schemaCommand(a), lspCommand(a), dapCommand(a))...)
	root.AddCommand(grouped(groupSetup, exportCommand(a), skillCommand(a), authCommand(a), completionCommand(a))...)
	root.AddCommand(grouped(groupCheck, testCommand(a))...)
	root.AddCommand(versionCommand(a))
	root.AddCommand(grouped(groupCheck, initCommand(a), callCommand(a))...)
	return root
}

// unknownCommand returns the error for a command that does not exist.
func unknownCommand(cmd *cobra.Command, name string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if near, ok := diag.Nearest(name, names); ok {
		return usagef("unknown command %q; did you mean %q?", name, near)
	}
	return usagef("unknown command %q; expected %s", name, diag.List(names))
}

const helpName = "help"

// helpCommand is cobra's, but fails if the command does not exist.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     helpName + " [COMMAND]",
		Short:   "Show the help of a command",
		Example: "  mcpgraph help run\n  mcpgraph help auth login",
		RunE: func(cmd *cobra.Command, args []string) error {
			at := cmd.Root()
			for _, name := range args {
				next, _, err := at.Find([]string{name})
				if err != nil || next == at {
					return unknownCommand(at, name)
				}
				at = next
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if at, _, err := cmd.Root().Find(args); err == nil {
				for _, c := range at.Commands() {
					if c.IsAvailableCommand() {
						names = append(names, c.Name()+"\t"+c.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// mcpFlag is not a persistent flag: it means something to few commands.
func mcpFlag(a *app, cmd *cobra.Command, files *[]string) {
	cmd.Flags().Var(inputFlag{&a.inputs}, "input", "set ${input:ID} in the entries of servers: `ID=VALUE` (repeatable)")
	cmd.Flags().VarP(mcpFilesFlag{&a.input, files}, "mcp", "m", "read more MCP servers from this JSON `FILE`, or - for stdin (repeatable)")
}

// configArgs checks the number of arguments and names the missing one.
func configArgs(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usagef("missing %s", strings.Join(names[len(args):], " "))
		}
		if len(args) > len(names) {
			return usagef("unexpected argument %q", args[len(names)])
		}
		return nil
	}
}
