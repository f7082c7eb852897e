//go:build unix

package cli_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// watched is `mcpgraph serve` as a process over stdio, and what it writes.
type watched struct {
	*testing.T
	cmd      *exec.Cmd
	in       io.WriteCloser
	messages chan value.Value

	mu     sync.Mutex
	stderr strings.Builder
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stderr.Write(b)
}

func (w *watched) said() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stderr.String()
}

// until waits for a text on stderr, from the n-th byte on.
func (w *watched) until(n int, text string) {
	w.Helper()
	for end := time.Now().Add(2 * time.Minute); !strings.Contains(w.said()[n:], text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("stderr does not say %q but\n%s", text, w.said()[n:])
		}
	}
}

func serveWatched(t *testing.T, args ...string) *watched {
	t.Helper()
	w := &watched{T: t, messages: make(chan value.Value, 100)}
	w.cmd = exec.Command("mcpgraph", append([]string{"serve"}, args...)...)
	w.cmd.Stderr = w
	in, err := w.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.in = in
	t.Cleanup(func() { _ = w.cmd.Process.Kill() })
	go func() {
		defer close(w.messages)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			v, err := value.Parse(lines.Text())
			if err != nil {
				t.Errorf("stdout has %q", lines.Text())
			}
			w.messages <- v
		}
	}()
	w.ask(`"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	w.ask(`"ping"`) // so that this has been taken
	return w
}

func (w *watched) send(line string) {
	w.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.Fatal(err)
	}
}

// next returns the next message, which has to come.
func (w *watched) next() value.Value {
	w.Helper()
	select {
	case v, ok := <-w.messages:
		if !ok {
			w.Fatalf("the server has ended:\n%s", w.said())
		}
		return v
	case <-time.After(2 * time.Minute):
		w.Fatalf("no message comes; stderr:\n%s", w.said())
	}
	return value.Undef
}

func (w *watched) ask(method string) value.Value {
	w.Helper()
	w.send(`{"jsonrpc":"2.0","id":1,"method":` + method + `}`)
	v := w.next()
	if !v.Has("id") {
		w.Fatalf("before an answer came %s", v.JSON())
	}
	return v.Get("result")
}

// tools checks that the client is told of a change, and which tools it then
// finds.
func (w *watched) tools(want string) {
	w.Helper()
	if v := w.next(); v.Get("method").Str() != "notifications/tools/list_changed" {
		w.Fatalf("got %s", v.JSON())
	}
	var names []string
	for _, t := range w.ask(`"tools/list"`).Get("tools").Elems() {
		names = append(names, t.Get("name").Str())
	}
	if got := strings.Join(names, " "); got != want {
		w.Errorf("the tools are %q, not %q", got, want)
	}
}

func (w *watched) ended() {
	w.Helper()
	w.in.Close()
	for v := range w.messages {
		w.Errorf("at its end the server wrote %s", v.JSON())
	}
	if err := w.cmd.Wait(); err != nil {
		w.Errorf("serve: %v\n%s", err, w.said())
	}
}

func toolsFile(names ...string) string {
	text := "version: \"1.0\"\nserver: {name: t, version: \"1\"}\ntools:\n"
	for _, name := range names {
		text += fmt.Sprintf("  - {name: %s, description: d, inputSchema: {type: object}, nodes: [{id: a, type: entry, next: b}, {id: b, type: exit}]}\n", name)
	}
	return text
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestWatchFollowsTheLockFile writes a lock file beside a file that is served, and
// then a broken one.
func TestWatchFollowsTheLockFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tools.yaml")
	put(t, path, toolsFile("one"))
	w := serveWatched(t, path, "--watch")
	put(t, lock.Path(path), string((&lock.File{}).Encode()))
	w.tools("one")
	if a := w.ask(`"tools/list"`).Get("tools").Elems()[0].Get("annotations"); !a.Get("readOnlyHint").Bool() {
		t.Errorf("the annotations are %s", a.JSON())
	}
	n := len(w.said())
	put(t, lock.Path(path), "{}")
	w.until(n, "still serving the previous version")
	w.ended()
}

func TestWatchServesWhatTheFileNowSays(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tools.yaml")
	put(t, path, toolsFile("one"))
	w := serveWatched(t, path, "--watch")

	put(t, path, toolsFile("one", "written"))
	w.tools("one written")

	// As editors do.
	replace := func(text string) {
		t.Helper()
		put(t, path+"~", text)
		if err := os.Rename(path+"~", path); err != nil {
			t.Fatal(err)
		}
	}
	replace(toolsFile("renamed"))
	w.tools("renamed")
	w.until(0, "tools.added=renamed tools.removed=\"one written\"")

	// A file with errors changes nothing, and is shown with its place.
	n := len(w.said())
	put(t, path, strings.Replace(toolsFile("broken"), "next: b", "next: c", 1))
	w.until(n, "still serving the previous version")
	if said := w.said()[n:]; !strings.Contains(said, "tools.yaml:4:") || !strings.Contains(said, "^") {
		t.Errorf("the diagnostics are\n%s", said)
	}
	put(t, path, toolsFile("mended"))
	w.tools("mended")

	w.until(n, "tools.added=mended")

	// What holds the same is no change.
	n = len(w.said())
	replace(toolsFile("mended"))
	if err := os.Chtimes(path, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(filepath.Dir(path), "other.yaml"), "x")
	replace(toolsFile("mended", "more"))
	w.tools("mended more")
	w.until(n, "tools.added=more")
	if got := strings.Count(w.said()[n:], "reloaded the file"); got != 1 {
		t.Errorf("the file reloaded the file %d times, not once:\n%s", got, w.said()[n:])
	}
	w.ended()
}

// As Kubernetes does it with the files of a ConfigMap.
func TestWatchFollowsSymbolicLinksThatAreSwapped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	version := func(name string, tools ...string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, name, "tools.yaml"), toolsFile(tools...))
		if err := os.Symlink(name, filepath.Join(dir, "..tmp")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "..tmp"), filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	version("..1", "one")
	path := filepath.Join(dir, "tools.yaml")
	if err := os.Symlink(filepath.Join("..data", "tools.yaml"), path); err != nil {
		t.Fatal(err)
	}
	w := serveWatched(t, path, "--watch")
	version("..2", "two")
	w.tools("two")
	if err := os.RemoveAll(filepath.Join(dir, "..1")); err != nil {
		t.Fatal(err)
	}
	version("..3", "three")
	w.tools("three")
	put(t, filepath.Join(dir, "..3", "tools.yaml"), toolsFile("four"))
	w.tools("four")
	w.ended()
}

func TestWatchFollowsFilesThatANewFileNames(t *testing.T) {
	t.Parallel()
	path, callers := filepath.Join(t.TempDir(), "tools.yaml"), filepath.Join(t.TempDir(), "callers")
	put(t, callers, "ann a-token-of-ann-1234\n")
	put(t, path, toolsFile("one"))
	w := serveWatched(t, path, "--watch")
	put(t, path, strings.Replace(toolsFile("two"), `version: "1"}`, `version: "1", auth: {type: bearer, tokensFile: `+callers+`}}`, 1))
	w.tools("two")
	w.until(0, "reloaded the file")
	n := len(w.said())
	put(t, callers, "bob a-token-of-bob-1234\n")
	w.until(n, "reloaded the file")
	w.ended()
}

func TestSIGHUPReadsTheFileAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, others := filepath.Join(dir, "tools.yaml"), filepath.Join(dir, "mcp.json")
	put(t, path, toolsFile("one"))
	put(t, others, `{"mcpServers":{"x":{"command":"none"}}}`)
	w := serveWatched(t, path, "--mcp", others)
	put(t, path, toolsFile("two"))
	hangUp := func() {
		t.Helper()
		if err := w.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	hangUp()
	w.tools("two")
	put(t, path, "version: 2")
	n := len(w.said())
	hangUp()
	w.until(n, "still serving the previous version")
	put(t, path, toolsFile("two"))
	n = len(w.said())
	hangUp() // the list is the same: there is nothing to tell
	w.until(n, "reloaded the file")
	if got := w.ask(`"tools/call","params":{"name":"two"}`); got.Get("isError").Bool() {
		t.Errorf("the tool answers %s", got.JSON())
	}
	w.ended()
}
