package ui

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const secret = "hunter2-very-secret"

// tools has a tool with all that a page shows: a body, a called tool, a question, a
// failure that is caught.
const tools = `# a comment
version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  files:
    command: none
    args: [--token, "${TOKEN}"]
    env: {KEY: "${TOKEN}"}
  web:
    url: "https://user:${TOKEN}@example.com/mcp?key=${TOKEN}"
    headers: {Authorization: "Bearer ${TOKEN}"}
tools:
  - name: sizes
    description: Sizes of files
    inputSchema: {type: object, properties: {names: {type: array}}, required: [names]}
    nodes:
      - {id: entry, type: entry, next: each}
      - id: each
        type: map
        items: {expr: $.entry.names}
        as: name
        nodes:
          - {id: info, type: mcp, server: files, tool: stat, args: {name: {expr: $name}}}
        next: twice
      - {id: twice, type: call, tool: double, args: {n: 2}, next: exit}
      - {id: exit, type: exit}
  - name: double
    description: Doubles
    private: true
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: times}
      - {id: times, type: transform, transform: {expr: $.entry.n * 2}, next: exit}
      - {id: exit, type: exit}
  - name: fails
    description: Fails
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: stop}
      - {id: stop, type: mcp, server: files, tool: fail, args: {}, next: exit}
      - {id: exit, type: exit}
  - name: thinks
    description: Asks a model
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: think}
      - {id: think, type: sample, system: Be brief., messages: [{text: Which?}, {content: {type: image, data: aGk=}}], schema: {type: number}, next: where}
      - {id: where, type: roots, next: exit}
      - {id: exit, type: exit}
  - name: asks
    description: Asks
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: ask}
      - {id: ask, type: ask, message: Which?, schema: {type: object, properties: {a: {type: string}}}, declined: exit, next: exit}
      - {id: exit, type: exit}
`

// held lets the tool hold answer.
var held = make(chan struct{})

// intercept answers in the place of the servers.
func intercept(ctx context.Context, x upstream.Exchange, _ func(context.Context) (value.Value, error)) (value.Value, error) {
	if x.Tool == "hold" {
		select {
		case <-held:
		case <-ctx.Done():
			return value.Undef, context.Cause(ctx)
		}
	}
	return answer(x.Tool, x.Args)
}

func answer(tool string, args value.Value) (value.Value, error) {
	if tool == "fail" {
		return value.Parse(`{"isError":true,"content":[{"type":"text","text":"no: ` + secret + `"}]}`)
	}
	return value.Parse(`{"content":[{"type":"text","text":"` + args.Get("name").Str() + ` ` + secret + `"}]}`)
}

// served is a page under test.
type served struct {
	*Page
	t    *testing.T
	host string
	path string
}

// serve serves a page of a text at a free port.
func serve(t *testing.T, text string, change func(*Options)) *served {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tools.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) (string, bool) { return secret, name == "TOKEN" }
	load := func() (*mcpgraph.Engine, error) {
		return mcpgraph.Load(path, mcpgraph.WithGetenv(getenv), mcpgraph.WithIntercept(intercept))
	}
	o := Options{Path: path, Getenv: getenv, Log: slog.New(slog.DiscardHandler)}
	var mu sync.Mutex
	var page *Page
	engine, _ := load()
	o.Engine = engine
	o.Reload = func() error {
		mu.Lock()
		defer mu.Unlock()
		var err error
		if engine == nil {
			engine, err = load()
		} else {
			_, err = engine.Reload()
		}
		if err == nil {
			page.Reloaded(engine)
		}
		return err
	}
	if change != nil {
		change(&o)
	}
	page = New(o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := page.Serve(ctx, l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		page.Close()
		cancel()
		wait.Wait()
		if engine != nil {
			_ = engine.Close()
		}
	})
	return &served{page, t, l.Addr().String(), path}
}

// request returns a request with the token.
func (s *served) request(method, path, body string) *http.Request {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.host+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// do returns the status and the body of an answer.
func (s *served) do(r *http.Request) (int, string) {
	s.t.Helper()
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// get returns the answer to a GET as a value; the status must be 200.
func (s *served) get(path string) value.Value { return s.ok(s.request("GET", path, "")) }

// post is get for a POST.
func (s *served) post(path, body string) value.Value { return s.ok(s.request("POST", path, body)) }

func (s *served) ok(r *http.Request) value.Value {
	s.t.Helper()
	status, text := s.do(r)
	v, err := value.Parse(text)
	if status != http.StatusOK || err != nil {
		s.t.Fatalf("%s %s: %d %s", r.Method, r.URL.Path, status, text)
	}
	return v
}

// code returns the status and the code of an error.
func (s *served) code(method, path, body string) (int, string) {
	s.t.Helper()
	status, text := s.do(s.request(method, path, body))
	v, _ := value.Parse(text)
	return status, v.Get("error").Get("code").Str()
}

// start begins a session and returns its id.
func (s *served) start(body string) string {
	s.t.Helper()
	return s.post("/api/sessions", body).Get("id").Str()
}

// follow returns the events of a stream, until the test ends.
func (s *served) follow(query string) <-chan value.Value {
	s.t.Helper()
	answer, err := http.DefaultTransport.RoundTrip(s.request("GET", "/api/events"+query, ""))
	if err != nil {
		s.t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		s.t.Fatalf("the stream has the status %d", answer.StatusCode)
	}
	s.t.Cleanup(func() { answer.Body.Close() })
	lines := bufio.NewReader(answer.Body)
	if first, err := lines.ReadString('\n'); err != nil || first != ": open\n" {
		s.t.Fatalf("the stream begins with %q, %v", first, err)
	}
	out := make(chan value.Value, 1000)
	go func() {
		defer close(out)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				v, _ := value.Parse(data)
				out <- v
			}
		}
	}()
	return out
}

// until reads events until one fits.
func until(t *testing.T, events <-chan value.Value, fits func(value.Value) bool) value.Value {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatal("the stream has ended")
			}
			if fits(e) {
				return e
			}
		case <-late:
			t.Fatal("the event does not come")
		}
	}
}

// inState waits for a state of a run.
func inState(t *testing.T, events <-chan value.Value, id, want string) value.Value {
	t.Helper()
	return until(t, events, func(e value.Value) bool {
		run := e.Get("run")
		return e.Get("type").Str() == "run" && run.Get("id").Str() == id && run.Get("state").Str() == want
	}).Get("run")
}

// pipes listens for connections in memory, so that time can be virtual.
type pipes struct {
	accept chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{accept: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accept:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7000} }

// dial returns the client's end of a connection.
func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.accept <- server
	return client
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
