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

// again is `mcpgraph run --watch` as a process; both its streams are one text.
func again(t *testing.T, folder string, args ...string) *watched {
	t.Helper()
	w := &watched{T: t}
	w.cmd = exec.Command("mcpgraph", append([]string{"run", "tools.yaml", "greet", "--watch"}, args...)...)
	w.cmd.Dir, w.cmd.Stdout, w.cmd.Stderr = folder, w, w
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.cmd.Process.Kill() })
	return w
}

const againTools = `version: "1.0"
server: {name: t, version: "1"}
mcpServers: {fake: {command: fakeserver}}
tools:
  - name: greet
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: who}
      - {id: who, type: mcp, server: fake, tool: process, next: say}
      - {id: say, type: transform, transform: {expr: '{"hello": $.entry.name, "from": $.who.pid, "end": 1}'}, next: exit}
      - {id: exit, type: exit}
`

func TestRunAgainShowsWhatBecameDifferent(t *testing.T) {
	folder := t.TempDir()
	tools, args := filepath.Join(folder, "tools.yaml"), filepath.Join(folder, "args.json")
	put(t, tools, againTools)
	put(t, args, `{"name": "a"}`)
	w := again(t, folder, "--args", "@args.json")
	const waiting = "waiting for changes of tools.yaml, args.json; Ctrl-C ends this\n"
	at := 0
	step := func(path, text string, says ...string) string {
		t.Helper()
		if path != "" {
			put(t, path, text)
		}
		// One write may be seen as two changes; the second one changes nothing.
		end := at
		for _, one := range append(says, waiting) {
			w.until(end, one)
			end += strings.Index(w.said()[end:], one) + len(one)
		}
		said := w.said()[at:end]
		at = end
		return said
	}
	step("", "", "{\n  \"hello\": \"a\",\n")
	said := step(args, `{"name": "b"}`, "--- before\n+++ now\n", "\n-  \"hello\": \"a\",\n+  \"hello\": \"b\",\n")
	if strings.Count(said, "\n-") != 1 { // the server goes on, so its process is the same
		t.Errorf("%s", said)
	}
	step(tools, againTools+"  nonsense: [\n", "tools.yaml:", "error", "tools.yaml has errors")
	step(tools, strings.Replace(againTools, `"end": 1`, `"end": 2`, 1), "-  \"end\": 1\n", "+  \"end\": 2\n")
	step(args, `{"name": 5`, "mcpgraph: args.json: not JSON")
	step(args, `{"name": "b" }`, "the result is the same\n")
	if err := w.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Wait(); shellCode(w.cmd) != 130 {
		t.Errorf("it ended with %v:\n%s", err, w.said())
	}
}

func TestRunAgainWaitsForTheFile(t *testing.T) {
	folder := t.TempDir()
	w := again(t, folder, "--node", "say", "--context", "context.json")
	const waiting = "waiting for changes"
	w.until(0, waiting)
	at := len(w.said())
	put(t, filepath.Join(folder, "context.json"), `{"entry": {"name": "x"}}`)
	w.until(at, waiting)
	at = len(w.said())
	put(t, filepath.Join(folder, "tools.yaml"), againTools)
	w.until(at, waiting)
	w.until(at, `"hello": "x"`)
	w.until(at, `"next": "exit"`)
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Wait(); shellCode(w.cmd) != 143 {
		t.Errorf("it ended with %v:\n%s", err, w.said())
	}
}

func TestRunAgainHeedsTheLockFile(t *testing.T) {
	folder := t.TempDir()
	put(t, filepath.Join(folder, "tools.yaml"), againTools)
	w := again(t, folder, "--arg", "name=a")
	w.until(0, "waiting for changes of tools.yaml; Ctrl-C")
	at := len(w.said())
	locking := exec.Command("mcpgraph", "lock", "tools.yaml")
	locking.Dir = folder
	if said, err := locking.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	const waiting = "waiting for changes of tools.yaml, tools.lock.json; Ctrl-C"
	w.until(at, waiting)
	at = len(w.said())
	path := filepath.Join(folder, "tools.lock.json")
	locked, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, strings.ReplaceAll(string(locked), `"process"`, `"procession"`))
	w.until(at, "it was changed by hand")
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Wait(); shellCode(w.cmd) != 143 {
		t.Errorf("it ended with %v:\n%s", err, w.said())
	}
}
