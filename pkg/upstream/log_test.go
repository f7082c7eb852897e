package upstream

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// logBuffer keeps what was logged, at every level.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logBuffer) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Of a long log message our log has the start, without the start of a secret.
func TestLongLogMessagesAreCut(t *testing.T) {
	t.Parallel()
	const secret = "swordfish-swordfish"
	var log logBuffer
	p := start(t, Options{Dial: dialScript(mcptest.Script{}), Log: log.logger()}, &config.Upstream{Name: "fake", Secrets: []string{secret}})
	start := strings.Repeat("x", maxQueuedLog-len(`{"data":"`)-len(secret)/2)
	mustCall(t, p, "notify", `{"method":"notifications/message","result":{"data":"`+start+secret+strings.Repeat("y", 1<<20)+`"}}`)
	eventually(t, "the message", func() bool { return strings.Contains(log.String(), "log message from the server") })
	if text := log.String(); len(text) > 2*maxQueuedLog || strings.Contains(text, "swordf") || !strings.Contains(text, "bytes)") {
		t.Errorf("%d bytes: …%s", len(text), text[max(0, len(text)-200):])
	}
}
