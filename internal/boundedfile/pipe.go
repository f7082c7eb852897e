package boundedfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// How long a named pipe is waited for.
const (
	// writerTime is the time until somebody has to write to it.
	writerTime = 2 * time.Second
	// silence is the time between two writes.
	silence = time.Minute
	// lookAgain is the time between two looks for a writer.
	lookAgain = 10 * time.Millisecond
)

// errNoWriter is returned for a pipe that has nothing to read. To wait for it would be
// to wait for ever.
var errNoWriter = errors.New("it is a pipe, and nobody writes to it")

// open opens a file. To open a named pipe does not wait for a writer.
func open(path string) (*os.File, error) {
	flags := os.O_RDONLY
	if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		flags |= nonBlocking
	}
	return os.OpenFile(path, flags, 0)
}

// pipe reads a named pipe that open has opened, within writerTime and silence.
type pipe struct {
	*os.File
	since time.Time // it was opened
	begun bool      // something was read
}

func (p *pipe) Read(b []byte) (int, error) {
	for {
		_ = p.SetReadDeadline(time.Now().Add(silence)) // no error that matters: then it waits
		n, err := p.File.Read(b)
		p.begun = p.begun || n > 0
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return n, &fs.PathError{Op: "read", Path: p.Name(), Err: fmt.Errorf("it is a pipe, and nothing was written to it for %v", silence)}
		case !errors.Is(err, io.EOF) || p.begun:
			return n, err
		case time.Since(p.since) > writerTime:
			return n, &fs.PathError{Op: "read", Path: p.Name(), Err: errNoWriter}
		}
		time.Sleep(lookAgain) // who writes may not have opened it yet
	}
}
