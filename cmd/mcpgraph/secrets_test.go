package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The secrets of these tests have a character that JSON may escape.
const (
	ofTheFile  = "file/secret-1"     // by ${API_KEY}
	ofCommand  = "command/secret-2"  // by auth.tokenCommand
	ofCaller   = "caller/secret-3"   // by forwardHeaders
	ofSubject  = "subject/secret-4"  // the token of the caller that is exchanged
	ofExchange = "exchange/secret-5" // and what it is exchanged for
	ofOAuth    = "oauth/secret-6"    // by the flow clientCredentials
	ofClient   = "client/secret-7"   // the client's secret, by ${CLIENT_SECRET}
)

var secrets = []string{ofTheFile, ofCommand, ofCaller, ofSubject, ofExchange, ofOAuth, ofClient}

// gossip is an MCP server whose tools tell with which headers they are called,
// and the authorization server at /token.
func gossip(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/token" {
		token := ofOAuth
		if strings.Contains(string(body), "token-exchange") {
			token = ofExchange
		}
		fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","issued_token_type":"urn:ietf:params:oauth:token-type:access_token","expires_in":3600}`, token)
		return
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	_ = json.Unmarshal(body, &m)
	switch m.Method {
	case "initialize":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"gossip","version":"1"}}}`, m.ID)
	case "tools/call":
		heard, _ := json.Marshal(strings.Join([]string{r.Header.Get("Authorization"), r.Header.Get("X-Key"), ofClient}, " "))
		if m.Params.Name == "refuse" {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"isError":true,"content":[{"type":"text","text":"refused"}]}}`, m.ID)
			return
		}
		if m.Params.Name == "escaped" {
			heard = bytes.ReplaceAll(heard, []byte("/"), []byte(`\/`))
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"heard":%s}}}`, m.ID, heard)
	case "":
		w.WriteHeader(http.StatusBadRequest)
	default:
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
	}
}

// gossiping writes a file whose tools ask the gossip with every kind of
// credential and send it what it said: "tell" gives that, "fail" fails with it,
// and "refuse" fails where it is sent.
func gossiping(t *testing.T) (path string, env []string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(gossip))
	t.Cleanup(s.Close)
	var file strings.Builder
	fmt.Fprintf(&file, `version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  plain: {url: %[1]s/mcp, headers: {X-Key: "${API_KEY}"}}
  command: {url: %[1]s/mcp, auth: {type: bearer, tokenCommand: [echo, %[2]s]}}
  caller: {url: %[1]s/mcp, forwardHeaders: [{from: X-Token, to: X-Key}]}
  exchange:
    url: %[1]s/mcp
    auth: {type: tokenExchange, from: X-Subject, tokenUrl: %[1]s/token, clientId: me, clientSecret: "${CLIENT_SECRET}"}
  oauth:
    url: %[1]s/mcp
    auth: {type: oauth2, flow: clientCredentials, tokenUrl: %[1]s/token, clientId: me, clientSecret: "${CLIENT_SECRET}"}
tools:
`, s.URL, ofCommand)
	servers := []string{"plain", "command", "caller", "exchange", "oauth"}
	for _, tool := range []string{"tell", "fail", "refuse"} {
		fmt.Fprintf(&file, "  - name: %s\n    description: Asks around\n    inputSchema: {type: object}\n    nodes:\n      - {id: entry, type: entry, next: plain-heard}\n", tool)
		for i, server := range servers {
			next := "all"
			if i+1 < len(servers) {
				next = servers[i+1] + "-heard"
			}
			fmt.Fprintf(&file, "      - {id: %s-heard, type: mcp, server: %s, tool: heard, args: {}, next: %s-escaped}\n", server, server, server)
			fmt.Fprintf(&file, "      - {id: %s-escaped, type: mcp, server: %s, tool: escaped, args: {heard: {expr: '$.\"%s-heard\"'}}, next: %s}\n", server, server, server, next)
		}
		work := "type: mcp, server: plain, tool: refuse, args: {expr: $}"
		all := "$"
		if tool == "fail" {
			all = "$error($string($))"
		}
		if tool != "refuse" {
			work = fmt.Sprintf("type: transform, transform: {expr: %q}", all)
		}
		fmt.Fprintf(&file, `      - id: all
        type: switch
        conditions: [{rule: {"!": [{log: {var: $}}]}, next: exit}]
        next: work
      - {id: work, %s, next: exit}
      - {id: exit, type: exit}
`, work)
	}
	path = filepath.Join(t.TempDir(), "gossip.yaml")
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, []string{
		"API_KEY=" + ofTheFile, "CLIENT_SECRET=" + ofClient, "MCPGRAPH_TOKEN_STORE=" + filepath.Join(filepath.Dir(path), "tokens.json"),
		"OTEL_TRACES_EXPORTER=console", "OTEL_METRICS_EXPORTER=console", "OTEL_LOGS_EXPORTER=console",
	}
}

// leaks fails where a text has a secret.
func leaks(t *testing.T, where, text string) {
	t.Helper()
	for _, s := range secrets {
		for _, form := range []string{s, strings.ReplaceAll(s, "/", `\/`), strings.ReplaceAll(s, "/", `\\/`), strings.ReplaceAll(s, "/", "%2F")} {
			if i := strings.Index(text, form); i >= 0 {
				t.Errorf("%s has %q: …%s…", where, s, text[max(0, i-200):min(len(text), i+100)])
			}
		}
	}
}

func TestSecretsThatServersTellAreShownToNobodyButTheCaller(t *testing.T) {
	t.Parallel()
	path, env := gossiping(t)
	for _, tool := range []string{"tell", "fail", "refuse"} {
		for _, trace := range []string{"json", "text"} {
			cmd := exec.Command(binary, "run", path, tool, "--trace="+trace, "--log-level", "debug", "--trace-content",
				"--header", "X-Token: "+ofCaller, "--header", "X-Subject: Bearer "+ofSubject)
			cmd.Env = append(os.Environ(), env...)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			err := cmd.Run()
			if (err != nil) == (tool == "tell") {
				t.Fatalf("%v: %s", err, errs.String())
			}
			leaks(t, "stderr of run "+tool+" --trace="+trace, errs.String())
			for _, want := range []string{"[redacted]", `"mcpgraph.node.output"`, "msg=log", "plain-heard"} {
				if !strings.Contains(errs.String(), want) {
					t.Errorf("%s %s: no %s on stderr:\n%s", tool, trace, want, errs.String())
				}
			}
			for _, s := range []string{ofTheFile, ofCommand, ofCaller, ofExchange, ofOAuth} {
				if tool == "tell" && !strings.Contains(strings.ReplaceAll(out.String(), `\/`, "/"), s) {
					t.Errorf("the caller's own result does not have %s: %s", s, out.String())
				}
			}
		}
	}
}

func TestSecretsThatServersTellAreInNoRunAndNoError(t *testing.T) {
	t.Parallel()
	path, env := gossiping(t)
	w := serveWeb(t, env, path, "--error-details", "--expose-runs", "--metrics", "--status", "--log-level", "debug", "--trace-content")
	in := w.session("X-Token", ofCaller, "X-Subject", "Bearer "+ofSubject)
	ask := func(method, params string) string {
		t.Helper()
		_, _, body := w.ask(http.MethodPost, "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params), in...)
		return body
	}
	if answer := ask("tools/call", `{"name":"tell"}`); !strings.Contains(answer, ofTheFile) || !strings.Contains(answer, ofCaller) {
		t.Errorf("the caller's own result is %s", answer)
	}
	failure := ask("tools/call", `{"name":"fail","_meta":{"progressToken":1}}`)
	if !strings.Contains(failure, `"isError":true`) || !strings.Contains(failure, "[redacted]") {
		t.Errorf("the failure is %s", failure)
	}
	leaks(t, "the error", failure)
	refusal := ask("tools/call", `{"name":"refuse"}`)
	if !strings.Contains(refusal, `"isError":true`) || !strings.Contains(refusal, "arguments {") || !strings.Contains(refusal, "[redacted]") {
		t.Errorf("the refusal is %s", refusal)
	}
	leaks(t, "the error of a call that was refused", refusal)
	index := ask("resources/read", `{"uri":"mcpgraph://runs"}`)
	leaks(t, "the index of runs", index)
	var found int
	for _, part := range strings.Split(index, "mcpgraph://runs/")[1:] {
		run := ask("resources/read", fmt.Sprintf(`{"uri":"mcpgraph://runs/%s"}`, part[:strings.IndexAny(part, `\"`)]))
		leaks(t, "a run", run)
		if strings.Contains(run, "oauth-escaped") && strings.Contains(run, "[redacted]") {
			found++
		}
	}
	if found != 3 {
		t.Errorf("%d runs of 3 are in %s", found, index)
	}
	for _, page := range []string{"/metrics", "/status"} {
		_, _, body := w.ask(http.MethodGet, page, "")
		leaks(t, page, body)
	}
	w.stop()
	leaks(t, "stderr", w.said())
	for _, want := range []string{"invoke_workflow fail", "gen_ai.tool.call.result", "msg=\"a tool was called\""} {
		if !strings.Contains(w.said(), want) {
			t.Errorf("no %s on stderr", want)
		}
	}
}

// TestSecretsThatCallersForwardAreNotShownWhereverTheyStand sends them as
// arguments, too, of tools that call no server, or call one late.
func TestSecretsThatCallersForwardAreNotShownWhereverTheyStand(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(gossip))
	t.Cleanup(s.Close)
	path := filepath.Join(t.TempDir(), "tools.yaml")
	file := fmt.Sprintf(`version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  caller: {url: %[1]s/mcp, headers: {X-Other: "${CLIENT_SECRET}"}, forwardHeaders: [{from: X-Token, to: X-Key}], forwardMeta: [{from: example.com/key, to: X-Key}]}
tools:
  - name: echo
    description: Calls nobody
    inputSchema: {type: object}
    nodes:
      - id: entry
        type: entry
        next: say
      - id: say
        type: switch
        conditions: [{rule: {"!": [{log: {var: $}}]}, next: exit}]
        next: copy
      - {id: copy, type: transform, transform: {expr: $.entry}, next: exit}
      - {id: exit, type: exit}
  - name: fail
    description: Calls nobody and fails
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: work}
      - {id: work, type: transform, transform: {expr: "$error($string($))"}, next: exit}
      - {id: exit, type: exit}
  - name: late
    description: Sends what it got
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: call}
      - {id: call, type: mcp, server: caller, tool: heard, args: {all: {expr: $}}, next: exit}
      - {id: exit, type: exit}
`, s.URL)
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	const args = `{"plain":"` + ofCaller + `","deep":[{"` + ofCaller + `":["x ` + ofCaller + ` y"]}],"text":"{\"token\":\"` + ofCaller + `\"}"}`
	env := []string{"CLIENT_SECRET=" + ofClient, "OTEL_TRACES_EXPORTER=console", "OTEL_METRICS_EXPORTER=console", "OTEL_LOGS_EXPORTER=console"}
	flags := []string{"--expose-runs", "--log-level", "debug", "--trace-content"}
	tools := []string{"echo", "fail", "late"}
	shown := func(t *testing.T, text string) {
		t.Helper()
		leaks(t, "stderr", text)
		for _, want := range []string{"invoke_workflow echo", "mcpgraph.run.arguments", "gen_ai.tool.call.arguments", "[redacted]"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s on stderr", want)
			}
		}
	}
	for name, sent := range map[string][]string{
		"by a header": {"X-Token", ofCaller}, "after a scheme": {"X-Token", "Bearer " + ofCaller}, "in _meta": nil,
	} {
		t.Run("HTTP, "+name, func(t *testing.T) {
			w := serveWeb(t, env, append([]string{path}, flags...)...)
			in := w.session(sent...)
			meta := `{}`
			if sent == nil {
				meta = `{"example.com/key":"` + ofCaller + `"}`
			}
			for _, tool := range tools {
				_, _, body := w.ask(http.MethodPost, "/mcp", fmt.Sprintf(
					`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":%s}}`, tool, args, meta), in...)
				if tool == "echo" && !strings.Contains(body, ofCaller) {
					t.Errorf("the caller's own result is %s", body)
				}
				if tool == "fail" {
					leaks(t, "the error", body)
				}
			}
			read := func(uri string) string {
				_, _, body := w.ask(http.MethodPost, "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q}}`, uri), in...)
				return body
			}
			index := read("mcpgraph://runs")
			runs := strings.Split(index, "mcpgraph://runs/")[1:]
			if len(runs) != len(tools) {
				t.Errorf("%d runs in %s", len(runs), index)
			}
			for _, part := range runs {
				leaks(t, "a run", read("mcpgraph://runs/"+part[:strings.IndexAny(part, `\"`)]))
			}
			w.stop()
			shown(t, w.said())
		})
	}
	t.Run("run", func(t *testing.T) {
		var all strings.Builder
		for _, tool := range tools {
			cmd := exec.Command(binary, "run", path, tool, "--trace=json", "--log-level", "debug", "--trace-content", "--header", "X-Token: "+ofCaller, "--args", args)
			cmd.Env = append(os.Environ(), env...)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			if err := cmd.Run(); (err != nil) != (tool == "fail") {
				t.Errorf("%s: %v %s", tool, err, errs.String())
			}
			all.WriteString(errs.String())
		}
		leaks(t, "stderr", all.String())
		for _, want := range []string{"invoke_workflow echo", "mcpgraph.run.arguments", "[redacted]"} {
			if !strings.Contains(all.String(), want) {
				t.Errorf("no %s on stderr", want)
			}
		}
	})
}
