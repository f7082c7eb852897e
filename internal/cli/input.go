package cli

import (
	"context"
	"os"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// stdinName is what messages call the standard input.
const stdinName = "stdin"

// unlessSignalled returns what f returns. Where ctx ends before, it returns its
// cause at once; f is left behind until the process ends.
func unlessSignalled[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, failed(context.Cause(ctx))
	}
}

// readInput reads the file that a flag names, or stdin where path is "-", and
// returns what to call it in messages.
func (a *app) readInput(ctx context.Context, flag, path string) (text, name string, _ error) {
	var b []byte
	var err error
	if name = path; path == "-" {
		if a.stdinFor != "" {
			return "", name, usagef("%s and %s cannot both read stdin; name a file", a.stdinFor, flag)
		}
		a.stdinFor, name = flag, stdinName
		b, err = unlessSignalled(ctx, func() ([]byte, error) { return boundedfile.ReadAll(a.stdin) })
	} else {
		b, err = unlessSignalled(ctx, func() ([]byte, error) { return boundedfile.Read(path) })
	}
	if stopped := interrupted(ctx); stopped != nil {
		return "", name, stopped
	}
	if err != nil {
		return "", name, failedf("%s: %w", flag, err)
	}
	return string(b), name, nil
}

// read loads the configuration at path.
func (a *app) read(ctx context.Context, path string, opts ...mcpgraph.Option) (*mcpgraph.Engine, error) {
	opts = append(opts, mcpgraph.WithGetenv(a.getenv), mcpgraph.WithInputs(a.inputs))
	// It may be a pipe that is slow.
	return unlessSignalled(ctx, func() (*mcpgraph.Engine, error) { return mcpgraph.LoadContext(ctx, path, opts...) })
}

// readOrStdin is read, or loads the configuration on stdin where path is "-".
func (a *app) readOrStdin(ctx context.Context, path string, opts ...mcpgraph.Option) (*mcpgraph.Engine, error) {
	if path != "-" {
		return a.read(ctx, path, opts...)
	}
	text, err := a.configOnStdin(ctx)
	if err != nil {
		return nil, err
	}
	opts = append(opts, mcpgraph.WithGetenv(a.getenv), mcpgraph.WithInputs(a.inputs))
	return unlessSignalled(ctx, func() (*mcpgraph.Engine, error) { return mcpgraph.LoadBytes(stdinName, []byte(text), opts...) })
}

// configOnStdin reads the configuration from stdin, once.
func (a *app) configOnStdin(ctx context.Context) (string, error) {
	if a.stdinConfig != nil {
		return *a.stdinConfig, nil
	}
	text, _, err := a.readInput(ctx, "CONFIG", "-")
	if err == nil {
		a.stdinConfig = &text
	}
	return text, err
}

// needsFile refuses to read a configuration from stdin, for a command that reads it again
// or names it to others.
func needsFile(command, path string) error {
	if path == "-" {
		return usagef("%s needs a file; it cannot read CONFIG from stdin", command)
	}
	return nil
}

// shownName returns what messages call the configuration at path.
func shownName(path string) string {
	if path == "-" {
		return stdinName
	}
	return path
}

// foreign returns the options to load a file of another program, as desktop clients have
// it: its servers alone. It returns none for a configuration.
func foreign(path string) []mcpgraph.Option {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil // a pipe can be read once
	}
	if text, err := boundedfile.Read(path); err == nil && config.IsForeign(path, text) {
		return []mcpgraph.Option{mcpgraph.WithServersOnly()}
	}
	return nil
}
