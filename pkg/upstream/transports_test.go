package upstream

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// web returns an entry named fake for what the handler serves.
func web(t testing.TB, transport string, h http.Handler, change ...func(*config.Upstream)) *config.Upstream {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	u := &config.Upstream{
		Name: "fake", Transport: transport, URL: s.URL + "/mcp?key=v",
		ConnectTimeout: testTimeout, Timeout: testTimeout, MaxMessageBytes: config.DefaultMaxMessageBytes,
	}
	if transport == config.WebSocket {
		u.URL = strings.Replace(u.URL, "http", "ws", 1)
	}
	for _, f := range change {
		f(u)
	}
	return u
}

// ways are the transports, each in each era. The script has one process or, in
// memory, one server for each session.
var ways = []struct {
	name string
	open func(*testing.T, mcptest.Script) *config.Upstream
}{
	{"stdio", func(_ *testing.T, s mcptest.Script) *config.Upstream { return child(s) }},
	{"http", func(t *testing.T, s mcptest.Script) *config.Upstream {
		return web(t, config.HTTP, &mcptest.Web{Script: s})
	}},
	{"http events", func(t *testing.T, s mcptest.Script) *config.Upstream {
		return web(t, config.HTTP, &mcptest.Web{Script: s, Events: true})
	}},
	{"2026-07-28", func(t *testing.T, s mcptest.Script) *config.Upstream {
		return web(t, config.HTTP, &mcptest.Web{Script: s, Modern: true})
	}},
	{"2026-07-28 events", func(t *testing.T, s mcptest.Script) *config.Upstream {
		return web(t, config.HTTP, &mcptest.Web{Script: s, Modern: true, Events: true})
	}},
	{"sse", func(t *testing.T, s mcptest.Script) *config.Upstream {
		return web(t, config.SSE, &sseServer{script: s})
	}},
	{"websocket", func(t *testing.T, s mcptest.Script) *config.Upstream {
		return web(t, config.WebSocket, socketServer(s))
	}},
}

// everyTransport runs the test over each of the ways.
func everyTransport(t *testing.T, s mcptest.Script, test func(t *testing.T, u *config.Upstream)) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			test(t, way.open(t, s))
		})
	}
}

// sseServer serves a script over HTTP with server-sent events: one connection
// in memory for each stream.
type sseServer struct {
	script mcptest.Script
	// endpoint is where messages go; empty is where they are taken.
	endpoint string

	mu    sync.Mutex
	conns map[string]io.Writer
	cut   []func() // end streams
}

func (s *sseServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		s.mu.Lock()
		conn := s.conns[r.URL.Query().Get("session")]
		s.mu.Unlock()
		if conn == nil {
			http.Error(w, "no such session", http.StatusNotFound)
			return
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = conn.Write(append(body, '\n'))
		w.WriteHeader(http.StatusAccepted)
		return
	}
	conn, _ := s.script.Dial(r.Context())
	defer conn.Close()
	s.mu.Lock()
	if s.conns == nil {
		s.conns = map[string]io.Writer{}
	}
	id := fmt.Sprint(len(s.conns))
	s.conns[id] = conn
	s.cut = append(s.cut, func() { conn.Close() })
	endpoint := s.endpoint
	s.mu.Unlock()
	if endpoint == "" {
		endpoint = "/post?session=" + id
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, ": hello\r\nevent: endpoint\r\ndata: %s\r\n\r\n", endpoint)
	flush := func() { _ = http.NewResponseController(w).Flush() }
	flush()
	stop := context.AfterFunc(r.Context(), func() { conn.Close() })
	defer stop()
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		fmt.Fprintf(w, "event: message\ndata: %s\n\n", bytes.TrimRight(line, "\n"))
		flush()
	}
}

// socketServer serves a script over WebSockets.
func socketServer(s mcptest.Script) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}})
		if err != nil {
			return
		}
		defer c.CloseNow()
		c.SetReadLimit(-1)
		conn, _ := s.Dial(r.Context())
		defer conn.Close()
		go func() {
			defer conn.Close()
			for {
				_, text, err := c.Read(context.Background())
				if err != nil {
					return
				}
				if _, err := conn.Write(append(text, '\n')); err != nil {
					return
				}
			}
		}()
		lines := bufio.NewReader(conn)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				_ = c.Close(websocket.StatusNormalClosure, "")
				return
			}
			// As a pretty printer might have it.
			text := bytes.Replace(bytes.TrimRight(line, "\n"), []byte(`{"jsonrpc":`), []byte("{\n  \"jsonrpc\": "), 1)
			if c.Write(context.Background(), websocket.MessageText, text) != nil {
				return
			}
		}
	})
}

func TestEveryTransportCarriesArgumentsAndResultsAsTheyAre(t *testing.T) {
	t.Parallel()
	everyTransport(t, mcptest.Script{}, func(t *testing.T, u *config.Upstream) {
		p := start(t, Options{}, u)
		for _, exact := range []string{
			`{"z":9007199254740993,"a":123456789012345678901234567890,"m":-0.1e-7}`,
			`{"content":[{"type":"hologram","depth":3}],"unknown":{"b":1,"a":[]}}`,
			`{"no content":true}`,
			`{"text":"\u2028 \ud83d\ude00 \"quoted\" \\ \n data: x\r\n\r\n"}`,
		} {
			want, _ := value.Parse(exact)
			if got := mustCall(t, p, "reply", `{"result":{"content":[],"exact":`+exact+`}}`); got.JSON() != `{"content":[],"exact":`+want.JSON()+`}` {
				t.Errorf("result: got %s, want %s", got.JSON(), want.JSON())
			}
			if got := mustCall(t, p, "echo", exact).Get("structuredContent"); got.JSON() != want.JSON() {
				t.Errorf("arguments: got %s, want %s", got.JSON(), want.JSON())
			}
		}
		long := strings.Repeat(strings.Repeat("0123456789", 100)+"ä\n\"\\", 1<<20/1000)
		args := value.FromEntries([]value.Entry{{Key: "long", Value: value.FromString(long)}})
		r, err := p.CallTool(context.Background(), nil, "fake", "echo", args)
		if err != nil || r.Value.Get("structuredContent").Get("long").Str() != long {
			t.Errorf("1 MB came back changed, or %v", err)
		}
	})
}

func TestEveryTransportGivesOverlappingCallsTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	everyTransport(t, mcptest.Script{}, func(t *testing.T, u *config.Upstream) {
		p := start(t, Options{}, u)
		var wait sync.WaitGroup
		for caller := range 64 {
			wait.Go(func() {
				for round := range 5 {
					a, _ := value.Parse(fmt.Sprintf(`{"tag":"%d-%d","ms":%d}`, caller, round, (caller*7+round*13)%20))
					r, err := p.CallTool(context.Background(), nil, "fake", "echo", a)
					if err != nil || !value.Equal(r.Value.Get("structuredContent"), a) {
						t.Errorf("%s: %s, %v", a.JSON(), r.Value.JSON(), err)
					}
				}
			})
		}
		wait.Wait()
		if n := p.servers["fake"].clients.Load(); n > 1 {
			t.Errorf("%d HTTP clients", n)
		}
	})
}

func TestEveryTransportSurvivesMisbehaviour(t *testing.T) {
	t.Parallel()
	everyTransport(t, mcptest.Script{}, func(t *testing.T, u *config.Upstream) {
		u.MaxMessageBytes = 1 << 20
		p := start(t, Options{}, u)
		for _, c := range []struct{ tool, args, want string }{
			{"rpcerror", `{"code":-32050,"message":"no such thing"}`, "no such thing (JSON-RPC error -32050)"},
			{"huge", `{"bytes":2000000}`, "the answer is longer than 1048576 bytes"},
			{"hugelate", `{"bytes":2000000}`, "the answer is longer than 1048576 bytes"},
			{"reply", `{"result":[1,2]}`, "a result that is not an object"},
		} {
			if e := mustFail(t, p, c.tool, c.args); !strings.Contains(e.Error(), c.want) {
				t.Errorf("%s: %q does not say %q", c.tool, e, c.want)
			}
			mustCall(t, p, "echo", `{}`)
		}
	})
}

func TestEveryTransportTimesOut(t *testing.T) {
	t.Parallel()
	virtualTransports(t, mcptest.Script{}, func(t *testing.T, p *Pool) {
		mustCall(t, p, "echo", `{}`)
		for tool, want := range map[string]string{
			"half": "not JSON-RPC", // on a stream of its own nothing says which call it was meant for
			"hang": "timed out: no answer and no progress for 5s",
		} {
			began := time.Now()
			if e := mustFail(t, p, tool, `{}`); !strings.Contains(e.Error(), want) {
				t.Errorf("%s: %q does not say %q", tool, e, want)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("%s took %v", tool, took)
			}
		}
		mustCall(t, p, "echo", `{}`)
	}, short)
}

func TestEveryTransportPassesProgressAndLogOn(t *testing.T) {
	t.Parallel()
	everyTransport(t, mcptest.Script{}, func(t *testing.T, u *config.Upstream) {
		if u.Transport == config.HTTP && !strings.Contains(t.Name(), "events") {
			t.Skip("an answer in JSON has room for nothing else")
		}
		p := start(t, Options{}, u)
		heard := &notificationLog{}
		ctx := heard.listen("info")
		args, _ := value.Parse(`{"count":3,"ms":1,"text":"busy"}`)
		for _, tool := range []string{"progress", "log"} {
			if _, err := p.CallTool(ctx, nil, "fake", tool, args); err != nil {
				t.Fatal(err)
			}
			if n := len(heard.all()); tool == "progress" && n != 3 {
				t.Fatalf("%d notifications before the answer", n)
			}
		}
		// Over HTTP log messages come on another stream than the answer.
		eventually(t, "all notifications", func() bool { return len(heard.all()) >= 6 })
		if _, err := p.CallTool(ctx, nil, "fake", "progress", args); err != nil {
			t.Fatal(err)
		}
		got := heard.all()
		if len(got) != 9 {
			t.Fatalf("%d notifications: %v", len(got), got)
		}
		for i, n := range got {
			if i/3 != 1 && (n.Method != callinfo.MethodProgress || n.Tool != "progress" || n.Params.Get("progress").Float() != float64(i%3+1)) {
				t.Errorf("%d: %+v", i, n)
			}
			if i/3 == 1 && (n.Method != callinfo.MethodMessage || n.Tool != "log" || n.Params.Get("data").Str() != "busy") {
				t.Errorf("%d: %+v", i, n)
			}
		}
	})
}

// notificationLog keeps the notifications of a listener.
type notificationLog struct {
	mu  sync.Mutex
	got []callinfo.Notification
}

// listen returns the context of calls with this listener.
func (h *notificationLog) listen(level string) context.Context {
	return withInfo(context.Background(), &callinfo.Info{Listener: &callinfo.Listener{LogLevel: level, Notify: func(n callinfo.Notification) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.got = append(h.got, n)
	}}})
}

func (h *notificationLog) all() []callinfo.Notification {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.got)
}

func TestEveryTransportAnswersTheServersRequests(t *testing.T) {
	t.Parallel()
	everyTransport(t, mcptest.Script{}, func(t *testing.T, u *config.Upstream) {
		if strings.Contains(t.Name(), "2026") || u.Transport == config.HTTP && !strings.Contains(t.Name(), "events") {
			t.Skip("such a server cannot ask")
		}
		answer := func(_ context.Context, server string, params value.Value) (value.Value, error) {
			return value.Parse(`{"roots":[{"uri":"file:///` + server + `"}]}`)
		}
		p := start(t, Options{Answers: map[string]Answer{"roots/list": answer}}, u)
		for method, want := range map[string]string{
			"ping": `"result":{}`, "roots/list": `file:///fake`, "sampling/createMessage": `"code":-32601`, "made/up": `"code":-32601`,
		} {
			if got := text(mustCall(t, p, "ask", `{"method":"`+method+`"}`)); !strings.Contains(got, want) {
				t.Errorf("%s: answered %s, want %s", method, got, want)
			}
		}
	})
}

// A connection that breaks fails the calls in flight; the next one opens it
// again.
func TestBrokenStreamOfEventsIsOpenedAgain(t *testing.T) {
	s := &sseServer{}
	p := start(t, Options{}, web(t, config.SSE, s))
	inFlight := make(chan error)
	mustCall(t, p, "echo", `{}`)
	go func() {
		_, err := p.CallTool(context.Background(), nil, "fake", "hang", value.Undef)
		inFlight <- err
	}()
	eventually(t, "the call to arrive", func() bool {
		return mustCall(t, p, "calls", `{}`).Get("structuredContent").Get("hang").Float() == 1
	})
	s.mu.Lock()
	s.cut[0]()
	s.mu.Unlock()
	if err := <-inFlight; err == nil || !strings.Contains(err.Error(), "it closed its stream of events before it had answered") {
		t.Error(err)
	}
	mustCall(t, p, "echo", `{}`)
}

func TestMessagesAreNotPostedToAnotherHost(t *testing.T) {
	var reached bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer other.Close()
	p := start(t, Options{}, web(t, config.SSE, &sseServer{endpoint: other.URL + "/take"}))
	if e := mustFail(t, p, "echo", `{}`); !strings.Contains(e.Error(), "at another host") || reached {
		t.Error(e, reached)
	}
	redirect := http.RedirectHandler(other.URL, http.StatusTemporaryRedirect)
	p = start(t, Options{}, web(t, config.HTTP, redirect))
	if e := mustFail(t, p, "echo", `{}`); !strings.Contains(e.Error(), "redirects to another host") || reached {
		t.Error(e, reached)
	}
}

func TestWhatIsNotMCPIsNamed(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() // it never accepts
	for _, c := range []struct {
		name, transport string
		h               http.HandlerFunc
		want            []string
	}{
		{"a website", config.HTTP, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<html>")
		}, []string{"does not speak MCP at this address", `content type "text/html"`, "mcpServers.fake.url"}},
		{"no such page", config.HTTP, http.NotFound, []string{"does not speak MCP at this address", "HTTP 404 Not Found", "mcpServers.fake.type"}},
		{"no such page for events", config.SSE, http.NotFound, []string{"HTTP 404 Not Found", "mcpServers.fake.url"}},
		{"no WebSocket", config.WebSocket, http.NotFound, []string{"HTTP 404 Not Found", "mcpServers.fake.url"}},
		{"refused", config.HTTP, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who are you?", http.StatusForbidden) },
			[]string{"HTTP 403 Forbidden", "who are you?", "mcpServers.fake.headers"}},
		{"broken", config.HTTP, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "oops", http.StatusInternalServerError) },
			[]string{"the handshake failed: HTTP 500", "oops"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t, Options{}, web(t, c.transport, c.h))
			e := mustFail(t, p, "echo", `{}`)
			for _, want := range c.want {
				if !strings.Contains(e.Error(), want) {
					t.Errorf("error %q does not say %q", e, want)
				}
			}
		})
	}
	u := &config.Upstream{Name: "fake", Transport: config.HTTP, URL: "http://" + listener.Addr().String(), ConnectTimeout: time.Second}
	if e := mustFail(t, start(t, Options{}, u), "echo", `{}`); !strings.Contains(e.Error(), "did not complete the handshake within 1s") {
		t.Error(e)
	}
}

func TestHeadersOfTheEntryGoWithEachRequest(t *testing.T) {
	w := &mcptest.Web{}
	p := start(t, Options{}, web(t, config.HTTP, w, func(u *config.Upstream) {
		u.Headers = []config.Header{{Name: "X-Key", Value: "k"}, {Name: "Accept", Value: "nothing"}}
	}))
	mustCall(t, p, "echo", `{}`)
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	ended := false
	for _, a := range w.Arrivals("") {
		if a.Header.Get("X-Key") != "k" {
			t.Errorf("%s %s came without it", a.HTTPMethod, a.Method)
		}
		if a.HTTPMethod == http.MethodPost && a.Header.Get("Accept") != "application/json, text/event-stream" {
			t.Errorf("%s accepts %q", a.Method, a.Header.Get("Accept"))
		}
		ended = ended || a.HTTPMethod == http.MethodDelete
	}
	if !ended {
		t.Error("the session was not ended")
	}
}
