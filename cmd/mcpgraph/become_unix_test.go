//go:build unix

package main

import (
	"bufio"
	"bytes"
	"cmp"
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
)

const plainTool = `version: "1.0"
server: {name: t, version: "1"}
tools:
  - name: echo
    description: Returns its arguments
    inputSchema: {type: object}
    nodes: [{id: entry, type: entry, next: exit}, {id: exit, type: exit}]
`

// standIn is a program that stands for mcpgraph-temporal. It prints its process, its
// arguments, a line each, and its stdin.
const standIn = `#!/bin/sh
echo "$$ $MCPGRAPH_BECOME"
for arg; do echo "$arg"; done
cat
exit 42
`

// place is a folder with mcpgraph, two files, and perhaps a program named
// mcpgraph-temporal.
func place(t *testing.T, other string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plain.yaml": plainTool, "durable.yaml": plainTool + "engine: {type: temporal, address: \"127.0.0.1:1\"}\n", "mcpgraph-temporal": other,
	} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	copyProgram(t, filepath.Join(dir, "mcpgraph"))
	return dir
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, program, 0o700); err != nil {
		t.Fatal(err)
	}
}

// started returns mcpgraph in a place, with nothing else in PATH.
func started(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("./mcpgraph", args...)
	// Without an address, runs looks for servers of this user first.
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH=/usr/bin:/bin", "TEMPORAL_ADDRESS=127.0.0.1:1")
	return cmd
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

// TestBecomesTheProgramWithTemporal runs commands that need Temporal, and some that do
// not, beside a program that stands for mcpgraph-temporal.
func TestBecomesTheProgramWithTemporal(t *testing.T) {
	t.Parallel()
	dir := place(t, standIn)
	durable, err := os.ReadFile(filepath.Join(dir, "durable.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	long := string(durable) + strings.Repeat("# a comment that no pipe can hold\n", 10_000)
	for _, test := range []struct {
		args    string
		stdin   string
		becomes bool
	}{
		{"worker plain.yaml --max-calls 3", "a", true},
		{"worker plain.yaml --max-calls 0", "a", false},
		{"runs list --json", "a", true},
		{"runs show one", "a", true},
		{"runs watch one", "a", true},
		{"runs cancel one", "a", true},
		{"runs answer one accept", "a", true},
		{"runs answer one what", "a", false},
		{"run durable.yaml echo --args -", `{"a":1}`, true},
		{"run durable.yaml echo --detach", "a", true},
		{"run durable.yaml echo --watch", "a", true},
		{"run plain.yaml echo --engine temporal --args -", `{"a":1}`, true},
		{"run - echo --engine temporal", "not a file", true},
		{"run - echo", string(durable), true},
		{"run - echo", long, true},
		{"run - echo", plainTool, false},
		{"run plain.yaml echo", "a", false},
		{"run plain.yaml echo --detach", "a", false},
		{"run durable.yaml echo --engine local", "a", false},
		{"run durable.yaml echo --node entry", "a", false},
		{"run durable.yaml", "a", false},
		{"serve durable.yaml --ui 127.0.0.1:0", "a", true},
		{"serve plain.yaml --engine temporal", "a", true},
		{"serve plain.yaml", "", false},
		{"-g durable.yaml", "a", true},
		{"ui durable.yaml", "a", true},
		{"validate durable.yaml", "a", false},
		{"--help", "a", false},
	} {
		cmd := started(dir, strings.Fields(test.args)...)
		cmd.Stdin = strings.NewReader(test.stdin)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		code := exitCode(cmd.Run())
		if (code == 42) != test.becomes {
			t.Errorf("%s: exit code %d\n%s%s", test.args, code, &out, &errs)
			continue
		}
		if !test.becomes {
			continue
		}
		first, rest, _ := strings.Cut(out.String(), "\n")
		pid, version, _ := strings.Cut(first, " ")
		if want := strings.Join(strings.Fields(test.args), "\n") + "\n" + test.stdin; rest != want || errs.Len() > 0 {
			t.Errorf("%s: the other program got %q, want %q; printed: %s", test.args, shortened(rest), shortened(want), &errs)
		}
		if pid != fmt.Sprint(cmd.Process.Pid) || version == "" {
			t.Errorf("%s: process %d started %s, version %q", test.args, cmd.Process.Pid, pid, version)
		}
	}
}

func shortened(text string) string { return text[:min(len(text), 300)] }

// TestSignalsReachTheProgramWithTemporal stops what mcpgraph became.
func TestSignalsReachTheProgramWithTemporal(t *testing.T) {
	t.Parallel()
	cmd := started(place(t, "#!/bin/sh\ntrap 'exit 43' TERM\necho ready\nread line\n"), "worker", "plain.yaml")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Errorf("it printed %q, %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if code := exitCode(cmd.Wait()); code != 43 {
		t.Errorf("exit code %d", code)
	}
}

// TestSaysHowToGetTheProgramWithTemporal looks for a program that is missing, is not what
// its name says, or has another version.
func TestSaysHowToGetTheProgramWithTemporal(t *testing.T) {
	t.Parallel()
	real := filepath.Join(filepath.Dir(binary), "mcpgraph-temporal")
	for name, test := range map[string]struct {
		other string // what mcpgraph-temporal is; empty: it is missing
		env   string
		says  string
	}{
		"missing":                {"", "", "durable runs need the program mcpgraph-temporal, which is neither beside "},
		"mcpgraph itself":        {"mcpgraph", "", "is not mcpgraph-temporal, although it has its name; "},
		"not a program":          {"plain.yaml", "", "mcpgraph-temporal does not start: "},
		"in PATH":                {"", "PATH=" + filepath.Dir(real), "no connection to Temporal at 127.0.0.1:1"},
		"beside a symbolic link": {"mcpgraph-temporal", "", "no connection to Temporal at 127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := place(t, "")
			link := filepath.Join(dir, "mcpgraph-temporal")
			var err error
			switch test.other {
			case "":
			case "mcpgraph":
				// The test binary tells its programs apart by their names.
				err = os.WriteFile(link, []byte("#!/bin/sh\nexec \"$(dirname \"$0\")\"/mcpgraph \"$@\"\n"), 0o700)
			case "mcpgraph-temporal":
				err = errors.Join(os.Remove(filepath.Join(dir, "mcpgraph")), os.Symlink(binary, filepath.Join(dir, "mcpgraph")))
			default:
				err = os.WriteFile(link, []byte(plainTool), 0o700)
			}
			if err != nil {
				t.Fatal(err)
			}
			cmd := started(dir, "run", "durable.yaml", "echo")
			cmd.Env = append(cmd.Env, cmp.Or(test.env, "NONE="))
			out, err := cmd.CombinedOutput()
			if code := exitCode(err); code != 3 || !strings.Contains(string(out), test.says) {
				t.Errorf("exit code %d: %s", code, out)
			}
		})
	}
	cmd := exec.Command(real, "version")
	cmd.Env = append(os.Environ(), "MCPGRAPH_BECOME=v0.0.1")
	out, err := cmd.CombinedOutput()
	if code := exitCode(err); code != 3 || !strings.Contains(string(out), " and mcpgraph is version v0.0.1; install the same version of both") {
		t.Errorf("another version: exit code %d: %s", code, out)
	}
	cmd = exec.Command(real, "version")
	cmd.Stderr = io.Discard
	if out, err := cmd.Output(); err != nil || !strings.HasPrefix(string(out), "mcpgraph ") {
		t.Errorf("mcpgraph-temporal by itself: %s, %v", out, err)
	}
}

// TestRunReadsItsFileOnce runs a tool of a file that is a pipe, which can be read once.
func TestRunReadsItsFileOnce(t *testing.T) {
	t.Parallel()
	dir := place(t, "")
	pipe := filepath.Join(dir, "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := started(dir, "run", pipe, "echo", "--arg", "a=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// A process that opened the pipe a second time would wait for ever: nobody else
	// writes to it.
	if err := os.WriteFile(pipe, []byte(plainTool), 0); err != nil {
		t.Error(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil || out.String() != "{\"a\":1}\n" {
			t.Errorf("%v: %s%s", err, &out, &errs)
		}
	case <-time.After(30 * time.Second):
		_ = cmd.Process.Kill()
		t.Errorf("the file is read again: %v", <-ended)
	}
}
