package mcpgraph_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// overHTTP serves the fake server and returns a file whose entry "fake" has its
// address and the settings. The tool "one" calls the tools one after the other,
// with the arguments that follow their names.
func overHTTP(t *testing.T, web *mcptest.Web, settings string, calls ...string) string {
	t.Helper()
	s := httptest.NewServer(web)
	t.Cleanup(s.Close)
	var b strings.Builder
	fmt.Fprintf(&b, "version: \"1.0\"\nserver: {name: t, version: \"1\"}\nmcpServers:\n  fake: {url: %q%s}\n", s.URL, settings)
	b.WriteString("tools:\n  - name: one\n    description: Calls\n    inputSchema: {type: object}\n    nodes:\n      - {id: entry, type: entry, next: n0}\n")
	for i, call := range calls {
		tool, args, _ := strings.Cut(call, " ")
		next := fmt.Sprintf("n%d", i+1)
		if i == len(calls)-1 {
			next = "exit"
		}
		if args == "" {
			args = "{}"
		}
		fmt.Fprintf(&b, "      - {id: n%d, type: mcp, server: fake, tool: %s, args: %s, next: %s}\n", i, tool, args, next)
	}
	b.WriteString("      - {id: exit, type: exit}\n")
	return b.String()
}

// mcpClient talks to an engine that serves on pipes.
type mcpClient struct {
	t     *testing.T
	in    io.Writer
	lines *bufio.Reader
}

func serve(t *testing.T, engine *mcpgraph.Engine) *mcpClient {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- engine.ServeStdio(context.Background(), inR, outW); outW.Close() }()
	t.Cleanup(func() {
		inW.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &mcpClient{t, inW, bufio.NewReader(outR)}
}

// next reads one message.
func (c *mcpClient) next() value.Value {
	c.t.Helper()
	line, err := c.lines.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	v, err := value.Parse(line)
	if err != nil {
		c.t.Fatal(err)
	}
	return v
}

// ask sends a request and returns the notifications that came before its
// answer, and the answer.
func (c *mcpClient) ask(method, params string) (before []value.Value, answer value.Value) {
	c.t.Helper()
	c.tell(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
	for v := c.next(); ; v = c.next() {
		if v.Has("id") {
			return before, v
		}
		before = append(before, v)
	}
}

// tell sends a message.
func (c *mcpClient) tell(message string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, message+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

const initialize = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`

func TestProgressAndLogMessagesOfServersReachTheClientThatAsked(t *testing.T) {
	for name, web := range map[string]*mcptest.Web{
		"2025-11-25": {Events: true}, "2026-07-28": {Events: true, Modern: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, mustLoad(t, overHTTP(t, web, "", "progress {count: 2}", "log {count: 1, text: hello}", "progress {count: 2}", "echo {ms: 500}")))
			c.ask("initialize", initialize)
			before, answer := c.ask("tools/call", `{"name":"one"}`)
			if len(before) > 0 || answer.Get("result").Get("isError").Bool() {
				t.Errorf("unasked: %v before %s", before, answer.JSON())
			}
			c.ask("logging/setLevel", `{"level":"info"}`)
			before, answer = c.ask("tools/call", `{"name":"one","_meta":{"progressToken":"mine"}}`)
			var got, logs []string
			for _, n := range before {
				if params := n.Get("params"); params.Has("level") {
					logs = append(logs, params.JSON())
				} else {
					got = append(got, params.JSON())
				}
			}
			if len(logs) == 0 { // before 2026-07-28 it comes on another stream than the answer
				logs = append(logs, c.next().Get("params").JSON())
			}
			if len(logs) != 1 || logs[0] != `{"data":"hello","level":"info","logger":"fake"}` {
				t.Errorf("log messages: %s", logs)
			}
			want := []string{
				`{"progressToken":"mine","progress":1,"total":6,"message":"node \"entry\" (entry)"}`,
				`{"progressToken":"mine","progress":1.45,"total":6}`, `{"progressToken":"mine","progress":1.9,"total":6}`,
				`{"progressToken":"mine","progress":2,"total":6,"message":"node \"n0\" (mcp)"}`,
				`{"progressToken":"mine","progress":3,"total":6,"message":"node \"n1\" (mcp)"}`,
				`{"progressToken":"mine","progress":3.45,"total":6}`, `{"progressToken":"mine","progress":3.9,"total":6}`,
				`{"progressToken":"mine","progress":4,"total":6,"message":"node \"n2\" (mcp)"}`,
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if answer.Get("result").Get("isError").Bool() {
				t.Errorf("%s", answer.JSON())
			}
		})
	}
}

// headerOf returns a header of the latest tools/call that the server got.
func headerOf(web *mcptest.Web, name string) string {
	calls := web.Arrivals("tools/call")
	return calls[len(calls)-1].Header.Get(name)
}

func TestMetaOfTheClientBecomesAHeaderWhereTheEntrySaysSo(t *testing.T) {
	web := &mcptest.Web{}
	c := serve(t, mustLoad(t, overHTTP(t, web,
		`, forwardMeta: [{from: example.com/token, to: Authorization, prefix: "Bearer ", required: true}]`, "fail {text: went through}")))
	c.ask("initialize", initialize)
	_, answer := c.ask("tools/call", `{"name":"one","_meta":{"example.com/token":"s3cret"}}`)
	if got := headerOf(web, "Authorization"); got != "Bearer s3cret" {
		t.Errorf("the server got %q", got)
	}
	if text := answer.Get("result").JSON(); !strings.Contains(text, "went through") {
		t.Errorf("%s", text)
	}
	before := len(web.Arrivals("tools/call"))
	_, answer = c.ask("tools/call", `{"name":"one"}`)
	if text := answer.Get("result").JSON(); !strings.Contains(text, `"isError":true`) || !strings.Contains(text, "example.com/token") {
		t.Errorf("without the credential: %s", text)
	}
	if len(web.Arrivals("tools/call")) != before {
		t.Error("the server was asked without the credential")
	}
}

// source is a CredentialSource with one token.
type source string

func (s source) Token(context.Context, *callinfo.Info, string, bool) (upstream.Token, error) {
	return upstream.Token{Value: string(s)}, nil
}

func TestProgramsBringCredentialsAlong(t *testing.T) {
	web := &mcptest.Web{}
	engine := mustLoad(t, overHTTP(t, web, ", forwardHeaders: [{from: X-Own, to: X-Theirs}]", "echo"),
		mcpgraph.WithCredentialSource("fake", source("t0ken")))
	info := &callinfo.Info{Header: http.Header{"X-Own": {"v"}, "X-Other": {"w"}}}
	if _, err := engine.Call(context.Background(), "one", nil, mcpgraph.WithCallInfo(info)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"Authorization": "Bearer t0ken", "X-Theirs": "v", "X-Own": "", "X-Other": ""} {
		if got := headerOf(web, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestHooksOfACallKnowItsCaller(t *testing.T) {
	var seen, clean string
	var engine *mcpgraph.Engine
	engine = mustLoad(t, overHTTP(t, &mcptest.Web{}, ", forwardHeaders: [{from: X-Own, to: X-Theirs}]", "echo"),
		mcpgraph.WithHooksFunc(func(info *callinfo.Info) executor.Hooks {
			return executor.Hooks{RunDone: func(context.Context, *executor.Run, error) {
				seen = info.Caller + " " + info.RunID
				clean = engine.Redact(info, "s3cret of ann") + ", " + engine.Redact(nil, "s3cret of ann")
			}}
		}))
	info := &callinfo.Info{Caller: "ann", Header: http.Header{"X-Own": {"s3cret"}}}
	if _, err := engine.Call(context.Background(), "one", nil, mcpgraph.WithCallInfo(info)); err != nil {
		t.Fatal(err)
	}
	if kept := engine.Runs().List("ann"); len(kept) != 1 || seen != "ann "+kept[0].ID {
		t.Errorf("the hooks saw %q, kept is %+v", seen, kept)
	}
	if clean != "[redacted] of ann, s3cret of ann" {
		t.Errorf("redacted: %s", clean)
	}
}

// sessions is a SessionStore with one session.
type sessions struct{ saved chan upstream.SavedSession }

func (s sessions) Load(context.Context, upstream.SessionKey) (upstream.SavedSession, error) {
	return upstream.SavedSession{}, nil
}

func (s sessions) Save(_ context.Context, _ upstream.SessionKey, saved upstream.SavedSession) error {
	s.saved <- saved
	return nil
}

func (s sessions) Delete(context.Context, upstream.SessionKey) error { return nil }

func TestProgramsKeepSessions(t *testing.T) {
	store := sessions{make(chan upstream.SavedSession, 1)}
	engine := mustLoad(t, overHTTP(t, &mcptest.Web{}, "", "echo"), mcpgraph.WithSessionStore(store))
	if _, err := engine.Call(context.Background(), "one", nil); err != nil {
		t.Fatal(err)
	}
	if saved := <-store.saved; saved.ID == "" || saved.Name != "fake" {
		t.Errorf("saved %+v", saved)
	}
}

func TestEagerServersAreConnectedBeforeAnyCall(t *testing.T) {
	eager, lazy := &mcptest.Web{}, &mcptest.Web{}
	serve(t, mustLoad(t, overHTTP(t, eager, ", eager: true", "echo")))
	serve(t, mustLoad(t, overHTTP(t, lazy, "", "echo")))
	for end := time.Now().Add(30 * time.Second); eager.Sessions() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the eager server has no session")
		}
	}
	if lazy.Sessions() > 0 {
		t.Error("the other one has a session, too")
	}
}

func TestToolsAreCalledWithThePrefixOfTheirServer(t *testing.T) {
	web := &mcptest.Web{Script: mcptest.Script{Tools: []mcptest.Tool{{Name: "fs_read", Result: mcptest.Structured(`{"n":12345678901234567890}`)}}}}
	engine := mustLoad(t, overHTTP(t, web, `, namePrefix: fs_, tools: {allow: ["re*"]}`, "read"))
	result, err := engine.Call(context.Background(), "one", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(result.JSON()); got != `{"n":12345678901234567890}` {
		t.Errorf("got %s", got)
	}
	_, err = load(t, overHTTP(t, web, `, namePrefix: fs_, tools: {deny: [read]}`, "read"))
	if err == nil || !strings.Contains(err.Error(), `calls tool "read", which "tools" of server "fake" does not allow`) {
		t.Errorf("a denied tool: %v", err)
	}
}
