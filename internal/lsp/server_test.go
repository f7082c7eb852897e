package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const house = `version: "1.0"
server: {name: test, version: "1"}
mcpServers:
  files: {command: "${NOT_SET}"}
tools:
  - name: count
    description: "Counts 🏠"
    inputSchema: {type: object, properties: {directory: {type: string}}}
    nodes:
      - {id: entry, type: entry, next: list}
      - id: list
        type: mcp
        server: files
        tool: list_directory
        args: {path: {expr: $.entry.directory}}
        next: exit
      - {id: exit, type: exit}
`

const houseTest = `tests:
  - name: counts
    tool: count
    answers: {list: accept}
    mocks: [{server: files, tool: list_directory, reply: {text: x}}]
`

// folder returns the URI of a folder with files.
func folder(t testing.TB, files map[string]string) (path, uri string) {
	t.Helper()
	path = t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(path, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path, uriOf(path)
}

func TestASession(t *testing.T) {
	path, root := folder(t, map[string]string{"house.yaml": house, "house.test.yaml": houseTest})
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, Options{Version: "1.2.3"})
		r := c.initialize(object{
			"workspace":    object{"didChangeWatchedFiles": object{"dynamicRegistration": true}},
			"textDocument": object{"documentSymbol": object{"hierarchicalDocumentSymbolSupport": true}},
		})
		if r.Capabilities.PositionEncoding != "utf-16" || r.ServerInfo.Version != "1.2.3" {
			t.Errorf("%+v", r)
		}
		if len(c.sent) != 1 || c.sent[0].Method != "client/registerCapability" {
			t.Errorf("the server sent %+v", c.sent)
		}
		uri := root + "/house.yaml"
		c.open(uri, house)
		if ds := c.diagnostics(uri); ds == nil || len(ds) != 0 {
			t.Errorf("%+v", ds)
		}

		// One keystroke after the other, while the text is broken in between.
		change := func(line, from, to int, text string) {
			c.notify("textDocument/didChange", object{
				"textDocument":   object{"uri": uri, "version": 2},
				"contentChanges": []object{{"range": object{"start": object{"line": line, "character": from}, "end": object{"line": line, "character": to}}, "text": text}},
			})
		}
		change(15, 14, 18, "exti")
		ds := c.diagnostics(uri)
		if len(ds) != 1 || ds[0].Code != "unknown-node" || ds[0].Range != (Range{Position{15, 14}, Position{15, 18}}) || !strings.Contains(ds[0].Message, "did you mean \"exit\"?") {
			t.Fatalf("%+v", ds)
		}
		actions := result[[]codeAction](c, "textDocument/codeAction", object{
			"textDocument": object{"uri": uri}, "range": ds[0].Range, "context": object{"diagnostics": ds},
		})
		if len(actions) != 1 || actions[0].Edit.Changes[uri][0].NewText != "exit" {
			t.Errorf("%+v", actions)
		}
		change(15, 14, 18, "")
		list := result[completionList](c, "textDocument/completion", at0(uri, 15, 14))
		if len(list.Items) != 2 || list.Items[0].Label != "list" || list.Items[1].TextEdit.NewText != "exit" {
			t.Errorf("%+v", list)
		}
		change(15, 14, 14, "exit")

		if h := result[hover](c, "textDocument/hover", at0(uri, 14, 31)); !strings.Contains(h.Contents.Value, "**entry** (entry node)") {
			t.Errorf("%+v", h)
		}
		if l := result[[]location](c, "textDocument/definition", at0(uri, 14, 31)); len(l) != 1 || l[0].URI != uri || l[0].Range.Start != (Position{9, 13}) {
			t.Errorf("%+v", l)
		}
		p := at0(uri, 10, 13)
		p["context"] = object{"includeDeclaration": true}
		if l := result[[]location](c, "textDocument/references", p); len(l) != 3 {
			t.Errorf("%+v", l)
		}
		if l := result[[]highlight](c, "textDocument/documentHighlight", at0(uri, 10, 13)); len(l) != 2 {
			t.Errorf("%+v", l)
		}
		if r := result[prepared](c, "textDocument/prepareRename", at0(uri, 10, 13)); r.Placeholder != "list" {
			t.Errorf("%+v", r)
		}
		if m := c.call("textDocument/prepareRename", at0(uri, 0, 0)); string(m.Result) != "null" {
			t.Errorf("%s", m.Result)
		}
		p = at0(uri, 10, 13)
		p["newName"] = "listing"
		edit := result[workspaceEdit](c, "textDocument/rename", p)
		if len(edit.Changes[uri]) != 2 || len(edit.Changes[root+"/house.test.yaml"]) != 1 {
			t.Errorf("%+v", edit)
		}
		p["newName"] = "exit"
		if m := c.call("textDocument/rename", p); m.Error == nil || !strings.Contains(m.Error.Message, "already exists") {
			t.Errorf("%+v", m)
		}
		symbols := result[[]documentSymbol](c, "textDocument/documentSymbol", object{"textDocument": object{"uri": uri}})
		if len(symbols) != 2 || len(symbols[1].Children[0].Children) != 3 {
			t.Errorf("%+v", symbols)
		}

		// A test file sees the configuration as it is in the editor.
		test := root + "/house.test.yaml"
		c.open(test, houseTest)
		if ds := c.diagnostics(test); ds == nil || len(ds) != 0 {
			t.Errorf("%+v", ds)
		}
		change(10, 12, 16, "listing")
		if ds := c.diagnostics(test); len(ds) != 1 || ds[0].Code != "unknown-node" {
			t.Errorf("%+v", ds)
		}
		// When it is closed, the one on disk counts.
		c.notify("textDocument/didClose", object{"textDocument": object{"uri": uri}})
		if ds := c.diagnostics(test); ds == nil || len(ds) != 0 {
			t.Errorf("%+v", ds)
		}
		// A change on disk.
		if err := os.WriteFile(filepath.Join(path, "house.yaml"), []byte(strings.ReplaceAll(house, "list", "other")), 0o600); err != nil {
			t.Fatal(err)
		}
		c.notify("workspace/didChangeWatchedFiles", object{"changes": []object{{"uri": uri, "type": 2}}})
		if ds := c.diagnostics(test); len(ds) != 1 {
			t.Errorf("%+v", ds)
		}
		c.end()
	})
}

func TestPositionsAreInUnitsOfTheClient(t *testing.T) {
	for _, encoding := range []string{"utf-8", "utf-16", "utf-32"} {
		synctest.Test(t, func(t *testing.T) {
			c := connect(t, Options{})
			r := c.initialize(object{"general": object{"positionEncodings": []string{"odd", encoding, "utf-16"}}})
			if r.Capabilities.PositionEncoding != encoding {
				t.Errorf("%+v", r.Capabilities)
			}
			text := strings.Replace(house, "{expr: $.entry.directory}", "{expr: \"'🏠é' & $.entyr\"}", 1)
			c.open("file:///x.yaml", text)
			ds := c.diagnostics("file:///x.yaml")
			want := map[string]uint32{"utf-8": 40, "utf-16": 37, "utf-32": 36}[encoding]
			if len(ds) != 1 || ds[0].Range.Start.Character != want || ds[0].Range.End.Character != want+7 {
				t.Errorf("%s: %+v, want %d", encoding, ds, want)
			}
			c.end()
		})
	}
}

func TestWhatIsNotOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, Options{})
		c.initialize(nil)
		c.open("file:///docker-compose.yaml", "services:\n  x: {image: y}\n")
		if ds := c.diagnostics("file:///docker-compose.yaml"); ds == nil || len(ds) != 0 {
			t.Errorf("%+v", ds)
		}
		if l := result[completionList](c, "textDocument/completion", at0("file:///docker-compose.yaml", 1, 2)); len(l.Items) != 0 {
			t.Errorf("%+v", l)
		}
		c.open("untitled:Untitled-1", "")
		if l := result[completionList](c, "textDocument/completion", at0("untitled:Untitled-1", 0, 0)); len(l.Items) == 0 {
			t.Error("nothing completes an empty file")
		}
		if m := c.call("textDocument/hover", at0("file:///never-opened.yaml", 0, 0)); m.Error != nil || string(m.Result) != "null" {
			t.Errorf("%+v", m)
		}
		c.end()
	})
}

func TestMessagesOutOfOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, Options{})
		if m := c.call("textDocument/hover", at0("file:///x", 0, 0)); m.Error == nil || m.Error.Code != codeNotInitialized {
			t.Errorf("%+v", m)
		}
		c.open("file:///x.yaml", "tools: 1")
		c.initialize(nil)
		if ds := c.diagnostics("file:///x.yaml"); ds != nil {
			t.Errorf("a file that was opened too early is checked: %+v", ds)
		}
		if m := c.call("initialize", object{}); m.Error == nil {
			t.Error("initialized twice")
		}
		if m := c.call("textDocument/nothing", object{}); m.Error == nil || m.Error.Code != -32601 {
			t.Errorf("%+v", m)
		}
		if m := c.call("textDocument/hover", []int{1}); m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("%+v", m)
		}
		c.notify("textDocument/didChange", object{"textDocument": object{"uri": "file:///never-opened"}, "contentChanges": []object{{"text": "x"}}})
		c.notify("textDocument/didOpen", []int{1})
		c.notify("$/unknown", object{})
		c.call("shutdown", nil)
		if m := c.call("textDocument/hover", at0("file:///x", 0, 0)); m.Error == nil {
			t.Error("answered after shutdown")
		}
		c.notify("exit", nil)
		if err := c.wait(); err != nil {
			t.Error(err)
		}
	})
}

func TestGarbage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, Options{})
		c.initialize(nil)
		frame := func(s string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(s), s) }
		for _, s := range []string{
			"hello\r\n\r\n", "\r\n\r\n", "Content-Length: x\r\n\r\n", "Content-Length: -5\r\n\r\n", "Content-Length: 99999999999999999999\r\n\r\n",
			strings.Repeat("x", 100_000) + "\r\n", "Content-Type: text/odd\r\nContent-Length: 2\r\n\r\n{}",
			frame(""), frame("{"), frame("[]"), frame("null"), frame(`{"a":1}`), frame(`{"jsonrpc":"2.0","id":{},"method":"x"}`),
			frame(`{"jsonrpc":"2.0","id":1,"result":null}`), frame(`{"jsonrpc":"2.0","id":77,"method":5}`), frame("\xff\xfe"),
			frame(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":12345}}`), frame(strings.Repeat("[", 50_000)),
		} {
			c.raw(s)
		}
		c.open("file:///x.yaml", house)
		if ds := c.diagnostics("file:///x.yaml"); ds == nil || len(ds) != 0 {
			t.Errorf("after garbage: %+v", ds)
		}
		c.end()
	})
}

func TestEditsOutOfRange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, Options{})
		c.initialize(nil)
		c.open("file:///x.yaml", "a🏠\r\nb\rc\n")
		for _, r := range [][4]int{{9, 9, 99, 99}, {0, 50, 1, 0}, {1, 0, 0, 0}, {0, 2, 0, 2}, {2, 1 << 30, 3, 0}} {
			c.notify("textDocument/didChange", object{"textDocument": object{"uri": "file:///x.yaml", "version": 2}, "contentChanges": []object{
				{"range": object{"start": object{"line": r[0], "character": r[1]}, "end": object{"line": r[2], "character": r[3]}}, "text": "x"},
			}})
		}
		if m := c.call("textDocument/completion", at0("file:///x.yaml", 1<<30, 1<<30)); m.Error != nil {
			t.Errorf("%+v", m)
		}
		c.notify("textDocument/didChange", object{"textDocument": object{"uri": "file:///x.yaml", "version": 3}, "contentChanges": []object{{"text": strings.Replace(house, "next: exit", "next: exti", 1)}}})
		if ds := c.diagnostics("file:///x.yaml"); len(ds) != 1 {
			t.Errorf("%+v", ds)
		}
		c.end()
	})
}

func TestManyFilesLeaveNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, Options{})
		c.initialize(nil)
		for i := range 1000 {
			uri := fmt.Sprintf("file:///nowhere/%d.yaml", i)
			c.open(uri, "version: \"1.0\"\ntools: [")
			c.notify("textDocument/didClose", object{"textDocument": object{"uri": uri}})
		}
		c.open("file:///nowhere/last.yaml", "version: \"1.0\"\ntools: [")
		if ds := c.diagnostics("file:///nowhere/last.yaml"); len(ds) != 1 || ds[0].Code != "yaml-syntax" {
			t.Errorf("%+v", ds)
		}
		c.end()
	})
}

func TestTheEndOfTheClientEndsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, Options{})
		c.initialize(nil)
		c.open("file:///x.yaml", house)
		if err := c.wait(); err != nil {
			t.Error(err)
		}
		c = connect(t, Options{})
		c.notify("exit", nil)
		if err := c.wait(); !errors.Is(err, ErrNoShutdown) {
			t.Errorf("%v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		in, w := io.Pipe()
		defer w.Close()
		time.AfterFunc(time.Minute, func() { cancel(errors.New("stopped")) })
		if err := Serve(ctx, in, io.Discard, Options{}); err == nil || err.Error() != "stopped" {
			t.Errorf("%v", err)
		}
	})
}

func TestCancelledAndRepeatedRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{ctx: t.Context(), running: make(chan struct{}, maxRunning), pending: map[string]context.CancelFunc{}}
		var sent strings.Builder
		s.channel = recorder{&sent}
		hold := make(chan struct{})
		wait := func() (any, error) { <-hold; return "late", nil }
		for i := range maxPending {
			s.start(fmt.Sprint(i), wait)
		}
		s.start("0", wait)
		s.start("full", wait)
		s.cancel(cancelParams{ID: []byte("2")})
		s.cancel(cancelParams{ID: []byte("150")})
		synctest.Wait()
		close(hold)
		s.close()
		for text, want := range map[string]int{
			`"id":0,"error":{"code":-32803`: 1, `"id":full`: 0, `"code":-32800`: 2, `"result":"late"`: maxPending - 2,
		} {
			if got := strings.Count(sent.String(), text); got != want {
				t.Errorf("%s is there %d times, want %d", text, got, want)
			}
		}
		if len(s.pending) != 0 {
			t.Errorf("%d requests are pending", len(s.pending))
		}
	})
}

// recorder is a channel that keeps what is sent.
type recorder struct{ to *strings.Builder }

func (r recorder) Send(m []byte) error   { _, err := fmt.Fprintf(r.to, "%s\n", m); return err }
func (r recorder) Recv() ([]byte, error) { return nil, io.EOF }
func (r recorder) Close() error          { return nil }

func TestALongTextIsNotChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, Options{})
		c.initialize(nil)
		c.open("file:///x.yaml", house+strings.Repeat("# 0123456789\n", 800_000))
		ds := c.diagnostics("file:///x.yaml")
		if len(ds) != 1 || ds[0].Severity != 3 || !strings.Contains(ds[0].Message, "too long") {
			t.Errorf("%+v", ds)
		}
		if m := c.call("textDocument/completion", at0("file:///x.yaml", 700_000, 3)); m.Error != nil {
			t.Errorf("%+v", m)
		}
		c.end()
	})
}

// TestAnUnsavedFileOfServers checks that a configuration is checked with the servers
// of a file that is open and not saved, and that the problems of that are shown in it.
func TestAnUnsavedFileOfServers(t *testing.T) {
	path, root := folder(t, map[string]string{"mcp.json": `{"mcpServers": {}}`})
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, Options{MCPFiles: []string{filepath.Join(path, "mcp.json")}})
		c.initialize(nil)
		uri, servers := root+"/x.yaml", root+"/mcp.json"
		c.open(uri, strings.Replace(house, "  files: {command: \"${NOT_SET}\"}\n", "  {}\n", 1))
		if ds := c.diagnostics(uri); len(ds) != 1 || ds[0].Code != "unknown-server" {
			t.Errorf("%+v", ds)
		}
		c.open(servers, `{"mcpServers": {"files": {"command": "x", "timeoutMs": -1}}}`)
		time.Sleep(time.Second)
		synctest.Wait()
		sent := c.sent
		if ds := c.diagnostics(uri); ds == nil || len(ds) != 0 {
			t.Errorf("%+v", ds)
		}
		c.sent = sent
		if ds := c.diagnostics(servers); len(ds) != 1 || ds[0].Code != "bad-limit" {
			t.Errorf("%+v", ds)
		}
		if l := result[[]location](c, "textDocument/definition", at0(uri, 12, 18)); len(l) != 1 || l[0].URI != servers {
			t.Errorf("%+v", l)
		}
		c.notify("textDocument/didClose", object{"textDocument": object{"uri": uri}})
		if ds := c.diagnostics(servers); ds == nil || len(ds) != 0 {
			t.Errorf("problems of a closed configuration are still shown: %+v", ds)
		}
		c.end()
	})
}
