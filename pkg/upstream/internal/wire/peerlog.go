package wire

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
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
)

const (
	tailLines    = 100     // of stderr kept
	tailLineSize = 4 << 10 // bytes of a line kept
)

// PeerLog is what a link saw of its server beside messages, without secrets.
type PeerLog struct {
	Redact *redact.Redactor
	Log    *slog.Logger
	Budget *memory.Budget // of what the link reads

	mu     sync.Mutex
	lines  []string // the last ones on stderr, a ring once it is full
	next   int
	count  int    // how many things that are not JSON-RPC the server wrote
	latest string // the latest of them
}

// drain reads r to its end. It never stops before: a full pipe would block the
// server.
func (log *PeerLog) drain(r io.Reader) {
	// The buffer is larger than what is kept, so that a secret is whole when
	// it is looked for.
	lines := bufio.NewReaderSize(r, 4*tailLineSize)
	for {
		line, err := lines.ReadSlice('\n')
		if text := strings.TrimRight(string(line), "\r\n"); text != "" {
			log.add(text)
		}
		for err == bufio.ErrBufferFull {
			_, err = lines.ReadSlice('\n')
		}
		if err != nil {
			return
		}
	}
}

func (log *PeerLog) add(line string) {
	line = log.Redact.Text(line)
	if bare := printed(line); bare != line {
		line = log.Redact.Text(bare) // colours may have stood within a secret
	}
	if len(line) > tailLineSize {
		line = strings.ToValidUTF8(line[:tailLineSize], "") + " …"
	}
	log.mu.Lock()
	if len(log.lines) < tailLines {
		log.lines = append(log.lines, line)
	} else {
		log.lines[log.next] = line
		log.next = (log.next + 1) % tailLines
	}
	log.mu.Unlock()
	log.Log.Debug("stderr of the server", "line", line)
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

// Stderr returns the lines kept, oldest first.
func (log *PeerLog) Stderr() []string {
	log.mu.Lock()
	defer log.mu.Unlock()
	return append(append([]string(nil), log.lines[log.next:]...), log.lines[:log.next]...)
}

// unexpected notes something that the server should not have written. Only the
// first is worth a warning: the others will be like it.
func (log *PeerLog) unexpected(what string) {
	what = log.Redact.Text(what)
	log.mu.Lock()
	log.count++
	log.latest = what
	first := log.count == 1
	log.mu.Unlock()
	level := slog.LevelDebug
	if first {
		level = slog.LevelWarn
	}
	log.Log.Log(context.Background(), level, "the server wrote something that is not JSON-RPC", "what", what)
}

// Unexpected returns how many things that are not JSON-RPC the server wrote so
// far, and the latest of them.
func (log *PeerLog) Unexpected() (int, string) {
	log.mu.Lock()
	defer log.mu.Unlock()
	return log.count, log.latest
}
