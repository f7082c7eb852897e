package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/audit"
)

// auditedFile has a tool for everybody, one for some, one that fails and one that
// takes long.
func auditedFile(t *testing.T) string {
	t.Helper()
	path := accessFile(t, `  auth:
    type: bearer
    tokens: {ann: "${ANN}", bob: {token: "${BOB}", scopes: [write]}}
`)
	more := `
  - name: fail
    description: Fails
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: work}
      - {id: work, type: transform, transform: {expr: "$error($string($))"}, next: exit}
      - {id: exit, type: exit}
  - name: long
    description: Takes long
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: work}
      - {id: work, type: transform, transform: {expr: "$reduce([1..9000000], function($a,$b){$a+$sqrt($b)})"}, next: exit}
      - {id: exit, type: exit}
`
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(text, more...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// audited reads the records of a file.
func audited(t *testing.T, path string) (records []audit.Record) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r audit.Record
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil || !strings.HasSuffix(line, "\n") || r.Time.IsZero() {
			t.Errorf("%v: %s", err, line)
		}
		records = append(records, r)
	}
	return records
}

// outline is what tests compare of a record.
func outline(r audit.Record) string {
	client := ""
	if r.Client != nil {
		client = r.Client.Name + "/" + r.Client.Version
	}
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s %s %s %s", r.Caller, client, r.Method, r.Tool, r.Decision, r.Reason, r.Outcome)), " ")
}

func compare(t *testing.T, path string, want []string) {
	t.Helper()
	var got []string
	for _, r := range audited(t, path) {
		got = append(got, outline(r))
		if (r.Run != "") != (r.Tool != "" && r.Decision == audit.Allowed) {
			t.Errorf("the run is wrong: %+v", r)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const notShown = "a-value-that-is-not-shown"

func TestEachDecisionIsInTheAuditLogOnce(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "audit.jsonl")
	w := serveWeb(t, []string{"ANN=" + notShown + "-ann", "BOB=" + notShown + "-bob"},
		auditedFile(t), "--audit", out, "--metrics", "--max-request-bytes", "10000")
	ann, bob := []string{"Authorization", "Bearer " + notShown + "-ann"}, []string{"Authorization", "Bearer " + notShown + "-bob"}
	var want []string
	expect := func(records ...string) { want = append(want, records...) }
	ask := func(status int, method, path, body string, headers ...string) http.Header {
		t.Helper()
		got, header, text := w.ask(method, path, body, headers...)
		if got != status {
			t.Errorf("%s %s %.300s: %d %s, want %d", method, path, body, got, text, status)
		}
		return header
	}
	request := func(method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	}
	call := func(tool string) string {
		return request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"x":%q}}`, tool, notShown))
	}
	begin := func(version string, headers []string) []string {
		t.Helper()
		h := ask(200, "POST", "/mcp", request("initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"probe","version":"9"}}`, version)), headers...)
		return append(slices.Clone(headers), "Mcp-Session-Id", h.Get("Mcp-Session-Id"))
	}

	in := begin("2025-11-25", ann)
	expect("ann probe/9 initialize allowed ok")
	ask(202, "POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, in...)
	for tool, record := range map[string]string{
		"look": "allowed ok", "fail": "allowed error", "nope": "denied unknown_tool",
	} {
		ask(200, "POST", "/mcp", call(tool), in...)
		expect("ann probe/9 tools/call " + tool + " " + record)
	}
	ask(403, "POST", "/mcp", call("change"), in...)
	expect("ann probe/9 tools/call change denied insufficient_scope")
	ask(200, "POST", "/mcp", request("tools/list", "{}"), in...)
	expect("ann probe/9 tools/list allowed ok")
	ask(200, "POST", "/mcp", request("no/such", "{}"), in...)
	expect("ann probe/9 no/such denied unknown_method")
	ask(200, "POST", "/mcp", request("tools/call", `{"name":7}`), in...)
	expect("ann probe/9 tools/call denied invalid_params")

	ofBob := begin("2025-03-26", bob)
	expect("bob probe/9 initialize allowed ok")
	ask(200, "POST", "/mcp", `[`+call("change")+`,`+strings.Replace(call("nope"), `"id":1`, `"id":2`, 1)+`,{"jsonrpc":"2.0","method":"notifications/x"},{"id":3}]`, ofBob...)
	expect("bob probe/9 tools/call change allowed ok", "bob probe/9 tools/call nope denied unknown_tool", "bob probe/9 denied invalid_request")

	modern := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"new","version":"1"}}`
	era := append(slices.Clone(ann), "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "look")
	ask(200, "POST", "/mcp", request("tools/call", `{"name":"look","arguments":{},`+modern+`}`), era...)
	expect("ann new/1 tools/call look allowed ok")
	ask(400, "POST", "/mcp", request("tools/call", `{"name":"fail","arguments":{},`+modern+`}`), era...)
	expect("ann new/1 tools/call fail denied header_mismatch")

	// Requests of HTTP that carry none of MCP.
	ask(401, "POST", "/mcp", call("look"))
	expect("POST /mcp denied unauthenticated")
	ask(401, "POST", "/mcp", call("look"), "Authorization", "Bearer "+notShown+"-eve")
	expect("POST /mcp denied invalid_token")
	ask(403, "POST", "/mcp", call("look"), append(in[:len(in):len(in)], "Origin", "https://evil.example")...)
	expect("POST /mcp denied origin")
	ask(404, "POST", "/mcp", call("look"), append(slices.Clone(bob), in[2:]...)...) // it is ann's
	expect("bob POST /mcp denied unknown_session")
	ask(400, "POST", "/mcp", call("look"), ann...)
	expect("ann POST /mcp denied bad_request")
	ask(400, "POST", "/mcp", `{"a"`, in...)
	expect("ann POST /mcp denied bad_request")
	ask(413, "POST", "/mcp", `"`+strings.Repeat("x", 20000)+`"`, in...)
	expect("ann POST /mcp denied too_large")
	ask(415, "POST", "/mcp", call("look"), append(in[:len(in):len(in)], "Content-Type", "text/plain")...)
	expect("ann POST /mcp denied unsupported_media_type")
	ask(406, "POST", "/mcp", call("look"), append(in[:len(in):len(in)], "Accept", "image/png")...)
	expect("ann POST /mcp denied not_acceptable")
	ask(405, "PUT", "/mcp", "", in...)
	expect("ann PUT /mcp denied method_not_allowed")
	ask(404, "GET", "/nope", "", in...)
	expect("GET /nope denied not_found")
	ask(200, "GET", "/metrics", "", ann...)
	expect("ann GET /metrics allowed ok")
	ask(401, "GET", "/metrics", "")
	expect("GET /metrics denied unauthenticated")
	ask(200, "GET", "/healthz", "")
	ask(200, "GET", "/readyz", "")

	// A call that its client gives up, and a stream that the session ends.
	ctx, giveUp := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", w.base+"/mcp", strings.NewReader(request("tools/call", `{"name":"long","_meta":{"progressToken":1}}`)))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(in); i += 2 {
		r.Header.Set(in[i], in[i+1])
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(response.Body).ReadString('\n'); err != nil { // it has begun
		t.Error(err)
	}
	giveUp()
	response.Body.Close()
	expect("ann probe/9 tools/call long allowed cancelled")
	stream, err := http.NewRequest("GET", w.base+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	stream.Header = r.Header.Clone()
	if response, err = http.DefaultClient.Do(stream); err != nil {
		t.Fatal(err)
	}
	ask(204, "DELETE", "/mcp", "", in...)
	expect("ann GET /mcp allowed ok", "ann DELETE /mcp allowed ok")
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Error(err)
	}
	response.Body.Close()
	w.stop()

	compare(t, out, want)
	text, err := os.ReadFile(out)
	if err != nil || strings.Contains(string(text), notShown) {
		t.Errorf("a value is in the audit log (%v):\n%s", err, text)
	}
	if at, err := os.Stat(out); err != nil || at.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", at.Mode(), err)
	}
}

func TestEachDecisionOverStandardInputIsInTheAuditLogOnce(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "audit.jsonl")
	for range 2 { // the second appends
		cmd := exec.Command(binary, "serve", auditedFile(t), "--audit", out)
		cmd.Env = append(os.Environ(), "ANN="+notShown+"-ann", "BOB="+notShown+"-bob")
		cmd.Stdin = strings.NewReader(strings.Join([]string{
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"probe","version":"9"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{"x":"` + notShown + `"}}}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"change"}}`,
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"fail","arguments":{"x":"` + notShown + `"}}}`,
			`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"nope"}}`,
			`{"jsonrpc":"2.0","id":5,"method":"no/such"}`,
			`{"jsonrpc":"2.0","id":6,"method":"ping"}`,
			`{"jsonrpc":"1.0","id":7,"method":"ping"}`,
			`{"a"`, `[]`, ``,
		}, "\n"))
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, output)
		}
	}
	var want []string
	for range 2 {
		want = append(want,
			"probe/9 initialize allowed ok", "probe/9 tools/call look allowed ok", "probe/9 tools/call change allowed ok",
			"probe/9 tools/call fail allowed error", "probe/9 tools/call nope denied unknown_tool", "probe/9 no/such denied unknown_method",
			"probe/9 ping allowed ok", "probe/9 denied invalid_request", "probe/9 denied parse_error", "probe/9 denied invalid_request")
	}
	compare(t, out, want)
	if text, err := os.ReadFile(out); err != nil || strings.Contains(string(text), notShown) {
		t.Errorf("a value is in the audit log (%v):\n%s", err, text)
	}
}

func TestAuditLogIsRotated(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "audit.jsonl")
	w := serveWeb(t, []string{"ANN=" + notShown + "-ann", "BOB=" + notShown + "-bob"}, auditedFile(t), "--audit", out)
	w.ask("POST", "/mcp", initialize)
	if err := os.Rename(out, out+".1"); err != nil {
		t.Fatal(err)
	}
	w.ask("POST", "/mcp", initialize)
	if err := w.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the file is there again", func() bool { _, err := os.Stat(out); return err == nil })
	w.ask("POST", "/mcp", initialize)
	w.stop()
	if before, after := len(audited(t, out+".1")), len(audited(t, out)); before != 2 || after != 1 {
		t.Errorf("%d records in the first file and %d in the second", before, after)
	}

	w = serveWeb(t, []string{"ANN=" + notShown + "-ann", "BOB=" + notShown + "-bob"}, auditedFile(t), "--audit", "stderr")
	w.ask("POST", "/mcp", initialize)
	w.stop()
	if !strings.Contains(w.said(), `"method":"POST /mcp","decision":"denied","reason":"unauthenticated","status":401`) {
		t.Error(w.said())
	}
	if output, err := exec.Command(binary, "serve", "testdata/tools.yaml", "--audit", t.TempDir()).CombinedOutput(); err == nil || !strings.Contains(string(output), "--audit: open") {
		t.Errorf("a folder as the file: %v %s", err, output)
	}
}

func TestOperatorsSeeWhoCallsAndWhoIsRefused(t *testing.T) {
	t.Parallel()
	w := serveWeb(t, []string{"ANN=" + notShown + "-ann", "BOB=" + notShown + "-bob", "OTEL_TRACES_EXPORTER=console"},
		auditedFile(t), "--metrics", "--log-level", "debug")
	in := w.session("Authorization", "Bearer "+notShown+"-ann")
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`
	w.ask("POST", "/mcp", fmt.Sprintf(call, "look"), in...)
	w.ask("POST", "/mcp", fmt.Sprintf(call, "change"), in...)
	w.ask("POST", "/mcp", fmt.Sprintf(call, "look"))
	w.ask("POST", "/mcp", fmt.Sprintf(call, "look"), "Authorization", "Bearer "+notShown+"-eve")
	_, _, page := w.ask("GET", "/metrics", "", in...)
	for _, want := range []string{
		`error_type="unauthenticated",http_request_method="POST",http_response_status_code="401"`,
		`error_type="invalid_token",http_request_method="POST",http_response_status_code="401"`,
		`error_type="insufficient_scope",http_request_method="POST",http_response_status_code="403"`,
	} {
		if !strings.Contains(page, "mcpgraph_server_refusals_total{"+want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	w.stop()
	said := w.said()
	for _, want := range []string{
		`"Key":"enduser.id","Value":{"Type":"STRING","Value":"ann"}`, `"Key":"mcpgraph.run.id"`,
		`msg="a tool was called"`, `caller=ann`, `msg="request refused" reason=insufficient_scope status=403`,
		`msg="request refused" reason=invalid_token status=401`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %s on stderr:\n%s", want, said)
		}
	}
	if n := strings.Count(said, `"Key":"enduser.id"`); n < 4 { // initialize, two calls, and a run
		t.Errorf("%d spans name the caller", n)
	}
	if strings.Contains(said, notShown) {
		t.Error("a token was written")
	}
}
