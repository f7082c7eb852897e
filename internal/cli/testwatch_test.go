//go:build unix

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestWatchRunsTestsAgain(t *testing.T) {
	folder := t.TempDir()
	tools, tests, tape := filepath.Join(folder, "tools.yaml"), filepath.Join(folder, "tools.test.yaml"), filepath.Join(folder, "tape.jsonl")
	put(t, tools, againTools)
	const test = "tests: [{name: a, tool: greet, arguments: {name: x}, cassette: tape.jsonl, expect: {result: {hello: x, from: 7, end: 1}}}]\n"
	const exchange = `{"arguments":{},"reply":{"content":[],"structuredContent":{"pid":7}},"server":"fake","tool":"process"}` + "\n"
	put(t, tests, test)
	put(t, tape, exchange)
	w := &watched{T: t}
	w.cmd = exec.Command("mcpgraph", "test", "--watch")
	w.cmd.Dir, w.cmd.Stdout, w.cmd.Stderr = folder, w, w
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.cmd.Process.Kill() })
	const waiting = "waiting for changes; press Ctrl-C to end\n"
	at := 0
	step := func(path, text, says string) {
		t.Helper()
		if path != "" {
			put(t, path, text)
		}
		w.until(at, waiting)
		if said := w.said()[at:]; !strings.Contains(said, says) {
			t.Errorf("it does not say %q but\n%s", says, said)
		}
		if said := w.said()[at:]; strings.Contains(said, "exit code") {
			t.Errorf("it says\n%s", said)
		}
		at += strings.Index(w.said()[at:], waiting) + len(waiting)
	}
	step("", "", "1 passed")
	step(tests, strings.Replace(test, "end: 1", "end: 2", 1), "\n  -end: 2\n  +end: 1\n")
	step(tools, strings.Replace(againTools, `"end": 1`, `"end": 2`, 1), "1 passed")
	step(tape, strings.Replace(exchange, "7", "8", 1), "from: 8")
	step(tape, exchange, "1 passed")
	step(filepath.Join(folder, "more.test.yaml"), "config: tools.yaml\n"+strings.Replace(test, "end: 1", "end: 2", 1), "2 passed")
	// A snapshot that something else writes is read again.
	more := "config: tools.yaml\n" + strings.Replace(test, "expect: {", "expect: {snapshot: true, ", 1)
	more = strings.Replace(more, "end: 1", "end: 2", 1)
	step(filepath.Join(folder, "more.test.yaml"), more, "no snapshot")
	update := exec.Command("mcpgraph", "test", "--update")
	update.Dir = folder
	if said, err := update.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	step("", "", "2 passed")
	snapshots, err := filepath.Glob(filepath.Join(folder, "__snapshots__", "*"))
	if err != nil || len(snapshots) != 1 {
		t.Fatalf("%v, %v", snapshots, err)
	}
	kept, err := os.ReadFile(snapshots[0])
	if err != nil {
		t.Fatal(err)
	}
	step(snapshots[0], strings.ReplaceAll(string(kept), `"end": 2`, `"end": 3`), "1 failed")
	step(snapshots[0], string(kept), "2 passed")
	if err := w.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Wait(); shellCode(w.cmd) != 130 {
		t.Errorf("it ended with %v:\n%s", err, w.said())
	}
}
