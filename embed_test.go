package mcpgraph_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// inner is a file whose tools another engine calls.
const inner = `
version: "1.0"
server: {name: inner, version: "1"}
tools:
  - name: double
    description: Doubles n
    inputSchema: {type: object}
    outputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: work}
      - {id: work, type: transform, transform: {expr: "{'n': $.entry.n * 2}"}, next: exit}
      - {id: exit, type: exit}
`

const outer = `
version: "1.0"
server: {name: outer, version: "1"}
MCPSERVERS
tools:
  - name: ask
    description: Asks another server
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: call}
      - {id: call, type: mcp, server: numbers, tool: double, args: {n: {expr: $.entry.n}}, next: exit}
      - {id: exit, type: exit}
`

func TestAServerInThisProcessNeedsNoEntry(t *testing.T) {
	numbers, err := mcpgraph.LoadBytes("inner.yaml", []byte(inner))
	if err != nil {
		t.Fatal(err)
	}
	defer numbers.Close()
	for name, entry := range map[string]string{"no entry": "", "an entry": "mcpServers: {numbers: {command: no-such-program, timeoutMs: 5000}}"} {
		var started, ended atomic.Int32
		serve := func(ctx context.Context, in io.Reader, out io.Writer) error {
			started.Add(1)
			defer ended.Add(1)
			return numbers.ServeStdio(ctx, in, out)
		}
		e, err := mcpgraph.LoadBytes("outer.yaml", []byte(strings.Replace(outer, "MCPSERVERS", entry, 1)), mcpgraph.WithServer("numbers", serve))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if ds, _ := e.Diagnostics(); len(ds) > 0 {
			t.Errorf("%s: %v", name, ds)
		}
		for range 2 {
			result, err := e.Call(context.Background(), "ask", map[string]any{"n": 21})
			if err != nil || string(result.JSON()) != `{"n":42}` {
				t.Fatalf("%s: %+v, %v", name, result, err)
			}
			if _, err := e.Reload(); err != nil { // which keeps the session
				t.Fatal(err)
			}
		}
		if ds := e.CheckLive(context.Background()); len(ds) > 0 {
			t.Errorf("%s: %v", name, ds)
		}
		if err := e.Close(); err != nil || started.Load() != 1 {
			t.Errorf("%s: closed: %v; started %d times", name, err, started.Load())
		}
	}
}

func TestAServerInThisProcessThatPanicsIsAnErrorOfTheCall(t *testing.T) {
	e, err := mcpgraph.LoadBytes("outer.yaml", []byte(strings.Replace(outer, "MCPSERVERS", "", 1)),
		mcpgraph.WithServer("numbers", func(context.Context, io.Reader, io.Writer) error { panic("ouch") }))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Call(context.Background(), "ask", nil); err == nil || !strings.Contains(err.Error(), "the server panicked") {
		t.Errorf("got %v", err)
	}
}

func TestAHandlerServesInAMuxOfTheProgram(t *testing.T) {
	e, err := load(t, twoTools, mcpgraph.WithCaller(&caller{reply: found}))
	if err != nil {
		t.Fatal(err)
	}
	h, err := e.Handler(server.HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	mux.Handle("/tools/", http.StripPrefix("/tools", h))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the program's own") })
	s := httptest.NewServer(mux)
	defer s.Close()
	ask := func(path, body string) (int, string) {
		t.Helper()
		req, _ := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		req.Header.Set("Mcp-Method", "tools/call")
		req.Header.Set("Mcp-Name", "pick")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(text)
	}
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pick","arguments":{"value":"here"},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	for _, path := range []string{"/mcp", "/tools/mcp"} {
		if status, body := ask(path, call); status != http.StatusOK || !strings.Contains(body, "here") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if _, body := ask("/other", call); body != "the program's own" {
		t.Errorf("another path: %s", body)
	}
	if _, err := e.Reload(); err != nil {
		t.Error(err)
	}
	h.Close()
	h.Close()
	if status, _ := ask("/mcp", call); status != http.StatusServiceUnavailable {
		t.Errorf("after Close: %d", status)
	}
}

const withFunctions = `
version: "1.0"
server: {name: t, version: "1"}
tools:
  - name: shout
    description: Shouts
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: loud}
      - {id: loud, type: transform, transform: {expr: "EXPR"}, next: decide}
      - id: decide
        type: switch
        conditions: [{rule: {"==": [{var: "$shout('a')"}, "A!"]}, next: exit}]
        next: exit
      - {id: exit, type: exit}
`

func TestExpressionsCallFunctionsOfTheProgram(t *testing.T) {
	shout := jsonata.Function{Name: "shout", Signature: "<s:s>", Call: func(_ *jsonata.Call, args []value.Value) (value.Value, error) {
		switch text := args[0].Str(); text {
		case "panic":
			panic("ouch")
		case "fail":
			return value.Undef, errors.New("no voice")
		default:
			return value.FromString(strings.ToUpper(text) + "!"), nil
		}
	}}
	loadWith := func(expr string, fns ...jsonata.Function) (*mcpgraph.Engine, error) {
		return mcpgraph.LoadBytes("t.yaml", []byte(strings.Replace(withFunctions, "EXPR", expr, 1)), mcpgraph.WithFunctions(fns...))
	}
	e, err := loadWith("$map($.entry.words, $shout)", shout)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if ds, _ := e.Diagnostics(); len(ds) > 0 {
		t.Errorf("diagnostics of known functions: %v", ds)
	}
	result, err := e.Call(context.Background(), "shout", map[string]any{"words": []string{"a", "b"}})
	if err != nil || result.History[1].Output.JSON() != `["A!","B!"]` || result.History[2].Err != nil {
		t.Fatalf("%+v, %v", result, err)
	}
	for word, want := range map[string]string{"panic": "ouch", "fail": "no voice"} {
		if _, err := e.Call(context.Background(), "shout", map[string]any{"words": []string{word}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", word, err)
		}
	}
	// Without them, or where a call does not fit the signature, there is a finding.
	for name, load := range map[string]func() (*mcpgraph.Engine, error){
		diag.CodeFunction: func() (*mcpgraph.Engine, error) { return loadWith("$shout('a')") },
		diag.CodeCall:     func() (*mcpgraph.Engine, error) { return loadWith("$shout(1)", shout) },
	} {
		e, err := load()
		var ds []diag.Diagnostic
		var bad *mcpgraph.LoadError
		if errors.As(err, &bad) {
			ds = bad.Diagnostics
		} else if err == nil {
			ds, _ = e.Diagnostics()
			e.Close()
		}
		if len(ds) == 0 || ds[0].Code != name {
			t.Errorf("want %s: %v", name, ds)
		}
	}
	for want, fn := range map[string]jsonata.Function{
		"has no name":       {Call: shout.Call},
		"no implementation": {Name: "f"},
		"$previousNode":     {Name: "previousNode", Call: shout.Call},
		"f":                 {Name: "f", Signature: "s", Call: shout.Call},
	} {
		if _, err := loadWith("1", fn); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", fn, err)
		}
	}
}
