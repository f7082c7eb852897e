// Package boundedfile reads files that people write, up to a size that none of them
// has. What is longer is a mistake, such as a device that never ends.
package boundedfile

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// MaxBytes is how much [Read] and [ReadAll] read.
const MaxBytes = 64 << 20

// TooLongError is returned for what is longer than its limit, in bytes.
type TooLongError struct{ Limit int64 }

// Error names the limit.
func (e *TooLongError) Error() string {
	if mib := e.Limit >> 20; mib<<20 == e.Limit {
		return fmt.Sprintf("it is longer than %d MiB", mib)
	}
	return fmt.Sprintf("it is longer than %d bytes", e.Limit)
}

// Read is os.ReadFile for files of up to MaxBytes. A longer one is an *fs.PathError
// with a *TooLongError. A named pipe to which nobody writes within 2 seconds, or not for
// a minute, is an *fs.PathError.
func Read(path string) ([]byte, error) { return ReadUpTo(path, MaxBytes) }

// ReadUpTo is Read with a limit of its own, in bytes.
func ReadUpTo(path string, limit int64) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := int64(0) // unknown, as that of a pipe is
	from := io.Reader(f)
	if info, err := f.Stat(); err == nil {
		if size = info.Size(); info.Mode()&fs.ModeNamedPipe != 0 {
			size, from = 0, &pipe{File: f, since: time.Now()}
		}
	}
	if size > limit {
		return nil, tooLong(path, limit)
	}
	text, err := upTo(from, size, limit)
	if _, long := err.(*TooLongError); long {
		return nil, tooLong(path, limit)
	}
	return text, err
}

func tooLong(path string, limit int64) error {
	return &fs.PathError{Op: "read", Path: path, Err: &TooLongError{limit}}
}

// ReadAll is io.ReadAll for up to MaxBytes. If there is more, the error is a
// *TooLongError.
func ReadAll(r io.Reader) ([]byte, error) { return upTo(r, 0, MaxBytes) }

// upTo reads a text of about size bytes.
func upTo(r io.Reader, size, limit int64) ([]byte, error) {
	var text bytes.Buffer
	text.Grow(int(size) + bytes.MinRead) // the end is found without growing
	if _, err := text.ReadFrom(io.LimitReader(r, limit+1)); err != nil {
		return nil, err
	}
	if int64(text.Len()) > limit {
		return nil, &TooLongError{limit}
	}
	return text.Bytes(), nil
}
