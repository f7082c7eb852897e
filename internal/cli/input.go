package cli

import (
	"context"
	"errors"
	"io/fs"
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

// fileReader reads files. It is an [fs.FS] without the rules for names.
type fileReader func(path string) ([]byte, error)

func (f fileReader) ReadFile(path string) ([]byte, error) { return f(path) }

// Open is not needed for ReadFile.
func (f fileReader) Open(path string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: path, Err: errors.ErrUnsupported}
}

// reader returns what reads files if stdin stands for one of them: for path, which is "-",
// or for a file of --mcp. Else it returns nil. Stdin is read here, once.
func (a *app) reader(ctx context.Context, path string) (fileReader, error) {
	what := ""
	switch {
	case path == "-" && a.mcpOnStdin:
		return nil, usagef("the file and --mcp cannot both read stdin; name a file")
	case path == "-":
		what = "the file"
	case a.mcpOnStdin:
		what = "--mcp"
	default:
		return nil, nil
	}
	if a.onStdin == nil {
		text, _, err := a.readInput(ctx, what, "-")
		if err != nil {
			return nil, err
		}
		a.onStdin = &text
	}
	text := *a.onStdin
	return func(path string) ([]byte, error) {
		if path == stdinName {
			return []byte(text), nil
		}
		return boundedfile.Read(path)
	}, nil
}

// needsFiles refuses to read the file of a command, or one of --mcp, from stdin, for a command
// that reads it again, names it to others or reads something else from stdin.
func (a *app) needsFiles(command, path string) error {
	switch {
	case path == "-":
		return usagef("%s cannot read its file from stdin; name a file", command)
	case a.mcpOnStdin:
		return usagef("%s cannot read --mcp from stdin; name a file", command)
	}
	return nil
}

// mcpFilesFlag is --mcp. The file "-" is stdin.
type mcpFilesFlag struct {
	app   *app
	files *[]string
}

func (mcpFilesFlag) Type() string { return "FILE" }

func (f mcpFilesFlag) String() string { return "" }

// Set adds a file.
func (f mcpFilesFlag) Set(path string) error {
	if path == "-" {
		if f.app.mcpOnStdin {
			return errors.New("stdin can be read once")
		}
		f.app.mcpOnStdin, path = true, stdinName
	}
	*f.files = append(*f.files, path)
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
