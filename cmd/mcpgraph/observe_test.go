package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// web is the program, serving over HTTP.
type web struct {
	t    *testing.T
	base string // URL without the path
	cmd  *exec.Cmd
	done chan struct{} // closed when stderr has ended

	mu     sync.Mutex
	stderr bytes.Buffer
}

// serveWeb starts the program at a free port. The variables are beside the
// test's own.
func serveWeb(t *testing.T, env []string, args ...string) *web {
	t.Helper()
	w := &web{t: t, cmd: exec.Command(binary, append([]string{"serve", "--http", ":0"}, args...)...), done: make(chan struct{})}
	w.cmd.Env = append(os.Environ(), env...)
	pipe, err := w.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.cmd.Process.Kill() }) // where it was not stopped
	ready := make(chan string, 1)
	go func() {
		defer close(w.done)
		defer close(ready)
		url := regexp.MustCompile(`msg="serving MCP over HTTP" url=(http\S+)/mcp`)
		for lines := bufio.NewReader(pipe); ; {
			line, err := lines.ReadString('\n')
			w.mu.Lock()
			w.stderr.WriteString(line)
			w.mu.Unlock()
			if at := url.FindStringSubmatch(line); at != nil {
				ready <- at[1]
			}
			if err != nil {
				return
			}
		}
	}()
	if w.base = <-ready; w.base == "" {
		t.Fatalf("it does not serve:\n%s", w.said())
	}
	return w
}

// said gives what it wrote on stderr so far.
func (w *web) said() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stderr.String()
}

// stop tells it to end, and waits until it has.
func (w *web) stop() {
	w.t.Helper()
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		w.t.Fatal(err)
	}
	<-w.done
	if err := w.cmd.Wait(); err != nil {
		w.t.Errorf("%v:\n%s", err, w.said())
	}
}

// ask sends a request with these headers, pairs of names and values, and gives
// the answer's status, headers and body.
func (w *web) ask(method, path, body string, headers ...string) (int, http.Header, string) {
	w.t.Helper()
	r, err := http.NewRequest(method, w.base+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(text)
}

// session opens a session, with these headers, and gives the headers of what
// follows in it.
func (w *web) session(headers ...string) []string {
	w.t.Helper()
	status, header, body := w.ask(http.MethodPost, "/mcp", initialize, headers...)
	if status != http.StatusOK {
		w.t.Fatalf("%d %s", status, body)
	}
	return append(headers[:len(headers):len(headers)], "Mcp-Session-Id", header.Get("Mcp-Session-Id"))
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("in vain: %s", what)
		}
	}
}

// overHTTP gives a file like testdata/telemetry/front.yaml whose server is the
// one at this URL.
func overHTTP(t *testing.T, url string) string {
	t.Helper()
	source, err := os.ReadFile("testdata/telemetry/front.yaml")
	if err != nil {
		t.Fatal(err)
	}
	from, rest, _ := strings.Cut(string(source), "    command:")
	_, rest, found := strings.Cut(rest, "\ntools:")
	path := filepath.Join(t.TempDir(), "front.yaml")
	if err := os.WriteFile(path, []byte(from+"    url: "+url+"\ntools:"+rest), 0o600); err != nil || !found {
		t.Fatal(err, found)
	}
	return path
}

func TestOperatorSeesServersOverHTTP(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	exported := func(name string) []string {
		return []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.url, "OTEL_SERVICE_NAME=" + name}
	}
	numbers := serveWeb(t, exported("numbers"), "testdata/telemetry/numbers.yaml")
	front := serveWeb(t, exported("front"), overHTTP(t, numbers.base+"/mcp"), "--metrics", "--status", "--session-idle", "50ms", "--log-level", "debug")

	server := func() value.Value {
		_, header, body := front.ask(http.MethodGet, "/status", "")
		v, err := value.Parse(body)
		if err != nil || header.Get("Content-Type") != "application/json" || v.Get("servers").Len() != 1 {
			t.Fatalf("%v: %s", err, body)
		}
		return v.Get("servers").Elems()[0]
	}
	if s := server(); s.Get("server").Str() != "numbers" || s.Get("transport").Str() != "http" || s.Get("state").Str() != "idle" || s.Get("calls").JSON() != "0" {
		t.Errorf("before any call: %s", s.JSON())
	}
	for _, message := range []string{call(7, 21, goodTrace), call(8, 13, badTrace)} {
		eventually(t, "a call in a session that has not ended before", func() bool {
			status, _, body := front.ask(http.MethodPost, "/mcp", message, front.session()...)
			if status != http.StatusOK && status != http.StatusNotFound {
				t.Fatalf("%d %s", status, body)
			}
			return status == http.StatusOK
		})
	}
	if s := server(); s.Get("state").Str() != "connected" || s.Get("protocol").Str() == "" || s.Get("name").Str() != "numbers" ||
		s.Get("calls").JSON() != "2" || s.Get("errors").JSON() != "0" || s.Get("sessions").JSON() != "1" {
		t.Errorf("after two calls: %s", s.JSON())
	}
	eventually(t, "an idle session is measured", func() bool {
		_, _, page := front.ask(http.MethodGet, "/metrics", "")
		return regexp.MustCompile(`(?m)^mcp_server_session_duration_seconds_count\{[^}]*\} [1-9]`).MatchString(page)
	})
	_, _, page := front.ask(http.MethodGet, "/metrics", "")
	for _, want := range []string{
		`^mcpgraph_upstream_calls_total\{mcpgraph_server="numbers",[^}]*\} 2$`,
		`^mcpgraph_upstream_state\{mcpgraph_server="numbers",mcpgraph_upstream_state="connected",[^}]*\} 1$`,
		`^mcp_client_operation_duration_seconds_count\{.*error_type="tool_error".*\} 1$`,
		`^mcp_server_operation_duration_seconds_bucket\{gen_ai_operation_name="execute_tool",.*le="0.01"\} `,
	} {
		if !regexp.MustCompile("(?m)" + want).MatchString(page) {
			t.Errorf("no %s among\n%s", want, page)
		}
	}
	front.stop()
	numbers.stop()
	if !strings.Contains(front.said(), `msg="a tool was called" tool=answer`) || !strings.Contains(front.said(), "trace_id="+goodTrace) {
		t.Errorf("stderr does not name the trace:\n%s", front.said())
	}
	doc, err := os.ReadFile("../../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	tree := c.tree(goodTrace, outside)
	if over := strings.ReplaceAll(tree, "transport=tcp", "transport=pipe"); tree == "" || over == tree || !strings.Contains(string(doc), "```text\n"+over+"```\n") {
		t.Errorf("the tree over HTTP is not that over pipes:\n%s", tree)
	}
	for _, s := range c.spans {
		if s.Kind.String() != "SPAN_KIND_CLIENT" {
			continue
		}
		for _, key := range []string{"mcp.protocol.version", "jsonrpc.request.id", "server.address", "server.port"} {
			if attribute(s.Attributes, key) == "" {
				t.Errorf("%s has no %s", s.Name, key)
			}
		}
	}
	for service, want := range map[string]int64{"front": 2, "numbers": 0} {
		if got := c.count(service, "mcpgraph.upstream.calls"); got != want {
			t.Errorf("%s counted %d calls of its servers, want %d", service, got, want)
		}
	}
}
