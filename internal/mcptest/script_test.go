package mcptest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// programVariable makes the test binary what a testscript would register.
const programVariable = "MCPTEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		os.Exit(Run())
	}
	Main(m)
}

const session = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{}}}
`

// exchange runs the command with the session on its stdin until it has
// answered n lines.
func exchange(t *testing.T, cmd *exec.Cmd, n int) string {
	t.Helper()
	in, out := Pipes(t, cmd)
	if _, err := in.Write([]byte(session)); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for buf := make([]byte, 4096); strings.Count(got.String(), "\n") < n; {
		read, err := out.Read(buf)
		got.Write(buf[:read])
		if err != nil {
			break
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v after %s", err, got.String())
	}
	return got.String()
}

func TestScriptRunsAsCommandAndFromAFile(t *testing.T) {
	script := Script{Tools: []Tool{{Name: "read", Result: Text("hello")}}}
	command, args, env := script.Command()
	started := exec.Command(command, args...)
	started.Env = os.Environ()
	for name, value := range env {
		started.Env = append(started.Env, name+"="+value)
	}

	file := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(file, marshal(script), 0o644); err != nil {
		t.Fatal(err)
	}
	fromFile := exec.Command(command, file)
	fromFile.Env = append(os.Environ(), programVariable+"=1")

	for name, cmd := range map[string]*exec.Cmd{"command": started, "file": fromFile} {
		got := exchange(t, cmd, 2)
		if !strings.Contains(got, `"protocolVersion":"2025-06-18"`) || !strings.Contains(got, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"hello"}]}}`) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestResultsAreTakenInTurn(t *testing.T) {
	tool := Tool{Results: []json.RawMessage{[]byte("1"), []byte("2")}}
	for nth, want := range []string{"1", "2", "2"} {
		if got := string(tool.answer(nil, nth)); got != want {
			t.Errorf("call %d: %s, want %s", nth, got, want)
		}
	}
}
