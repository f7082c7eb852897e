// Package framing guards programs against messages with headers, as the Language Server
// Protocol and the Debug Adapter Protocol have them, that nobody sensible sends.
package framing

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxHeader is how long a line of a header may be, in bytes.
const maxHeader = 4 << 10

// Guard passes on what the framing of the library reads, and leaves out what
// would make it allocate without bounds or lose its place: headers without a
// sensible length, lines that are no headers, and messages that are too long.
type Guard struct {
	in      *bufio.Reader
	limit   int64  // bytes of a message
	pending []byte // of the header, to be passed on
	body    int64  // bytes of the message that are still to be passed on
	report  func(problem string)
	err     error // of in
}

// New returns a Guard of messages up to so many bytes. report is told what is left out.
func New(in io.Reader, limit int64, report func(problem string)) *Guard {
	return &Guard{in: bufio.NewReaderSize(in, maxHeader), limit: limit, report: report}
}

// Err returns why Read ended, nil if it has not. What reads from the Guard may end for
// other reasons.
func (g *Guard) Err() error { return g.err }

// Read implements io.Reader.
func (g *Guard) Read(p []byte) (int, error) {
	for len(g.pending) == 0 && g.body == 0 {
		if err := g.header(); err != nil {
			g.err = err
			return 0, err
		}
	}
	if n := copy(p, g.pending); n > 0 {
		g.pending = g.pending[n:]
		return n, nil
	}
	n, err := g.in.Read(p[:min(int64(len(p)), g.body)])
	g.body -= int64(n)
	if err != nil {
		g.err = err
	}
	return n, err
}

// header reads a header. It leaves nothing to pass on if that makes no sense.
func (g *Guard) header() error {
	length := int64(-1)
	for {
		line, err := g.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = g.in.ReadSlice('\n')
			}
			if err == nil {
				g.report("a line of a header is too long")
				continue
			}
		}
		if err != nil {
			return err
		}
		text := strings.TrimSpace(string(line))
		if text == "" {
			break
		}
		name, v, ok := strings.Cut(text, ":")
		if !ok || strings.ContainsAny(name, " \t{\"") {
			g.report("a line is not the header of a message")
			continue
		}
		if strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.ParseInt(strings.TrimSpace(v), 10, 64); err != nil || length < 0 {
				g.report("the length of a message is not a number")
				length = -1
			}
		}
	}
	switch {
	case length < 0:
		return nil
	case length > g.limit:
		g.report(fmt.Sprintf("a message of %d bytes is left out; the limit is %d", length, g.limit))
		_, err := io.CopyN(io.Discard, g.in, length)
		return err
	}
	g.pending, g.body = []byte("Content-Length: "+strconv.FormatInt(length, 10)+"\r\n\r\n"), length
	return nil
}
