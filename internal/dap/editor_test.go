package dap_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/dap"
)

// TestAnEditorThatReadsNothing is ended by the context of the adapter.
func TestAnEditorThatReadsNothing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	in, toServer := io.Pipe()
	defer toServer.Close()
	_, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- dap.Serve(ctx, in, out, dap.Options{}) }()
	if _, err := io.WriteString(toServer, "Content-Length: 2\r\n\r\n{]"); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	cancel(stop)
	select {
	case err := <-ended:
		if !errors.Is(err, stop) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the adapter does not end")
	}
}

// lines returns breakpoints at lines of the file.
func (c *client) lines(path string, breakpoints ...object) []any {
	c.t.Helper()
	return c.ask("setBreakpoints", object{"source": object{"path": path}, "breakpoints": breakpoints})["breakpoints"].([]any)
}

func TestBreakpointsBeforeLaunch(t *testing.T) {
	c := connect(t)
	c.ask("initialize", object{"adapterID": "mcpgraph"})
	b := c.lines(c.path, object{"line": 24}, object{"line": 20, "condition": "$item = 'ef'"}, object{"line": 10, "condition": "$.nope ="})[0].(object)
	if b["verified"] != false || b["line"] != float64(24) || !strings.Contains(b["message"].(string), "nothing was launched") {
		t.Errorf("before launch: %v", b)
	}
	c.lines("/elsewhere.yaml", object{"line": 3})
	c.ask("setFunctionBreakpoints", object{"breakpoints": []object{{"name": "add"}}})
	c.ask("setExceptionBreakpoints", object{"filters": []string{"any"}})
	c.ask("launch", object{"program": c.path, "tool": "report", "args": names})
	changed := map[float64]object{}
	for range 5 {
		e := c.event("breakpoint")["breakpoint"].(object)
		changed[e["id"].(float64)] = e
	}
	if b := changed[1]; b["verified"] != true || b["line"] != float64(24) {
		t.Errorf("after launch: %v", b)
	}
	if b := changed[3]; b["verified"] != false || !strings.Contains(b["message"].(string), "condition:") {
		t.Errorf("a wrong condition: %v", b)
	}
	if b := changed[4]; !strings.Contains(b["message"].(string), "this file is not debugged") {
		t.Errorf("another file: %v", b)
	}
	if b := changed[5]; b["verified"] != true || b["line"] != float64(30) {
		t.Errorf("a node by name: %v", b)
	}
	c.event("initialized")
	c.ask("configurationDone", nil)
	c.at("breakpoint", "sizes[2].size (transform)", 20)
	c.ask("continue", object{"threadId": 1})
	c.at("breakpoint", "sum>add (transform)", 30)
	c.ask("continue", object{"threadId": 1})
	c.at("breakpoint", "exit (exit)", 24)
	c.ask("disconnect", nil)
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

// TestRestartReadsTheFileAgain changes the file while it is debugged.
func TestRestartReadsTheFileAgain(t *testing.T) {
	c := connect(t)
	c.launch("report", names, false, func() { c.lines(c.path, object{"line": 24}) })
	c.event("stopped")
	text := strings.Replace(file, "version:", "# one\n# more\nversion:", 1)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(c.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.Replace(text, "next: list", "next: lost", 1))
	if _, err := c.try("restart", object{}); err == nil || !strings.Contains(err.Error(), "lost") {
		t.Errorf("a file with errors: %v", err)
	}
	if got := c.ask("evaluate", object{"expression": "$.sizes"}); got["result"] != "[2,6,4]" {
		t.Errorf("after that, the run is gone: %v", got)
	}
	write(strings.Replace(text, "$length($item)", "$length($item) + 10", 1))
	if _, err := c.try("restart", object{"arguments": object{"program": c.path, "tool": "report", "args": 5}}); err == nil {
		t.Error("arguments that cannot be are taken")
	}
	c.lines(c.path, object{"line": 26}) // as the editor has moved it
	c.ask("restart", object{"arguments": object{"program": c.path, "tool": "report", "args": object{"names": []string{"a"}}}})
	c.at("breakpoint", "exit (exit)", 26)
	if got := c.ask("evaluate", object{"expression": "$.sizes"}); got["result"] != "[22]" {
		t.Errorf("after the restart, it is %v", got["result"])
	}
	c.ask("continue", object{"threadId": 1})
	c.event("terminated")
	c.ask("terminate", nil) // too late, and no error
}

func TestMembersAreSetOneByOne(t *testing.T) {
	c := connect(t)
	c.launch("report", names, false, func() { c.lines(c.path, object{"line": 16}) })
	frames := c.at("breakpoint", "sizes (map)", 15)
	all := c.variables(object{"variablesReference": c.scope(frames[0], "Document")})
	list := all["entry"]["variablesReference"]
	elements := c.variables(object{"variablesReference": list})["names"]["variablesReference"]
	for _, i := range []string{"[0]", "[1]", "[2]"} {
		c.ask("setVariable", object{"variablesReference": elements, "name": i, "value": `"x"`})
	}
	if got := c.ask("evaluate", object{"expression": "$.entry.names"}); got["result"] != `["x","x","x"]` {
		t.Errorf("they are %v", got["result"])
	}
	if got := c.variables(object{"variablesReference": elements}); got["[0]"]["value"] != `"x"` {
		t.Errorf("they are shown as %v", got)
	}
}

func TestNoSecretIsShownAtTheEnd(t *testing.T) {
	const secret = "s3cr3t-0123456789"
	c := connect(t)
	text := strings.Replace(file, "tools:", "mcpServers: {x: {command: /nonexistent, env: {TOKEN: '${T}'}}}\ntools:", 1)
	text = strings.Replace(text, "$error('It broke')", "$error($.entry.text)", 1)
	if err := os.WriteFile(c.path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c.ask("launch", object{"program": c.path, "tool": "fails", "args": object{"text": "with " + secret}, "env": object{"T": secret}})
	c.ask("configurationDone", nil)
	c.event("terminated")
	if strings.Contains(c.output, secret) || !strings.Contains(c.output, "with [redacted]") {
		t.Errorf("the output is %s", c.output)
	}
}

// TestCompletionsCountAsEditorsDo completes behind a character of two UTF-16 units.
func TestCompletionsCountAsEditorsDo(t *testing.T) {
	c := connect(t)
	c.launch("report", names, true, nil)
	c.event("stopped")
	targets := c.ask("completions", object{"text": `"😀" & $.si`, "column": 12})["targets"].([]any)
	if len(targets) != 1 || targets[0].(object)["label"] != "$.sizes" || targets[0].(object)["start"] != float64(8) || targets[0].(object)["length"] != float64(4) {
		t.Errorf("%v", targets)
	}
}
