package audit

import (
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

const (
	retryTime   = time.Second      // until a file that cannot be written is opened again
	logInterval = 10 * time.Second // until that it cannot be written is logged again
)

// Log is where records go. Each is written before its request is answered. It is
// safe for concurrent use.
//
// A file that cannot be written stops no call: its records go to the other writer,
// and an error is logged, until it can be written again.
type Log struct {
	path  string // empty: there is no file
	other io.Writer
	log   *slog.Logger

	mu          sync.Mutex
	file        *os.File // nil if it could not be opened
	partialLine bool     // its last line is not whole
	retry       time.Time
	nextLog     time.Time
	lost        int // records that went to other since the file could be written
}

// To returns a Log that writes to w.
func To(w io.Writer) *Log { return &Log{other: w} }

// Open returns a Log that appends to a file, which is made with the mode 0600
// if it is not there. What cannot be written to it is written to other, and the
// error is logged to log.
func Open(path string, other io.Writer, log *slog.Logger) (*Log, error) {
	file, err := open(path)
	if err != nil {
		return nil, err
	}
	return &Log{path: path, other: other, log: log, file: file}, nil
}

func open(path string) (*os.File, error) {
	// Opening a named pipe would wait for its reader.
	if at, err := os.Stat(path); err == nil && at.Mode().Type()&fs.ModeNamedPipe != 0 {
		return nil, fmt.Errorf("%s is a named pipe; expected a file", path)
	}
	return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}

// Reopen opens the file again by its path, after it was moved away (log rotation).
// If that fails, the Log goes on with the file that it has.
func (l *Log) Reopen() error {
	if l.path == "" {
		return nil
	}
	file, err := open(l.path)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Close() // every record was written by now
	}
	l.file, l.partialLine = file, false
	return nil
}

// Close closes the file. What is written afterwards goes to the other writer.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file, l.path = nil, ""
	return err
}

func (l *Log) write(r Record) {
	line := r.line()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.path == "" {
		_, _ = l.other.Write(line) // there is nowhere else to say that it failed
		return
	}
	if err := l.append(line); err != nil {
		l.failed(line, err)
		return
	}
	if l.lost > 0 {
		l.log.Info("writing the audit log to its file again", "file", l.path, "onStderr", l.lost)
		l.lost, l.nextLog = 0, time.Time{}
	}
}

// append writes a line to the file, which is opened again if it has failed.
func (l *Log) append(line []byte) (err error) {
	if l.lost > 0 || l.file == nil {
		if time.Now().Before(l.retry) {
			return errNotYet
		}
		l.retry = time.Now().Add(retryTime)
		file, err := open(l.path)
		if err != nil {
			return err
		}
		if l.file != nil {
			_ = l.file.Close()
		}
		l.file = file
	}
	if l.partialLine {
		line = append([]byte{'\n'}, line...)
	}
	n, err := l.file.Write(line)
	switch {
	case n == len(line):
		l.partialLine = false
	case n > 0 && !takeBack(l.file, int64(n)):
		l.partialLine = true
	}
	return err
}

// takeBack removes the n bytes from a file that were written last: a part of a line, of
// which a full disk took no more. It reports false if it cannot, as after another process
// has written behind them.
func takeBack(f *os.File, n int64) bool {
	end, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Size() == end && f.Truncate(end-n) == nil
}

// errNotYet is why a file that has failed is not tried again.
var errNotYet = fmt.Errorf("retried every %v", retryTime)

// failed writes a line that the file did not take.
func (l *Log) failed(line []byte, err error) {
	if _, e := l.other.Write(line); e != nil {
		err = fmt.Errorf("%w; and to stderr: %w", err, e)
	}
	if l.lost == 0 {
		l.retry = time.Now().Add(retryTime)
	}
	l.lost++
	if now := time.Now(); err != errNotYet && now.After(l.nextLog) {
		l.nextLog = now.Add(logInterval)
		l.log.Error("cannot write the audit log to its file; writing to stderr instead", "file", l.path, "error", err)
	}
}
