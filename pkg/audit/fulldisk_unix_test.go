//go:build unix

package audit

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fullDiskVariable makes the test binary write records to the file that it names, of
// which the system takes no more than 1,000 bytes.
const fullDiskVariable = "AUDIT_TEST_FULL_DISK"

func TestMain(m *testing.M) {
	if path := os.Getenv(fullDiskVariable); path != "" {
		os.Exit(fillDisk(path))
	}
	os.Exit(m.Run())
}

func fillDisk(path string) int {
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1000, Max: 1000}); err != nil {
		return 3
	}
	l, err := Open(path, os.Stdout, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		return 4
	}
	for range 20 {
		l.retry = l.retry.AddDate(-1, 0, 0) // as if the time to try again had come
		record(l, "tool")
	}
	return 0
}

// A full disk takes whole lines or none: the others are where the program is told to
// write them then.
func TestAFullDiskLeavesWholeLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fullDiskVariable+"="+path)
	other, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(file), "\n")
	if len(lines) < 3 || lines[len(lines)-1] != "" || len(file)+len(lines[0]) <= 1000 {
		t.Fatalf("the file has %d bytes: %q", len(file), file)
	}
	lines = append(lines[:len(lines)-1], strings.SplitAfter(strings.TrimSuffix(string(other), "\n"), "\n")...)
	if len(lines) != 20 {
		t.Errorf("there are %d lines, want 20", len(lines))
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("not a whole line: %q", line)
		}
	}
}
