package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// testServer is a server on a port of the loopback address.
type testServer struct {
	t      *testing.T
	url    string
	server *server.Server
	stop   context.CancelCauseFunc
	ended  chan error
}

func serve(t *testing.T, opts server.Options, over server.HTTPOptions) *testServer {
	t.Helper()
	opts.Info = config.Server{Name: "test", Version: "1.0.0"}
	return serveAs(t, opts, over)
}

// serveAs is serve with what opts say of the server.
func serveAs(t *testing.T, opts server.Options, over server.HTTPOptions) *testServer {
	t.Helper()
	s, err := server.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	x := &testServer{t: t, server: s, url: "http://" + l.Addr().String(), stop: stop, ended: make(chan error, 1)}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		x.ended <- s.ServeHTTP(ctx, l, over)
	}()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections() // the server waits 5 s for one without a request
		stop(nil)
		<-gone // the tests that follow change what servers read
	})
	return x
}

// httpReply is an answer.
type httpReply struct {
	status int
	header http.Header
	body   string
}

// ask makes one request; headers are names and values in turn.
func (x *testServer) ask(method, path, body string, headers ...string) httpReply {
	x.t.Helper()
	return x.do(x.request(method, path, body, headers...))
}

func (x *testServer) request(method, path, body string, headers ...string) *http.Request {
	x.t.Helper()
	r, err := http.NewRequest(method, x.url+path, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	return r
}

func (x *testServer) do(r *http.Request) httpReply {
	x.t.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		x.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return httpReply{response.StatusCode, response.Header, string(data)}
}

func (x *testServer) post(body string, headers ...string) httpReply {
	x.t.Helper()
	return x.ask(http.MethodPost, server.Path, body, headers...)
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`

// session initializes and returns the headers of the session.
func (x *testServer) session(version string, headers ...string) []string {
	x.t.Helper()
	g := x.post(fmt.Sprintf(initialize, version), headers...)
	id := g.header.Get("Mcp-Session-Id")
	if g.status != http.StatusOK || id == "" || !strings.Contains(g.body, `"protocolVersion":"`+version+`"`) {
		x.t.Fatalf("initialize: %d %v %s", g.status, g.header, g.body)
	}
	return append(headers, "Mcp-Session-Id", id, "Mcp-Protocol-Version", version)
}

func httpOptions(t *testing.T) server.Options {
	return server.Options{
		Tools: []server.Tool{{Name: "echo", InputSchema: parse(t, `{"type":"object"}`)}},
		Call: func(_ context.Context, q *server.Request) (value.Value, error) {
			b := value.NewBuilder(2)
			b.Set("args", q.Args)
			b.Set("caller", value.FromString(q.Caller))
			return b.Value(), nil
		},
	}
}

const call = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"echo","arguments":{"b":12345678901234567890,"a":"<&>"}%s}}`

func TestSessionsOverHTTPInEveryRevision(t *testing.T) {
	x := serve(t, httpOptions(t), server.HTTPOptions{})
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		headers := x.session(version)
		if g := x.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers...); g.status != http.StatusAccepted || g.body != "" {
			t.Errorf("%s: a notification gives %d %q", version, g.status, g.body)
		}
		g := x.post(fmt.Sprintf(call, `"x"`, ""), headers...)
		if g.status != http.StatusOK || g.header.Get("Content-Type") != "application/json" ||
			!strings.Contains(g.body, `"structuredContent":{"args":{"b":12345678901234567890,"a":"<&>"},"caller":""}`) {
			t.Errorf("%s: %d %v %s", version, g.status, g.header, g.body)
		}
		if g := x.ask(http.MethodDelete, server.Path, "", headers...); g.status != http.StatusNoContent {
			t.Errorf("%s: DELETE gives %d", version, g.status)
		}
		if g := x.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, headers...); g.status != http.StatusNotFound {
			t.Errorf("%s: a session that has ended gives %d", version, g.status)
		}
	}
}

// modern are the headers of a request of revision 2026-07-28.
func modern(method, name string) []string {
	return []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name}
}

const eraMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`

func TestRevisionWithoutSessionsOverHTTP(t *testing.T) {
	x := serve(t, httpOptions(t), server.HTTPOptions{})
	body := fmt.Sprintf(call, "7", `,"_meta":{`+eraMeta+`}`)
	for _, c := range []struct {
		name    string
		body    string
		headers []string
		status  int
		has     string
	}{
		{"a call", body, modern("tools/call", "echo"), 200, `"a":"<&>"`},
		{"a made-up session is ignored", body, append(modern("tools/call", "echo"), "Mcp-Session-Id", "no"), 200, `"a":"<&>"`},
		{"no header of the revision", body, nil, 400, `-32020`},
		{"another method in the header", body, modern("tools/list", "echo"), 400, `-32020`},
		{"another name in the header", body, modern("tools/call", "other"), 400, `-32020`},
		{"no revision in the message", fmt.Sprintf(call, "7", ""), modern("tools/call", "echo"), 400, `-32602`},
		{"an unknown method", strings.Replace(body, "tools/call", "no/such", 1), modern("no/such", ""), 404, `-32601`},
		{"a removed method without its params", strings.Replace(strings.Replace(body, "tools/call", "resources/subscribe", 1), `"name"`, `"nome"`, 1), modern("resources/subscribe", ""), 404, `was removed`},
		{"an unknown tool", strings.Replace(body, `"echo"`, `"ecco"`, 1), modern("tools/call", "ecco"), 400, `did you mean \"echo\"`},
		{"discovery", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{` + eraMeta + `}}}`, modern("server/discover", ""), 200, `2026-07-28`},
	} {
		if g := x.post(c.body, c.headers...); g.status != c.status || !strings.Contains(g.body, c.has) || g.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: %d %s", c.name, g.status, g.body)
		}
	}
	if g := x.ask(http.MethodDelete, server.Path, "", modern("", "")...); g.status != http.StatusMethodNotAllowed {
		t.Errorf("DELETE gives %d", g.status)
	}
}

func TestInvalidHTTPRequestsAreRefused(t *testing.T) {
	x := serve(t, httpOptions(t), server.HTTPOptions{MaxBody: 4096, AllowedOrigins: []string{"https://good.example"}})
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	in := x.session("2025-11-25")
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
	}{
		{"no session", "POST", "/mcp", list, nil, 400},
		{"a made-up session", "POST", "/mcp", list, []string{"Mcp-Session-Id", "made-up"}, 404},
		{"a made-up session to end", "DELETE", "/mcp", "", []string{"Mcp-Session-Id", "made-up"}, 404},
		{"an unknown revision", "POST", "/mcp", list, append(in[:2:2], "Mcp-Protocol-Version", "1999-01-01"), 400},
		{"no JSON", "POST", "/mcp", `{"jsonrpc":`, in, 400},
		{"no UTF-8", "POST", "/mcp", "{\"jsonrpc\":\"\xff\"}", in, 400},
		{"no request", "POST", "/mcp", `7`, in, 400},
		{"a batch in a revision without", "POST", "/mcp", `[` + list + `]`, in, 400},
		{"too long", "POST", "/mcp", `"` + strings.Repeat("x", 5000) + `"`, in, 413},
		{"another type", "POST", "/mcp", list, append(in[:4:4], "Content-Type", "text/plain"), 415},
		{"an answer that cannot be read", "POST", "/mcp", list, append(in[:4:4], "Accept", "text/html"), 406},
		{"a stream of no session", "GET", "/mcp", "", nil, 400},
		{"a stream of a made-up session", "GET", "/mcp", "", []string{"Mcp-Session-Id", "made-up"}, 404},
		{"a stream of a revision without", "GET", "/mcp", "", modern("", ""), 405},
		{"a stream that cannot be read", "GET", "/mcp", "", append(in[:4:4], "Accept", "application/json"), 406},
		{"another host", "POST", "/mcp", list, append(in[:4:4], "Host", "evil.example"), 403},
		{"a page from elsewhere", "POST", "/mcp", list, append(in[:4:4], "Origin", "https://evil.example"), 403},
		{"a page of the name it bound to us", "POST", "/mcp", list, append(in[:4:4], "Origin", "http://evil.example:80"), 403},
		{"a page without origin", "POST", "/mcp", list, append(in[:4:4], "Origin", "null"), 403},
		{"another path", "POST", "/mcp/../x", list, in, 404},
		{"a good page", "POST", "/mcp", list, append(in[:4:4], "Origin", "https://good.example"), 200},
		{"a page of this machine", "POST", "/mcp", list, append(in[:4:4], "Origin", "http://localhost:3000"), 200},
		{"a good page asks first", "OPTIONS", "/mcp", "", []string{"Origin", "https://good.example", "Access-Control-Request-Method", "POST"}, 204},
	} {
		if g := x.ask(c.method, c.path, c.body, c.headers...); g.status != c.status {
			t.Errorf("%s: %d %s", c.name, g.status, g.body)
		}
	}
}

func TestBatchOverHTTPIsAnsweredAsOne(t *testing.T) {
	x := serve(t, httpOptions(t), server.HTTPOptions{})
	in := x.session("2025-03-26")
	g := x.post(`[{"jsonrpc":"2.0","method":"notifications/initialized"},`+fmt.Sprintf(call, "1", "")+`,{"jsonrpc":"2.0","id":2,"method":"ping"}]`, in...)
	if g.status != http.StatusOK || parse(t, g.body).Len() != 2 {
		t.Errorf("%d %s", g.status, g.body)
	}
	if g := x.post(`[{"jsonrpc":"2.0","method":"notifications/initialized"}]`, in...); g.status != http.StatusAccepted {
		t.Errorf("notifications alone: %d %s", g.status, g.body)
	}
}

func TestProgressPrecedesTheResultOnItsStream(t *testing.T) {
	opts := httpOptions(t)
	opts.Call = func(_ context.Context, q *server.Request) (value.Value, error) {
		for i := range 500 {
			q.Reporter().Step(499-i, "")
		}
		return q.Args, nil
	}
	x := serve(t, opts, server.HTTPOptions{})
	in := x.session("2025-11-25")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			g := x.post(fmt.Sprintf(call, fmt.Sprint(i), fmt.Sprintf(`,"_meta":{"progressToken":"token %d"}`, i)), in...)
			events := strings.Split(strings.TrimSpace(g.body), "\n\n")
			if g.header.Get("Content-Type") != "text/event-stream" || len(events) != 501 {
				t.Errorf("%d events as %s", len(events), g.header.Get("Content-Type"))
				return
			}
			for n, e := range events[:500] {
				p := parse(t, strings.TrimPrefix(e, "data: ")).Get("params")
				if p.Get("progress").Float() != float64(n+1) || p.Get("progressToken").Str() != fmt.Sprintf("token %d", i) {
					t.Errorf("event %d is %s", n, e)
				}
			}
			if parse(t, strings.TrimPrefix(events[500], "data: ")).Get("id").JSON() != fmt.Sprint(i) {
				t.Errorf("the last event is %s", events[500])
			}
		})
	}
	all.Wait()
	g := x.post(fmt.Sprintf(call, "9", `,"_meta":{"progressToken":1}`), append(in, "Accept", "application/json")...)
	if g.header.Get("Content-Type") != "application/json" {
		t.Errorf("a client that takes no stream got %s", g.header.Get("Content-Type"))
	}
}

// hangingOptions is a tool that waits for its context to end, and reports why.
func hangingOptions(t *testing.T) (opts server.Options, began, ended chan error) {
	began, ended = make(chan error, 10), make(chan error, 10)
	opts = httpOptions(t)
	opts.Call = func(ctx context.Context, _ *server.Request) (value.Value, error) {
		began <- nil
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return value.Undef, context.Cause(ctx)
	}
	return opts, began, ended
}

func TestClosingTheHTTPRequestCancelsItsCall(t *testing.T) {
	opts, began, ended := hangingOptions(t)
	x := serve(t, opts, server.HTTPOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, x.url+server.Path,
		strings.NewReader(fmt.Sprintf(call, "7", `,"_meta":{`+eraMeta+`}`)))
	r.Header = http.Header{"Content-Type": {"application/json"}}
	for headers := modern("tools/call", "echo"); len(headers) > 0; headers = headers[2:] {
		r.Header.Set(headers[0], headers[1])
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if response, err := http.DefaultClient.Do(r); err == nil {
			response.Body.Close()
		}
	}()
	<-began
	cancelled := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"_meta":{` + eraMeta + `}}}`
	if g := x.post(cancelled, modern("notifications/cancelled", "")...); g.status != http.StatusAccepted {
		t.Errorf("%d %s", g.status, g.body)
	}
	select {
	case err := <-ended:
		t.Fatalf("another client cancelled the call: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	cancel()
	<-gone
	<-ended
}

func TestSessionCancelsOnlyItsOwnCalls(t *testing.T) {
	opts, began, ended := hangingOptions(t)
	x := serve(t, opts, server.HTTPOptions{})
	mine, other := x.session("2025-11-25"), x.session("2025-11-25")
	answered := make(chan httpReply, 1)
	go func() { answered <- x.post(fmt.Sprintf(call, "7", ""), mine...) }()
	<-began
	const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
	x.post(cancelled, other...)
	if g := x.post(fmt.Sprintf(call, "7", ""), mine...); g.status != http.StatusBadRequest || len(ended) != 0 {
		t.Errorf("the same id twice: %d %s", g.status, g.body)
	}
	x.post(cancelled, mine...)
	if g := <-answered; g.status != http.StatusOK || g.body != "" { // nobody waits for an answer
		t.Errorf("%d %s", g.status, g.body)
	}
	<-ended
}

func TestShutdownAnswersRunningRequests(t *testing.T) {
	opts := httpOptions(t)
	began, finish := make(chan struct{}), make(chan struct{})
	opts.Call = func(_ context.Context, q *server.Request) (value.Value, error) {
		close(began)
		<-finish
		return q.Args, nil
	}
	x := serve(t, opts, server.HTTPOptions{Grace: time.Minute})
	in := x.session("2025-11-25")
	answered := make(chan httpReply, 1)
	go func() { answered <- x.post(fmt.Sprintf(call, "1", ""), in...) }()
	<-began
	why := errors.New("told to")
	x.stop(why)
	close(finish)
	if g := <-answered; g.status != http.StatusOK || !strings.Contains(g.body, "structuredContent") {
		t.Errorf("%d %s", g.status, g.body)
	}
	if err := <-x.ended; err != why {
		t.Errorf("it ended with %v", err)
	}
}

// TestShutdownClosesConnectionsThatWereNeverUsed stops a server with a grace that would
// let the test time out.
func TestShutdownClosesConnectionsThatWereNeverUsed(t *testing.T) {
	x := serve(t, httpOptions(t), server.HTTPOptions{Grace: time.Hour})
	c := x.dial()
	x.session("2025-11-25") // the server has taken the connection before
	began := time.Now()
	x.stop(errors.New("told to"))
	<-x.ended
	if took := time.Since(began); took > 4*time.Second { // net/http waits 5 s
		t.Errorf("the server ended after %v", took)
	}
	if !c.closed() {
		t.Error("the connection stays")
	}
}

func TestShutdownCancelsCallsAfterGrace(t *testing.T) {
	opts, began, ended := hangingOptions(t)
	x := serve(t, opts, server.HTTPOptions{Grace: time.Millisecond})
	in := x.session("2025-11-25")
	answered := make(chan httpReply, 1)
	go func() { answered <- x.post(fmt.Sprintf(call, "1", ""), in...) }()
	<-began
	why := errors.New("told to stop")
	x.stop(why)
	if err := <-ended; err != why {
		t.Errorf("the call ended with %v", err)
	}
	if g := <-answered; !strings.Contains(g.body, "told to stop") {
		t.Errorf("%d %s", g.status, g.body)
	}
	if err := <-x.ended; err != why {
		t.Errorf("it ended with %v", err)
	}
}

func TestSessionIdleTimeoutAndLimit(t *testing.T) {
	var mu sync.Mutex
	began, over := 0, 0
	x := serve(t, httpOptions(t), server.HTTPOptions{
		SessionIdle: 20 * time.Millisecond, MaxSessions: 2,
		Session: func(context.Context) func(error) {
			mu.Lock()
			defer mu.Unlock()
			began++
			return func(error) { mu.Lock(); defer mu.Unlock(); over++ }
		},
	})
	full := false
	for range 3 {
		full = x.post(fmt.Sprintf(initialize, "2025-11-25")).status == http.StatusServiceUnavailable
	}
	deadline := time.Now().Add(10 * time.Second)
	for done := false; !done && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		mu.Lock()
		done = over == began
		mu.Unlock()
	}
	if !full && began == 2 || over != began {
		t.Errorf("%d sessions began, %d ended; refused: %t", began, over, full)
	}
	x.session("2025-11-25")
}

func TestTokensIdentifyCallers(t *testing.T) {
	tokens := guardOf(t, "ann", "bob")
	x := serve(t, httpOptions(t), server.HTTPOptions{Guard: tokens, Metrics: http.NotFoundHandler(), Status: http.NotFoundHandler()})
	ann := x.session("2025-11-25", "Authorization", "Bearer 0123456789abcdef-ann")
	bob := append([]string{"Authorization", "Bearer 0123456789abcdef-bob"}, ann[2:]...)
	if g := x.post(fmt.Sprintf(call, "1", ""), ann...); !strings.Contains(g.body, `"caller":"ann"`) {
		t.Errorf("%d %s", g.status, g.body)
	}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		if g := x.ask(method, server.Path, fmt.Sprintf(call, "1", ""), bob...); g.status != http.StatusNotFound {
			t.Errorf("%s with another caller's session: %d %s", method, g.status, g.body)
		}
	}
	for _, headers := range [][]string{nil, {"Authorization", "Basic eDp5"}, {"Authorization", "Bearer 0123456789abcdef-cat"}} {
		g := x.post(fmt.Sprintf(initialize, "2025-11-25"), headers...)
		if g.status != http.StatusUnauthorized || !strings.HasPrefix(g.header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%v: %d %v", headers, g.status, g.header)
		}
	}
	for path, status := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 401, "/status": 401, "/": 404} {
		if g := x.ask(http.MethodGet, path, ""); g.status != status {
			t.Errorf("%s: %d", path, g.status)
		}
	}
}

func TestSlowClientTimesOut(t *testing.T) {
	x := serve(t, httpOptions(t), server.HTTPOptions{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(x.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || response.StatusCode != http.StatusBadRequest {
		t.Errorf("half a request: %v %v", response, err)
	}
}
