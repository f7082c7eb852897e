//go:build unix

package cli_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// manyTools is a file that takes seconds to load.
func manyTools(n int) string {
	var b strings.Builder
	b.WriteString("version: \"1.0\"\nserver: {name: t, version: \"1\"}\ntools:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - name: t%d\n    description: d\n    inputSchema: {type: object}\n    nodes:\n"+
			"      - {id: entry, type: entry, next: exit}\n      - {id: exit, type: exit}\n", i)
	}
	return b.String()
}

// slowTools is how many tools that file has.
const slowTools = 40_000

// soon is the time within which a command has to end after a signal. It takes
// milliseconds; a load or a silent pipe would take longer than this.
const soon = 20 * time.Second

// endsSoon checks that the command ends, and how.
func (c *commandProcess) endsSoon(code int, said string) {
	c.Helper()
	select {
	case err := <-c.ended:
		c.exits(err, code)
		if text := c.rest(); !strings.Contains(text, said) {
			c.Errorf("it said %q", text)
		}
	case <-time.After(soon):
		c.Error("the signal did not end it")
	}
}

// pipe makes a named pipe in the folder of the command and returns what opens it for
// writing, when the command has opened it.
func (c *commandProcess) pipe(name string) *os.File {
	c.Helper()
	path := filepath.Join(c.cmd.Dir, name)
	var f *os.File
	for began := time.Now(); f == nil; {
		var err error
		if f, err = os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err != nil && time.Since(began) > soon {
			c.Fatal(err) // nobody reads
		}
	}
	c.Cleanup(func() { f.Close() })
	return f
}

// readers are commands that end when a signal comes while they load pipe.yaml.
var readers = map[string][]string{
	"validate": {"validate", "pipe.yaml"},
	"fmt":      {"fmt", "--check", "pipe.yaml"},
	"lock":     {"lock", "pipe.yaml"},
	"check":    {"lock", "--check", "small.yaml", "--lock", "pipe.yaml"},
	"status":   {"status", "pipe.yaml"},
	"tools":    {"tools", "pipe.yaml"},
}

// startReader starts a command that reads the pipe.
func startReader(t *testing.T, args []string) (*commandProcess, *os.File) {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "small.yaml"), []byte(manyTools(1)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := startIn(t, dir, args)
	return c, c.pipe("pipe.yaml")
}

func TestASignalEndsTheReadingOfAPipe(t *testing.T) {
	for name, args := range readers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := startReader(t, args)
			c.signal(syscall.SIGTERM)
			c.endsSoon(143, "stopped by a signal (terminated)")
		})
	}
}

func TestASignalEndsALoad(t *testing.T) {
	text := manyTools(slowTools)
	for name, args := range readers {
		if name == "check" || name == "tools" {
			continue // they do not load it
		}
		t.Run(name, func(t *testing.T) {
			c, pipe := startReader(t, args)
			if _, err := io.WriteString(pipe, text); err != nil {
				t.Fatal(err)
			}
			pipe.Close()
			c.signal(syscall.SIGTERM)
			c.endsSoon(143, "stopped by a signal (terminated)")
		})
	}
	t.Run("stdin", func(t *testing.T) {
		c := start(t, []string{"validate", "-"}, nil)
		if _, err := io.WriteString(c.in, text); err != nil {
			t.Fatal(err)
		}
		c.in.Close()
		c.signal(syscall.SIGTERM)
		c.endsSoon(143, "stopped by a signal (terminated)")
	})
}

// TestASignalEndsAReload lets serve read a pipe in the place of its file.
func TestASignalEndsAReload(t *testing.T) {
	for name, text := range map[string]string{"a pipe": "", "a load": manyTools(slowTools)} {
		t.Run(name, func(t *testing.T) {
			c := start(t, []string{"serve", "tools.yaml"}, map[string]string{"tools.yaml": manyTools(1)})
			c.callTool("t0")
			path := filepath.Join(c.cmd.Dir, "tools.yaml")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Skip(err)
			}
			c.signal(syscall.SIGHUP)
			// It is read twice: to see whether it has changed, and to load it.
			looked := c.pipe("tools.yaml")
			if text != "" {
				if _, err := io.WriteString(looked, text); err != nil {
					t.Fatal(err)
				}
				looked.Close()
				time.Sleep(10 * time.Millisecond)
				loaded := c.pipe("tools.yaml")
				if _, err := io.WriteString(loaded, text); err != nil {
					t.Fatal(err)
				}
				loaded.Close()
			}
			c.signal(syscall.SIGTERM)
			c.endsSoon(0, "")
		})
	}
}

// TestAReloadThatDoesNotFitIsRefused lets serve read a file that is too large for
// --memory: the one before is still served.
func TestAReloadThatDoesNotFitIsRefused(t *testing.T) {
	c := start(t, []string{"serve", "tools.yaml", "--memory", "64MiB"}, map[string]string{"tools.yaml": manyTools(1)})
	c.callTool("t0")
	if err := os.WriteFile(filepath.Join(c.cmd.Dir, "tools.yaml"), []byte(manyTools(slowTools)), 0o600); err != nil {
		t.Fatal(err)
	}
	c.signal(syscall.SIGHUP)
	line, err := c.log.ReadString('\n')
	if err != nil || !strings.Contains(line, "cannot reload the file; still serving the previous version") || !strings.Contains(line, "raise --memory") {
		t.Fatalf("it said %q (%v)", line, err)
	}
	c.callTool("t0")
	c.in.Close()
	c.endsSoon(0, "")
}

// callTool calls a tool of a server on stdio.
func (c *commandProcess) callTool(name string) {
	c.Helper()
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`+"\n", name); err != nil {
		c.Fatal(err)
	}
	line, err := c.out.ReadString('\n')
	if v, _ := value.Parse(line); err != nil || v.Get("result").IsUndefined() {
		c.Fatalf("it answered %q (%v)", line, err)
	}
}
