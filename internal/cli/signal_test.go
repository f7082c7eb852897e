//go:build unix

package cli_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const signalConfig = `
version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  fake: {command: fakeserver, args: [script.json]}
tools:
  - name: process
    description: Says which process answers
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: call}
      - {id: call, type: mcp, server: fake, tool: process, next: exit}
      - {id: exit, type: exit}
  - name: hang
    description: Never answers
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: call}
      - {id: call, type: mcp, server: fake, tool: hang, next: exit}
      - {id: exit, type: exit}
  - name: cancelled
    description: Says which calls were cancelled
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: call}
      - {id: call, type: mcp, server: fake, tool: cancelled, next: exit}
      - {id: exit, type: exit}
  - name: calls
    description: Says what was called
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: call}
      - {id: call, type: mcp, server: fake, tool: calls, next: exit}
      - {id: exit, type: exit}
`

// server is `mcpgraph serve` as a process, with a child of its own.
type server struct {
	*testing.T
	cmd         *exec.Cmd
	in          io.WriteCloser
	out         *bufio.Reader
	closeOutput func() error
	child       int
}

func serveProcess(t *testing.T, script string) *server {
	dir := t.TempDir()
	for name, text := range map[string]string{"tools.yaml": signalConfig, "script.json": script} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &server{T: t, cmd: exec.Command("mcpgraph", "serve", "tools.yaml")}
	s.cmd.Dir = dir
	s.cmd.Stderr = os.Stderr
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out, s.closeOutput = bufio.NewReader(out), out.Close
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	s.call(1, "process")
	s.child = int(s.answer().Get("structuredContent").Get("pid").Float())
	if s.child <= 0 || syscall.Kill(s.child, 0) != nil {
		t.Fatalf("no child process: %d", s.child)
	}
	return s
}

func (s *server) call(id int, tool string) {
	s.Helper()
	if _, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`+"\n", id, tool); err != nil {
		s.Fatal(err)
	}
}

func (s *server) answer() value.Value {
	s.Helper()
	line, err := s.out.ReadString('\n')
	if err != nil {
		s.Fatal(err)
	}
	v, err := value.Parse(line)
	if err != nil {
		s.Fatal(err)
	}
	return v.Get("result")
}

// ended checks that the server exits with 0 and has left no process behind.
func (s *server) ended() {
	s.Helper()
	if rest, err := io.ReadAll(s.out); err != nil || len(rest) > 0 {
		s.Errorf("wrote %q at its end (%v)", rest, err)
	}
	if err := s.cmd.Wait(); err != nil {
		s.Errorf("serve: %v", err)
	}
	if err := syscall.Kill(s.child, 0); err == nil {
		s.Errorf("process %d has outlived the server", s.child)
	}
}

func TestServeEndsItsChildrenWhenInputEnds(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"well-behaved": `{}`, "stubborn": `{"start":"stubborn"}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveProcess(t, script)
			s.in.Close()
			s.ended()
		})
	}
}

func TestServeAnswersRunningCallsAndEndsAtSignals(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			s := serveProcess(t, `{}`)
			s.call(2, "hang")
			s.call(3, "process")
			s.answer() // so the call that hangs has been taken, too
			if err := s.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			result := s.answer()
			if text := result.Get("content").Elems()[0].Get("text").Str(); !result.Get("isError").Bool() || !strings.Contains(text, "stopped by a signal") {
				t.Errorf("the running call was answered %s", result.JSON())
			}
			s.ended()
		})
	}
}

func TestServeEndsItsChildrenWhenTheClientReadsNoMore(t *testing.T) {
	t.Parallel()
	s := serveProcess(t, `{}`)
	s.call(2, "hang")
	if err := s.closeOutput(); err != nil {
		t.Fatal(err)
	}
	// Its answer cannot be written, unless a program that another test is starting
	// has the other end of the pipe for a moment.
	for id, err := 3, error(nil); err == nil; id++ {
		_, err = fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"process"}}`+"\n", id)
		time.Sleep(10 * time.Millisecond)
	}
	var exit *exec.ExitError
	if err := s.cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("serve: %v, want exit code 3", err)
	}
	if err := syscall.Kill(s.child, 0); err == nil {
		t.Errorf("process %d has outlived the server", s.child)
	}
}

func TestACancelledCallIsCancelledUpstream(t *testing.T) {
	t.Parallel()
	s := serveProcess(t, `{}`)
	id := 2
	until := func(tool string, done func(value.Value) bool) {
		for {
			id++
			if s.call(id, tool); done(s.answer().Get("structuredContent")) {
				return
			}
		}
	}
	s.call(2, "hang")
	until("calls", func(v value.Value) bool { return v.Get("hang").Float() == 1 })
	if _, err := fmt.Fprintln(s.in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`); err != nil {
		t.Fatal(err)
	}
	until("cancelled", func(v value.Value) bool { return v.Get("ids").Len() == 1 })
	s.in.Close()
	s.ended()
}
