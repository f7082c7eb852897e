package upstream

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

const (
	tailLines    = 100     // of stderr kept
	tailLineSize = 4 << 10 // bytes of a line kept
)

// diary is what a link saw of its server beside messages, without secrets.
type diary struct {
	redact *redactor
	log    *slog.Logger
	budget *memory.Budget // of what the link reads

	mu     sync.Mutex
	lines  []string // the last ones on stderr, a ring once it is full
	next   int
	odd    int    // how many things that are not JSON-RPC the server wrote
	oddest string // the latest of them
}

// drain reads r to its end. It never stops before: a full pipe would block the
// server.
func (d *diary) drain(r io.Reader) {
	// The buffer is larger than what is kept, so that a secret is whole when
	// it is looked for.
	lines := bufio.NewReaderSize(r, 4*tailLineSize)
	for {
		line, err := lines.ReadSlice('\n')
		if text := strings.TrimRight(string(line), "\r\n"); text != "" {
			d.add(text)
		}
		for err == bufio.ErrBufferFull {
			_, err = lines.ReadSlice('\n')
		}
		if err != nil {
			return
		}
	}
}

func (d *diary) add(line string) {
	line = d.redact.text(line)
	if bare := printed(line); bare != line {
		line = d.redact.text(bare) // colours may have stood within a secret
	}
	if len(line) > tailLineSize {
		line = strings.ToValidUTF8(line[:tailLineSize], "") + " …"
	}
	d.mu.Lock()
	if len(d.lines) < tailLines {
		d.lines = append(d.lines, line)
	} else {
		d.lines[d.next] = line
		d.next = (d.next + 1) % tailLines
	}
	d.mu.Unlock()
	d.log.Debug("stderr of the server", "line", line)
}

// sequences are what terminals obey: colours, movements, titles (ECMA-48).
var sequences = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])")

// printed returns a line as it looks, so that it does nothing to the terminal
// on which it is shown.
func printed(line string) string {
	if strings.IndexFunc(line, unicode.IsControl) < 0 {
		return line
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return -1
		}
		return r
	}, sequences.ReplaceAllString(line, ""))
}

// last returns the lines kept, oldest first.
func (d *diary) last() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append(append([]string(nil), d.lines[d.next:]...), d.lines[:d.next]...)
}

// wrong notes something that the server should not have written. Only the
// first is worth a warning: the others will be like it.
func (d *diary) wrong(what string) {
	what = d.redact.text(what)
	d.mu.Lock()
	d.odd++
	d.oddest = what
	first := d.odd == 1
	d.mu.Unlock()
	level := slog.LevelDebug
	if first {
		level = slog.LevelWarn
	}
	d.log.Log(context.Background(), level, "the server wrote something that is not JSON-RPC", "what", what)
}

// oddities returns how many things that are not JSON-RPC the server wrote so
// far, and the latest of them.
func (d *diary) oddities() (int, string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.odd, d.oddest
}
