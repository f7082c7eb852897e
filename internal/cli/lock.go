package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
)

type lockCommandOptions struct {
	config, path string
	check        bool
	servers      []string
	ignore       []string
	mcpFiles     []string
	caller       caller
	logLevel     string
}

func lockCommand(a *app) *cobra.Command {
	var o lockCommandOptions
	cmd := &cobra.Command{
		Use:   "lock CONFIG",
		Short: "Lock what the upstream servers of a file offer",
		Long: `Connect to the upstream servers of a file and write a lock file: the names of
their tools and, for each tool that a node calls, its schemas, annotations and
description. Commit it beside the file.

With a lock file, validate checks calls and expressions without servers, and serve
and run refuse to call tools that have changed.

--check writes nothing. It compares the servers with the lock file and prints what
differs. With --ignore descriptions, the descriptions of tools may differ, as serve
and run let them: those of some servers hold the working folder.

The exit code is 0 if all is well, 1 if --check finds a difference or a node calls
a tool that its server does not have, 2 for a wrong command line or if there is no
lock file to compare with, and 3 if a file cannot be read or a server cannot be
reached. Then nothing is written.`,
		Example: `  mcpgraph lock tools.yaml
  mcpgraph lock --check tools.yaml
  mcpgraph lock --server files tools.yaml`,
		Args:              configArgs("CONFIG"),
		ValidArgsFunction: completeOne,
		RunE: func(_ *cobra.Command, args []string) error {
			o.config = args[0]
			return lockServers(a, o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.check, "check", false, "write nothing; exit 1 if the servers differ from the lock file")
	flags.StringSliceVar(&o.ignore, "ignore", nil, "with --check, differences of these `PARTS` are shown and are none: descriptions")
	_ = cmd.RegisterFlagCompletionFunc("ignore", cobra.FixedCompletions([]string{ignoreDescriptions}, cobra.ShellCompDirectiveNoFileComp))
	flags.StringArrayVar(&o.servers, "server", nil, "only this server, by `NAME`; the others stay as they are (repeatable)")
	flags.StringVar(&o.path, "lock", "", "the lock `FILE`; default: beside the file, with .lock.json in place of its ending")
	mcpFlag(a, cmd, &o.mcpFiles)
	o.caller.flags(cmd)
	quietLogFlag(cmd, &o.logLevel)
	return cmd
}

// ignoreDescriptions is the value of --ignore.
const ignoreDescriptions = "descriptions"

func lockServers(a *app, o lockCommandOptions) (err error) {
	for _, part := range o.ignore {
		if part != ignoreDescriptions {
			return usagef("--ignore is %q; expected %s", part, ignoreDescriptions)
		}
	}
	if len(o.ignore) > 0 && !o.check {
		return usagef("--ignore has no effect without --check")
	}
	if o.config == "-" && o.path == "" {
		return usagef("lock needs --lock FILE if CONFIG is read from stdin")
	}
	log, err := a.logger(o.logLevel)
	if err != nil {
		return err
	}
	ctx, stop := a.untilSignal()
	defer stop()
	info, err := o.caller.info()
	if err != nil {
		return err
	}
	others, err := a.foreign(ctx, o.config)
	if err != nil {
		return err
	}
	engine, err := a.load(ctx, o.config, append(others, mcpgraph.WithMCPFiles(o.mcpFiles...), mcpgraph.WithLogger(log), mcpgraph.WithLockMode(lock.Off))...)
	if err != nil {
		return err
	}
	defer closeEngine(engine, &err)
	path := o.path
	if path == "" {
		path = engine.LockPath()
	}
	number := len(engine.File().Upstreams)
	if len(o.servers) > 0 {
		number = len(o.servers)
	}
	for _, name := range o.servers {
		if _, err := entryOf(engine, name); err != nil {
			return err
		}
	}
	before, err := readLock(ctx, a, path, o.check || len(o.servers) > 0)
	if err != nil {
		return err
	}
	connecting := a.begin("connecting to " + textline.Count(number, "server"))
	found, err := engine.Lock(ctx, o.servers, mcpgraph.WithCallInfo(info))
	connecting.end()
	if err := interrupted(ctx); err != nil {
		return err
	}
	if err != nil {
		return failed(err)
	}
	next := found
	if len(o.servers) > 0 {
		next = before
		for _, s := range found.Servers {
			next = next.With(s)
		}
	}
	differences := []lock.Difference(nil)
	if before != nil {
		differences = before.Diff(next)
	}
	drift := writeDifferences(a, before, next, differences, len(o.ignore) > 0)
	if o.check {
		return checkLocked(a, path, drift)
	}
	if err := writeWhole(path, next.Encode()); err != nil {
		return failed(err)
	}
	tools := 0
	for _, s := range next.Servers {
		tools += len(s.Tools)
	}
	fmt.Fprintf(a.stdout, "%s: %s, %s locked\n", path, textline.Count(len(next.Servers), "server"), textline.Count(tools, "tool"))
	return reportCalls(a, engine, next)
}

// checkLocked ends --check.
func checkLocked(a *app, path string, drift bool) error {
	if drift {
		return &exitError{exitProblems, fmt.Errorf("the servers differ from %s", path)}
	}
	fmt.Fprintf(a.stdout, "%s: the servers have not changed\n", path)
	return nil
}

// reportCalls reports calls that do not fit what was locked.
func reportCalls(a *app, engine *mcpgraph.Engine, locked *lock.File) error {
	ds := worse(engine.CheckLock(locked), diag.Warning)
	_, sources := engine.Diagnostics()
	a.report(ds, sources)
	if len(ds) > 0 {
		return &exitError{code: exitProblems}
	}
	return nil
}

// readLock reads the lock file there is; nil if there is none, which is an error
// where it is needed. One that cannot be used is as none where it is not needed.
func readLock(ctx context.Context, a *app, path string, needed bool) (*lock.File, error) {
	text, err := unlessSignalled(ctx, func() ([]byte, error) { return boundedfile.Read(path) })
	switch {
	case ctx.Err() != nil:
		return nil, interrupted(ctx)
	case errors.Is(err, fs.ErrNotExist) && !needed:
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("there is no lock file %s; write it with mcpgraph lock", path)
	case err != nil:
		return nil, failed(err)
	}
	f, ds := lock.Parse(path, text)
	if len(ds) > 0 && needed {
		a.report(ds, diag.Sources{path: text})
		return nil, &exitError{code: exitProblems}
	}
	return f, nil
}

// writeDifferences prints what differs, by server, and reports whether any of it is
// drift. If ignored is set, descriptions of tools are none.
func writeDifferences(a *app, before, now *lock.File, all []lock.Difference, ignored bool) (drift bool) {
	server := ""
	for i, d := range all {
		drift = drift || !d.Note && !(ignored && d.Documentation)
		if i == 0 || d.Server != server {
			server = d.Server
			fmt.Fprintln(a.stdout, serverLine(before.Server(server), now.Server(server)))
		}
		switch {
		case d.Note, d.Tool == "" && d.Path == "":
		case d.Tool == "":
			fmt.Fprintf(a.stdout, "  ~ %s\n", d)
		case d.Path == "" && d.Is.IsUndefined():
			fmt.Fprintf(a.stdout, "  - %s\n", d.Tool)
		case d.Path == "":
			fmt.Fprintf(a.stdout, "  + %s\n", d.Tool)
		default:
			fmt.Fprintf(a.stdout, "  ~ %s: %s\n", d.Tool, d)
		}
	}
	return drift
}

// serverLine returns the heading of a server's differences.
func serverLine(was, is *lock.Server) string {
	switch {
	case was == nil:
		return fmt.Sprintf("+ server %q", is.Name)
	case is == nil:
		return fmt.Sprintf("- server %q", was.Name)
	}
	line := fmt.Sprintf("server %q (%s", is.Name, strings.TrimSpace(was.ServerName+" "+was.Version))
	if now := strings.TrimSpace(is.ServerName + " " + is.Version); now != strings.TrimSpace(was.ServerName+" "+was.Version) {
		line += " → " + now
	}
	if was.Protocol != is.Protocol {
		line += fmt.Sprintf(", MCP %s → %s", was.Protocol, is.Protocol)
	}
	return line + ")"
}

// writeWhole writes a file, so that a reader finds the old text or the new one.
func writeWhole(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
