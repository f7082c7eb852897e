package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
)

// stdinName is what messages call the standard input.
const stdinName = "stdin"

// input is stdin, which one thing alone can read.
type input struct {
	stdin      io.Reader
	stdinFor   string  // what it was read for; empty: nothing yet
	mcpOnStdin bool    // a file of --mcp is stdin
	onStdin    *string // the configuration, or the file of --mcp; nil until it was read
}

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
func (in *input) readInput(ctx context.Context, flag, path string) (text, name string, _ error) {
	var b []byte
	var err error
	if name = path; path == "-" {
		if in.stdinFor != "" {
			return "", name, usagef("%s and %s cannot both read stdin; name a file", in.stdinFor, flag)
		}
		in.stdinFor, name = flag, stdinName
		b, err = unlessSignalled(ctx, func() ([]byte, error) { return boundedfile.ReadAll(in.stdin) })
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

// fileReader reads files. It is an [fs.FS] without the rules for names.
type fileReader func(path string) ([]byte, error)

func (f fileReader) ReadFile(path string) ([]byte, error) { return f(path) }

// Open is not needed for ReadFile.
func (f fileReader) Open(path string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: path, Err: errors.ErrUnsupported}
}

// reader returns what reads files if stdin stands for one of them: for path, which is "-",
// or for a file of --mcp. Else it returns nil. Stdin is read here, once.
func (in *input) reader(ctx context.Context, path string) (fileReader, error) {
	what := ""
	switch {
	case path == "-" && in.mcpOnStdin:
		return nil, usagef("the file and --mcp cannot both read stdin; name a file")
	case path == "-":
		what = "the file"
	case in.mcpOnStdin:
		what = "--mcp"
	default:
		return nil, nil
	}
	if in.onStdin == nil {
		text, _, err := in.readInput(ctx, what, "-")
		if err != nil {
			return nil, err
		}
		in.onStdin = &text
	}
	text := *in.onStdin
	return func(path string) ([]byte, error) {
		if path == stdinName {
			return []byte(text), nil
		}
		return boundedfile.Read(path)
	}, nil
}

// needsFiles refuses to read the file of a command, or one of --mcp, from stdin, for a command
// that reads it again, names it to others or reads something else from stdin.
func (in *input) needsFiles(command, path string) error {
	switch {
	case path == "-":
		return usagef("%s cannot read its file from stdin; name a file", command)
	case in.mcpOnStdin:
		return usagef("%s cannot read --mcp from stdin; name a file", command)
	}
	return nil
}

// mcpFilesFlag is --mcp. The file "-" is stdin.
type mcpFilesFlag struct {
	input *input
	files *[]string
}

func (mcpFilesFlag) Type() string { return "FILE" }

func (f mcpFilesFlag) String() string { return "" }

// Set adds a file.
func (f mcpFilesFlag) Set(path string) error {
	if path == "-" {
		if f.input.mcpOnStdin {
			return errors.New("stdin can be read once")
		}
		f.input.mcpOnStdin, path = true, stdinName
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
