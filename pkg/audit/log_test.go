package audit

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/server"
)

func record(l *Log, tool string) {
	l.Observe(&server.Request{Method: "tools/call", Tool: tool, Info: callinfo.Info{Caller: "ann"}})(server.Outcome{})
}

func TestRecordsOfAFileThatCannotBeWrittenGoElsewhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	var other, log bytes.Buffer
	l, err := Open(path, &other, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	record(l, "first")
	if err := l.file.Close(); err != nil { // every write fails from here on
		t.Fatal(err)
	}
	record(l, "second")
	record(l, "third")
	if got := other.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, `"tool":"second"`) || !strings.Contains(got, `"tool":"third"`) {
		t.Errorf("the other writer has %s", got)
	}
	if got := log.String(); strings.Count(got, "cannot write the audit log") != 1 {
		t.Errorf("the log has %s", got)
	}
	l.retry = time.Time{} // time passes
	record(l, "fourth")
	if !strings.Contains(log.String(), "writing the audit log to its file again") || !strings.Contains(log.String(), "onStderr=2") {
		t.Errorf("the log has %s", log.String())
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if got := string(text); err != nil || strings.Count(got, "\n") != 2 || !strings.Contains(got, "first") || !strings.Contains(got, "fourth") {
		t.Errorf("the file has %s", got)
	}
}

// TestALineThatIsNotWholeEndsBeforeTheNext is about a disk that becomes full in the
// middle of a record.
func TestALineThatIsNotWholeEndsBeforeTheNext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	l, err := Open(path, &bytes.Buffer{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.file.WriteString(`{"time":`); err != nil {
		t.Fatal(err)
	}
	l.partialLine = true
	record(l, "next")
	record(l, "more")
	text, err := os.ReadFile(path)
	lines := strings.Split(string(text), "\n")
	if err != nil || len(lines) != 4 || lines[0] != `{"time":` || !strings.Contains(lines[1], "next") || !strings.Contains(lines[2], "more") {
		t.Errorf("%v %q", err, text)
	}
	_ = l.Close()
}

func TestRecordsAreBounded(t *testing.T) {
	var out bytes.Buffer
	l := To(&out)
	long := strings.Repeat("é\n\xff", 10_000)
	l.Observe(&server.Request{Method: long, Tool: long, Info: callinfo.Info{Caller: long}, Client: server.Client{Name: long, Version: long}})(server.Outcome{})
	l.Exchanged(context.Background(), server.Exchange{Method: long, Path: long, Status: 404, Reason: "not_found"})
	for line := range strings.Lines(out.String()) {
		if len(line) > 6000 {
			t.Errorf("a record of %d bytes", len(line))
		}
	}
	if strings.Count(out.String(), "\n") != 2 {
		t.Error(out.String())
	}
}

func TestAnAuditLogIsNoPipe(t *testing.T) {
	if _, err := Open(t.TempDir(), nil, nil); err == nil {
		t.Error("a folder was opened")
	}
	if _, err := Open(filepath.Join(t.TempDir(), "no", "such"), nil, nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestOutcomesAreToldApart(t *testing.T) {
	for want, o := range map[string]server.Outcome{
		"ok": {}, "error": {Failed: true}, "cancelled": {Failed: true, Cancelled: true}, "interrupted": {Failed: true, Interrupted: true},
		"input_required": {InputRequired: true}, "internal_error": {Code: -32603},
	} {
		var out bytes.Buffer
		To(&out).Observe(&server.Request{Method: "tools/call"})(o)
		if !strings.Contains(out.String(), `"outcome":"`+want+`"`) {
			t.Errorf("%s: %s", want, out.String())
		}
	}
}
