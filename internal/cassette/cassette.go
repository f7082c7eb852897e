// Package cassette keeps what upstream servers answered in a file, and answers from
// it later in their place.
//
// A cassette is a file of JSON lines, made for review in a diff: one line for each
// exchange, in the order of the calls. The keys of a line are sorted; arguments and
// replies keep the order of theirs. Secrets are replaced, and there are no times.
//
//	{"arguments":{"path":"/srv"},"reply":{"content":[]},"server":"files","test":"counts","tool":"list"}
//	{"arguments":{},"failure":"503","message":"it answered HTTP 503","server":"web","test":"counts","tool":"get"}
//
// A file of one call (mcpgraph run --record) begins with the call itself:
//
//	{"arguments":{"directory":"/srv"},"config":"count.yaml","run":"count_files"}
package cassette

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/atomicfile"
	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// MaxBytes bounds a cassette.
const MaxBytes = 64 << 20

// Cassette is the content of a file. It is not changed by those who play it.
type Cassette struct {
	Path string
	Run  *Run // nil unless the file is of one call
	// Exchanges are in the order of the calls.
	Exchanges []Exchange
}

// Run is the call that a cassette was recorded from.
type Run struct {
	Config    string // path of the configuration, relative to the cassette, with slashes
	Tool      string
	Arguments value.Value
}

// Read reads a file. Errors name the file and, if its content is wrong, the line.
func Read(path string) (*Cassette, error) {
	text, err := boundedfile.ReadUpTo(path, MaxBytes)
	if err != nil {
		return nil, err
	}
	return Parse(path, string(text))
}

// Parse reads the text of a file, whose path is for messages.
func Parse(path, text string) (*Cassette, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("%s is no cassette: it is longer than %d bytes", path, MaxBytes)
	}
	c := &Cassette{Path: path}
	n := 0
	for line := range strings.Lines(text) {
		if n++; strings.TrimSpace(line) == "" {
			continue
		}
		if err := c.add(line, n); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	return c, nil
}

// Text returns the content of the file.
func (c *Cassette) Text() []byte {
	var b bytes.Buffer
	if c.Run != nil {
		b.Write(c.Run.line())
	}
	for i := range c.Exchanges {
		b.Write(c.Exchanges[i].line())
	}
	return b.Bytes()
}

// Replace replaces the exchanges of a test by others, which take the place of the
// first of them. The exchanges of a test that the file does not have come last.
func (c *Cassette) Replace(test string, exchanges []Exchange) {
	at := slices.IndexFunc(c.Exchanges, func(x Exchange) bool { return x.Test == test })
	if at < 0 {
		at = len(c.Exchanges)
	}
	kept := slices.DeleteFunc(slices.Clone(c.Exchanges), func(x Exchange) bool { return x.Test == test })
	for i := range exchanges {
		exchanges[i].Test = test
	}
	c.Exchanges = slices.Insert(kept, at, exchanges...)
}

// Keep drops the exchanges of tests for which keep returns false.
func (c *Cassette) Keep(keep func(test string) bool) {
	c.Exchanges = slices.DeleteFunc(slices.Clone(c.Exchanges), func(x Exchange) bool { return !keep(x.Test) })
}

// Write replaces the file as a whole: it has the old content or the new one, never
// half of it. A new file can be read by everybody, as far as the umask lets it.
func (c *Cassette) Write() error { return c.write(MaxBytes) }

func (c *Cassette) write(limit int) error {
	text := c.Text()
	if len(text) > limit {
		return fmt.Errorf("the recording takes %d bytes; a cassette may take %d", len(text), limit)
	}
	return atomicfile.Write(c.Path, text, 0o644)
}
