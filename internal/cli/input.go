package cli

import (
	"context"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
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
		name = stdinName
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
	text, name, err := a.readInput(ctx, "-", path)
	if err != nil {
		return nil, err
	}
	opts = append(opts, mcpgraph.WithGetenv(a.getenv), mcpgraph.WithInputs(a.inputs))
	return unlessSignalled(ctx, func() (*mcpgraph.Engine, error) { return mcpgraph.LoadBytes(name, []byte(text), opts...) })
}
