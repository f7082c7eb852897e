//go:build unix

package cli_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// muteConfig has an upstream server that answers nothing.
const muteConfig = `
version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  mute:
    command: sh
    args: [-c, ": > started; while :; do sleep 1; done"]
    eager: true
tools:
  - name: hang
    description: Never answers
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: call}
      - {id: call, type: mcp, server: mute, tool: hang, next: exit}
      - {id: exit, type: exit}
`

// interruptible are commands that wait for that server.
var interruptible = map[string][]string{
	"serve":    {"serve", "tools.yaml"},
	"HTTP":     {"serve", "tools.yaml", "--http", "127.0.0.1:0"},
	"run":      {"run", "tools.yaml", "hang"},
	"again":    {"run", "tools.yaml", "hang", "--watch"},
	"status":   {"status", "tools.yaml"},
	"tools":    {"tools", "tools.yaml"},
	"call":     {"call", "tools.yaml", "mute", "hang"},
	"lock":     {"lock", "tools.yaml"},
	"validate": {"validate", "--live", "tools.yaml"},
}

// commandProcess is a command with its streams.
type commandProcess struct {
	*testing.T
	cmd      *exec.Cmd
	in       io.WriteCloser
	out, log *bufio.Reader // its stdout and stderr
	ended    chan error
}

// start starts a command in a folder with these files.
func start(t *testing.T, args []string, files map[string]string) *commandProcess {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return startIn(t, dir, args)
}

// startIn starts a command in a folder.
func startIn(t *testing.T, dir string, args []string) *commandProcess {
	t.Helper()
	cmd := exec.Command("mcpgraph", args...)
	cmd.Dir = dir
	return startProcess(t, cmd)
}

// startProcess starts a process.
func startProcess(t *testing.T, cmd *exec.Cmd) *commandProcess {
	t.Helper()
	c := &commandProcess{T: t, cmd: cmd, ended: make(chan error, 1)}
	pipe := func(f io.Closer, err error) {
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
	}
	var err error
	c.in, err = c.cmd.StdinPipe()
	pipe(c.in, err)
	// Pipes of our own, so that waiting does not close them under the reader.
	out, stdout, err := os.Pipe()
	pipe(out, err)
	log, stderr, err := os.Pipe()
	pipe(log, err)
	c.cmd.Stdout, c.cmd.Stderr = stdout, stderr
	c.out, c.log = bufio.NewReader(out), bufio.NewReader(log)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stdout.Close()
	stderr.Close()
	t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	go func() { c.ended <- c.cmd.Wait() }()
	return c
}

// startMute starts a command and returns when its upstream server has started.
func startMute(t *testing.T, args []string) *commandProcess {
	t.Helper()
	c := start(t, args, map[string]string{"tools.yaml": muteConfig})
	c.awaitServer()
	return c
}

// awaitServer returns when the upstream server of muteConfig has started.
func (c *commandProcess) awaitServer() {
	c.Helper()
	for {
		if _, err := os.Stat(filepath.Join(c.cmd.Dir, "started")); err == nil {
			return
		}
		select {
		case err := <-c.ended:
			c.Fatalf("it ended before the server was started: %v\n%s", err, c.rest())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// startStubborn starts a command and returns when it is connected to an upstream
// server that only SIGKILL ends.
func startStubborn(t *testing.T, args []string) *commandProcess {
	t.Helper()
	c := start(t, args, map[string]string{"tools.yaml": signalConfig, "script.json": `{"start":"stubborn"}`})
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"process",` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n"
	switch {
	case len(args) > 2 && args[2] == "--http":
		line, err := c.log.ReadString('\n')
		_, url, found := strings.Cut(strings.TrimSpace(line), "url=")
		if !found {
			t.Fatalf("it said %q (%v)", line, err)
		}
		r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(call))
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "process",
		} {
			r.Header.Set(name, text)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("the call was answered with HTTP %d", answer.StatusCode)
		}
		return c
	case args[0] == "serve":
		if _, err := io.WriteString(c.in, call); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.out.ReadString('\n'); err != nil {
		t.Fatalf("%v\n%s", err, c.rest())
	}
	return c
}

// rest returns what the command wrote to stderr until its end.
func (c *commandProcess) rest() string {
	text, _ := io.ReadAll(c.log)
	return string(text)
}

func (c *commandProcess) signal(s os.Signal) {
	c.Helper()
	if err := c.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.Fatal(err)
	}
}

// exits checks how the process ended. Codes above 128 are signals.
func (c *commandProcess) exits(err error, code int) {
	c.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.Fatal(err)
	}
	if got := shellCode(c.cmd); got != code {
		c.Errorf("exit code %d (%v), want %d\n%s", got, err, code, c.rest())
	}
}

// shellCode returns the exit code of a command that has ended, or 128 and the number of
// the signal that ended it. An exit code above 128 is -1: a process must not end so.
func shellCode(cmd *exec.Cmd) int {
	code := cmd.ProcessState.ExitCode()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	if code > 128 {
		return -1
	}
	return code
}

func TestASignalEndsACommand(t *testing.T) {
	for name, args := range interruptible {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(name+" "+signal.String(), func(t *testing.T) {
				t.Parallel()
				c := startMute(t, args)
				c.signal(signal)
				// Supervisors take the end that they asked a server for as a success.
				code := 128 + int(signal)
				if args[0] == "serve" {
					code = 0
				}
				c.exits(<-c.ended, code)
				if said := c.rest(); code > 0 && name != "again" && !strings.Contains(said, "stopped by a signal ("+signal.String()+")") {
					t.Errorf("it said %q", said)
				}
			})
		}
	}
}

// TestASignalIsTheSuccessOfAServer stops commands that serve others.
func TestASignalIsTheSuccessOfAServer(t *testing.T) {
	message := func(text string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text) }
	for name, server := range map[string]struct{ args, input string }{
		"ui":      {args: "ui tools.yaml"},
		"toolkit": {"toolkit -g tools.yaml", `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"},
		"lsp":     {"lsp", message(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`)},
		"dap":     {"dap", message(`{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"mcpgraph"}}`)},
	} {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(name+" "+signal.String(), func(t *testing.T) {
				t.Parallel()
				c := start(t, strings.Fields(server.args), map[string]string{"tools.yaml": signalConfig, "script.json": "{}"})
				if _, err := io.WriteString(c.in, server.input); err != nil {
					t.Fatal(err)
				}
				if _, err := c.out.ReadString('\n'); err != nil { // so it serves
					t.Fatalf("%v\n%s", err, c.rest())
				}
				c.signal(signal)
				c.exits(<-c.ended, 0)
			})
		}
	}
}

// TestCtrlCEndsALoopOfAShell sends SIGINT to a shell and its command, as a terminal does.
// A shell ends its loop only if the command has ended by the signal.
func TestCtrlCEndsALoopOfAShell(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || signal.Ignored(os.Interrupt) {
		t.Skip("needs bash, and a process that does not ignore SIGINT")
	}
	for name, args := range interruptible {
		if args[0] == "serve" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shell := exec.Command(bash, "--norc", "--noprofile", "-c", `for i in 1 2 3; do "$@"; echo "after $i: $?"; done`, "bash", "mcpgraph")
			shell.Args = append(shell.Args, args...)
			shell.Dir = t.TempDir()
			shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			put(t, filepath.Join(shell.Dir, "tools.yaml"), muteConfig)
			c := startProcess(t, shell)
			t.Cleanup(func() { _ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) })
			c.awaitServer()
			if err := syscall.Kill(-shell.Process.Pid, syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			c.exits(<-c.ended, 130)
			if text, _ := io.ReadAll(c.out); len(text) > 0 {
				t.Errorf("the loop went on: %s", text)
			}
		})
	}
}

// TestASecondSignalEndsAtOnce sends signals while the upstream server takes five
// seconds to end: the first signal waits for it, the second does not.
func TestASecondSignalEndsAtOnce(t *testing.T) {
	for name, args := range map[string][]string{
		"serve":  {"serve", "tools.yaml"},
		"HTTP":   {"serve", "tools.yaml", "--http", "127.0.0.1:0"},
		"run":    {"run", "tools.yaml", "process"},
		"status": {"status", "tools.yaml"},
	} {
		for signal, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
			t.Run(name+" "+signal.String(), func(t *testing.T) {
				t.Parallel()
				c := startStubborn(t, args)
				for {
					c.signal(signal)
					select {
					case err := <-c.ended:
						c.exits(err, code)
						return
					case <-time.After(20 * time.Millisecond):
					}
				}
			})
		}
	}
}

// TestASignalDoesNotCutTheEndOfServersShort sends the first signal to a process
// that has begun to end because its input did.
func TestASignalDoesNotCutTheEndOfServersShort(t *testing.T) {
	t.Parallel()
	s := serveProcess(t, `{"start":"stubborn"}`)
	s.in.Close()
	// Its output ends when it does, so this is all that tells.
	time.Sleep(200 * time.Millisecond)
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.ended()
}
