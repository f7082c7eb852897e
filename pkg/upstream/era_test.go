package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestEraIsFoundOutOncePerServer(t *testing.T) {
	for _, modern := range []bool{false, true} {
		w := &mcptest.Web{Modern: modern}
		p := start(t, Options{}, web(t, config.HTTP, w, func(u *config.Upstream) {
			u.ForwardHeaders = []config.Forward{{From: "X-User", To: "X-User"}}
		}))
		for _, user := range []string{"ada", "bob", "ada"} {
			ctx := withInfo(context.Background(), &callinfo.Info{Header: http.Header{"X-User": {user}}})
			if _, err := p.CallTool(ctx, nil, "fake", "echo", value.Undef); err != nil {
				t.Fatal(err)
			}
		}
		discovered, initialized := len(w.Arrivals("server/discover")), len(w.Arrivals("initialize"))
		if modern && (discovered != 2 || initialized != 0) || !modern && (discovered != 1 || initialized != 2) {
			t.Errorf("modern %v: server/discover %d times, initialize %d times", modern, discovered, initialized)
		}
	}
}

func TestRequestsOfTheModernEraSayWhatAHandshakeSaid(t *testing.T) {
	w := &mcptest.Web{Modern: true}
	p := start(t, Options{ClientName: "tester", ClientVersion: "1.2"}, web(t, config.HTTP, w, func(u *config.Upstream) { u.NamePrefix = "é" }))
	ctx := withInfo(context.Background(), &callinfo.Info{Listener: &callinfo.Listener{LogLevel: "warning", Notify: func(callinfo.Notification) {}}})
	_, _ = p.CallTool(ctx, nil, "fake", "cho", value.Undef) // there is no such tool
	a := w.Arrivals("tools/call")[0]
	for name, want := range map[string]string{
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "=?base64?w6ljaG8=?=", "Mcp-Session-Id": "",
	} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	v, _ := value.Parse(a.Body)
	meta := v.Get("params").Get("_meta")
	for name, want := range map[string]string{
		"io.modelcontextprotocol/protocolVersion":    `"2026-07-28"`,
		"io.modelcontextprotocol/clientInfo":         `{"name":"tester","version":"1.2"}`,
		"io.modelcontextprotocol/clientCapabilities": `{}`,
		"io.modelcontextprotocol/logLevel":           `"warning"`,
	} {
		if got := meta.Get(name).JSON(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// rpcHandler answers each request with what f returns, or an error of code
// -32601 where that is empty.
func rpcHandler(f func(method string, params value.Value, r *http.Request) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.Error(w, "", http.StatusMethodNotAllowed)
			return
		}
		body, _ := io.ReadAll(r.Body)
		v, _ := value.Parse(string(body))
		if v.Get("id").IsUndefined() {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if result := f(v.Get("method").Str(), v.Get("params"), r); result != "" {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, v.Get("id").JSON(), result)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, v.Get("id").JSON())
	}
}

const (
	discovered = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
	handshake  = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
)

func TestServerThatIsReplacedByOneOfTheOtherEraIsFound(t *testing.T) {
	for _, modern := range []bool{false, true} {
		var h atomic.Pointer[mcptest.Web]
		h.Store(&mcptest.Web{Modern: modern, Refuse: refuseAs(400, -32000, "Bad Request: No valid session ID provided")})
		p := start(t, Options{}, web(t, config.HTTP, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.Load().ServeHTTP(w, r) })))
		mustCall(t, p, "echo", `{}`)
		h.Store(&mcptest.Web{Modern: !modern, Refuse: refuseAs(400, -32000, "Bad Request: No valid session ID provided")})
		if modern {
			mustFail(t, p, "echo", `{}`) // it was sent without the id of a session, so the tool itself may have answered
		}
		mustCall(t, p, "echo", `{}`)
	}
}

func TestAnswerToEverythingIsNotTakenForTheModernEra(t *testing.T) {
	p := start(t, Options{}, web(t, config.HTTP, rpcHandler(func(method string, _ value.Value, _ *http.Request) string {
		switch method {
		case "initialize":
			return handshake
		case "tools/call":
			return `{"content":[]}`
		}
		return `{"hello":"there"}`
	})))
	mustCall(t, p, "any", `{}`)
	if got := era(p.servers["fake"].era.Load()); got != eraLegacy {
		t.Error(got)
	}
}

func TestServersOfTheFirstRevisionAreCalled(t *testing.T) {
	p := start(t, Options{}, web(t, config.HTTP, rpcHandler(func(method string, _ value.Value, _ *http.Request) string {
		switch method {
		case "initialize":
			return strings.Replace(handshake, "2025-06-18", firstRevision, 1)
		case "tools/call":
			return `{"toolResult":{"n":1}}`
		}
		return ""
	})))
	if got := mustCall(t, p, "any", `{}`).Get("structuredContent").JSON(); got != `{"n":1}` {
		t.Error(got)
	}
}

func TestRevisionThatNobodySpeaksIsNamed(t *testing.T) {
	p := start(t, Options{}, web(t, config.HTTP, rpcHandler(func(method string, _ value.Value, _ *http.Request) string {
		switch method {
		case "initialize":
			return strings.Replace(handshake, "2025-06-18", "1999-01-01", 1)
		case "server/discover":
			return strings.Replace(discovered, "2026-07-28", "2030-01-01", 1)
		}
		return ""
	})))
	if e := mustFail(t, p, "any", `{}`); !strings.Contains(e.Error(), `it speaks revision "1999-01-01" of MCP`) {
		t.Error(e)
	}
}

func TestArgumentsThatTheSchemaWantsInHeadersAreSentThere(t *testing.T) {
	var lists atomic.Int32
	var header http.Header
	p := start(t, Options{}, web(t, config.HTTP, rpcHandler(func(method string, _ value.Value, r *http.Request) string {
		switch method {
		case "server/discover":
			return discovered
		case "tools/list":
			lists.Add(1)
			return `{"resultType":"complete","tools":[
				{"name":"query","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"limit":{"type":"integer","x-mcp-header":"Limit"}}}},
				{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"in valid"}}}}]}`
		case "tools/call":
			header = r.Header
			return `{"resultType":"complete","content":[]}`
		}
		return ""
	})))
	for range 3 {
		mustCall(t, p, "query", `{"region":"Zürich","limit":7,"other":1}`)
	}
	if header.Get("Mcp-Param-Region") != "=?base64?WsO8cmljaA==?=" || header.Get("Mcp-Param-Limit") != "7" {
		t.Error(header)
	}
	if n := lists.Load(); n != 1 {
		t.Errorf("the list was read %d times", n)
	}
	if e := mustFail(t, p, "bad", `{"a":"x"}`); !strings.Contains(e.Error(), "asks for headers that cannot be") {
		t.Error(e)
	}
	tools, err := p.Tools(context.Background(), nil, "fake")
	if err != nil || len(tools) != 1 || tools[0].Get("name").Str() != "query" {
		t.Errorf("%v, %v", tools, err)
	}
}

// inputServer asks once for input before it answers with what it got.
func inputServer(requests string) http.Handler {
	return rpcHandler(func(method string, params value.Value, _ *http.Request) string {
		switch {
		case method == "server/discover":
			return discovered
		case method == "tools/list":
			return `{"resultType":"complete","tools":[]}`
		case params.Get("requestState").IsUndefined():
			return `{"resultType":"input_required","requestState":"s1","inputRequests":` + requests + `}`
		}
		return `{"resultType":"complete","content":[],"structuredContent":` + params.Get("inputResponses").JSON() + `}`
	})
}

func TestServersGetTheInputThatTheyAskFor(t *testing.T) {
	const ask = `{"q1":{"method":"elicitation/create","params":{"message":"Name?"}},"q2":{"method":"roots/list"}}`
	answers := map[string]Answer{
		"elicitation/create": func(_ context.Context, _ string, params value.Value) (value.Value, error) {
			return value.Parse(`{"action":"accept","content":{"asked":` + params.Get("message").JSON() + `}}`)
		},
		"roots/list": func(context.Context, string, value.Value) (value.Value, error) { return value.Parse(`{"roots":[]}`) },
	}
	p := start(t, Options{Answers: answers}, web(t, config.HTTP, inputServer(ask)))
	want := `{"q1":{"action":"accept","content":{"asked":"Name?"}},"q2":{"roots":[]}}`
	if got := mustCall(t, p, "any", `{}`).Get("structuredContent").JSON(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestInputThatNobodyGivesIsDeclinedOrNamed(t *testing.T) {
	p := start(t, Options{}, web(t, config.HTTP, inputServer(`{"q":{"method":"elicitation/create","params":{"message":"Name?"}}}`)))
	if got := mustCall(t, p, "any", `{}`).Get("structuredContent").JSON(); got != `{"q":{"action":"decline"}}` {
		t.Error(got)
	}
	p = start(t, Options{}, web(t, config.HTTP, inputServer(`{"q":{"method":"sampling/createMessage","params":{}}}`)))
	if e := mustFail(t, p, "any", `{}`); !strings.Contains(e.Error(), "it asks for input (sampling/createMessage) to go on: this client does not answer") {
		t.Error(e)
	}
}

func TestServerThatAsksForInputWithoutEndIsLeft(t *testing.T) {
	var asked atomic.Int32
	p := start(t, Options{}, web(t, config.HTTP, rpcHandler(func(method string, _ value.Value, _ *http.Request) string {
		switch method {
		case "server/discover":
			return discovered
		case "tools/list":
			return `{"tools":[]}`
		}
		asked.Add(1)
		return `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{}}}}`
	})))
	if e := mustFail(t, p, "any", `{}`); !strings.Contains(e.Error(), "it asked for more input after 10 rounds") || asked.Load() != 11 {
		t.Error(e, asked.Load())
	}
}

// Over HTTP a server learns of a cancelled call: by notifications/cancelled,
// and since 2026-07-28 by the end of the request.
func TestCancelledCallIsCancelledUpstreamOverHTTP(t *testing.T) {
	for _, modern := range []bool{false, true} {
		w := &mcptest.Web{Modern: modern}
		closed := make(chan struct{}, 1)
		h := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			w.ServeHTTP(rw, r)
			if r.Context().Err() != nil && r.Method == http.MethodPost {
				closed <- struct{}{}
			}
		})
		p := start(t, Options{}, web(t, config.HTTP, h))
		cancelHanging(t, p)
		<-closed
		var id string
		for _, a := range w.Arrivals("tools/call") {
			if v, _ := value.Parse(a.Body); v.Get("params").Get("name").Str() == "hang" {
				id = v.Get("id").JSON()
			}
		}
		if modern {
			if n := len(w.Arrivals("notifications/cancelled")); n != 0 {
				t.Errorf("%d notifications in the modern era", n)
			}
			continue
		}
		eventually(t, "notifications/cancelled", func() bool { return len(w.Arrivals("notifications/cancelled")) == 1 })
		v, _ := value.Parse(w.Arrivals("notifications/cancelled")[0].Body)
		if got := v.Get("params"); got.Get("requestId").JSON() != id || !strings.Contains(got.Get("reason").Str(), "the run is over") {
			t.Errorf("%s, want id %s", got.JSON(), id)
		}
	}
}

// A stream that ends before the answer is read on where it ended.
func TestAnswerThatBreaksOffIsReadOn(t *testing.T) {
	var gets atomic.Int32
	var id atomic.Pointer[string]
	p := start(t, Options{}, web(t, config.HTTP, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		v, _ := value.Parse(string(body))
		switch {
		case r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") == "":
			http.Error(w, "", http.StatusMethodNotAllowed)
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			if n := gets.Add(1); n == 1 {
				fmt.Fprint(w, "id: e2\nretry: 20\n\n")
				return
			}
			if got := r.Header.Get("Last-Event-ID"); got != "e2" {
				t.Errorf("asked for what follows %q", got)
			}
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\ndata: \"result\":{\"content\":[]}}\n\n", *id.Load())
		case v.Get("method").Str() == "initialize":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, v.Get("id").JSON(), handshake)
		case v.Get("method").Str() == "tools/call":
			text := v.Get("id").JSON()
			id.Store(&text)
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: e1\nretry: 15\ndata:\n\n")
		case v.Get("id").IsUndefined():
			w.WriteHeader(http.StatusAccepted)
		default:
			http.Error(w, "", http.StatusBadRequest)
		}
	})))
	mustCall(t, p, "any", `{}`)
	if n := gets.Load(); n != 2 {
		t.Errorf("read on %d times", n)
	}
}

func TestChangedListOfToolsIsReadAgain(t *testing.T) {
	w := &mcptest.Web{Events: true}
	p := start(t, Options{}, web(t, config.HTTP, w, func(u *config.Upstream) {
		u.Cache = &config.Cache{TTL: time.Hour, MaxEntries: 10, Tools: []string{"echo"}}
	}))
	for range 3 {
		mustCall(t, p, "echo", `{}`)
	}
	if n := len(w.Arrivals("tools/call")); n != 1 {
		t.Fatalf("%d calls", n)
	}
	eventually(t, "the stream for notifications", func() bool {
		for _, a := range w.Arrivals("") {
			if a.HTTPMethod == http.MethodGet {
				return true
			}
		}
		return false
	})
	eventually(t, "the change to be noticed", func() bool {
		w.Notify("notifications/tools/list_changed", json.RawMessage(`{}`))
		mustCall(t, p, "echo", `{}`)
		return len(w.Arrivals("tools/call")) > 1
	})
}
