package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// streamReader reads a stream of events.
type streamReader struct {
	t      *testing.T
	header http.Header
	body   io.ReadCloser
	lines  *bufio.Reader
}

// listen makes a request whose answer is a stream; headers are names and values
// in turn.
func (x *testServer) listen(method, body string, headers ...string) *streamReader {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	x.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, x.url+server.Path, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { response.Body.Close() })
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "text/event-stream" {
		x.t.Fatalf("%d %s", response.StatusCode, kind)
	}
	return &streamReader{x.t, response.Header, response.Body, bufio.NewReader(response.Body)}
}

// want reads the next message, without the signs of life before it.
func (l *streamReader) want(message string) {
	l.t.Helper()
	for {
		line, err := l.lines.ReadString('\n')
		if err != nil {
			l.t.Fatalf("the stream has ended (%v), want %s", err, message)
		}
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != ':' {
			if line != "data: "+message {
				l.t.Errorf("got  %s\nwant data: %s", line, message)
			}
			return
		}
	}
}

// wantEnd reads to the end of the stream and checks that no message comes.
func (l *streamReader) wantEnd() {
	l.t.Helper()
	rest, err := io.ReadAll(l.lines)
	if err != nil || strings.Contains(string(rest), "data:") {
		l.t.Errorf("the stream ends with %q (%v)", rest, err)
	}
}

// changed publishes a tool of another name.
func (x *testServer) changed(name string) {
	x.t.Helper()
	opts := named(httpOptions(x.t))
	opts.Tools = append(opts.Tools, tool(x.t, name))
	if err := x.server.Replace(opts); err != nil {
		x.t.Fatal(err)
	}
}

func TestOneStreamOfASessionGetsListChanged(t *testing.T) {
	x := serve(t, httpOptions(t), server.HTTPOptions{})
	in := x.session("2025-11-25")
	other := x.listen(http.MethodGet, "", x.session("2025-06-18")...)
	x.changed("unheard-of") // by the first session, which does not listen
	other.want(toolsChanged)
	first := x.listen(http.MethodGet, "", in...)
	x.changed("a")
	first.want(toolsChanged)
	other.want(toolsChanged)
	second := x.listen(http.MethodGet, "", in...)
	x.changed("b")
	second.want(toolsChanged)
	// A call under way hears nothing of it, and the streams nothing of calls.
	if g := x.post(fmt.Sprintf(call, "1", `,"_meta":{"progressToken":1}`), in...); g.status != http.StatusOK {
		t.Errorf("%d %s", g.status, g.body)
	}
	if g := x.ask(http.MethodDelete, server.Path, "", in...); g.status != http.StatusNoContent {
		t.Errorf("DELETE gives %d", g.status)
	}
	first.wantEnd()
	second.wantEnd()
}

func TestSessionKeepsItsNewestStreams(t *testing.T) {
	x := serve(t, httpOptions(t), server.HTTPOptions{})
	in := x.session("2025-11-25")
	first := x.listen(http.MethodGet, "", in...)
	var newest *streamReader
	for range 4 {
		newest = x.listen(http.MethodGet, "", in...)
	}
	first.wantEnd()
	x.changed("a")
	newest.want(toolsChanged)
}

func TestOpenStreamKeepsSessionInUse(t *testing.T) {
	var mu sync.Mutex
	over := 0
	x := serve(t, httpOptions(t), server.HTTPOptions{
		SessionIdle: time.Millisecond,
		Session: func(context.Context) func(error) {
			return func(error) { mu.Lock(); defer mu.Unlock(); over++ }
		},
	})
	// A session may end before it has begun to listen.
	var in []string
	for status := 0; status != http.StatusOK; {
		in = x.session("2025-11-25")
		r, err := http.NewRequest(http.MethodGet, x.url+server.Path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set(in[0], in[1])
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { response.Body.Close() })
		status = response.StatusCode
	}
	mu.Lock()
	ended := over
	mu.Unlock()
	x.session("2025-11-25")
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		mu.Lock()
		done := over > ended
		mu.Unlock()
		if done {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a session that is not used does not end")
		}
	}
	if g := x.post(fmt.Sprintf(call, "1", ""), in...); g.status != http.StatusOK {
		t.Errorf("the session that listens has ended: %d %s", g.status, g.body)
	}
}

const listen = `{"jsonrpc":"2.0","id":%s,"method":"subscriptions/listen","params":{"notifications":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`

const (
	acknowledged = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":%s}}`
	tagged       = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`
	unsubscribed = `{"jsonrpc":"2.0","id":%[1]s,"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.0.0"%[2]s},"io.modelcontextprotocol/subscriptionId":%[1]s},"resultType":"complete"}}`
)

func TestSubscriptionsOverHTTP(t *testing.T) {
	x := serve(t, httpOptions(t), server.HTTPOptions{Grace: time.Hour})
	headers := modern("subscriptions/listen", "")[:4]
	all := x.listen(http.MethodPost, fmt.Sprintf(listen, `"all"`, `{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a://b"]}`), headers...)
	all.want(fmt.Sprintf(acknowledged, `"all"`, `{"toolsListChanged":true}`))
	// What cannot be had is not waited for.
	none := x.listen(http.MethodPost, fmt.Sprintf(listen, "7", `{"promptsListChanged":true}`), headers...)
	none.want(fmt.Sprintf(acknowledged, "7", `{}`))
	none.want(fmt.Sprintf(unsubscribed, "7", ""))
	none.wantEnd()
	x.changed("a")
	all.want(fmt.Sprintf(tagged, `"all"`))
	if g := x.post(fmt.Sprintf(listen, "1", `{"toolsListChanged":true}`), append(headers, "Accept", "application/json")...); g.status != http.StatusBadRequest {
		t.Errorf("without streams: %d %s", g.status, g.body)
	}
	if g := x.post(fmt.Sprintf(listen, "1", `{"toolsListChanged":7}`), headers...); g.status != http.StatusBadRequest {
		t.Errorf("a filter that is none: %d %s", g.status, g.body)
	}
	if g := x.post(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{}}}`, x.session("2025-11-25")...); !strings.Contains(g.body, "-32601") {
		t.Errorf("in a revision without: %d %s", g.status, g.body)
	}
	standing := x.listen(http.MethodGet, "", x.session("2025-11-25")...)
	x.stop(errors.New("told to"))
	all.want(fmt.Sprintf(unsubscribed, `"all"`, ""))
	all.wantEnd()
	standing.wantEnd()
	select {
	case <-x.ended:
	case <-time.After(30 * time.Second):
		t.Error("streams hold up the end")
	}
}

func TestStreamsOfRevokedCallersEnd(t *testing.T) {
	both := func(callers ...string) auth.Guard {
		t.Helper()
		var tokens []config.CallerToken
		for _, c := range callers {
			tokens = append(tokens, config.CallerToken{Caller: c, Token: "0123456789abcdef-" + c})
		}
		guard, err := auth.NewTokens(tokens)
		if err != nil {
			t.Fatal(err)
		}
		return guard
	}
	opts := named(httpOptions(t))
	opts.Access.Guard = both("ann", "bob")
	x := serve(t, opts, server.HTTPOptions{})
	open := func(caller string) (standing, subscribed *streamReader) {
		t.Helper()
		standing = x.listen(http.MethodGet, "", x.session("2025-11-25", authorizedAs(caller)...)...)
		headers := append(modern("subscriptions/listen", "")[:4:4], authorizedAs(caller)...)
		subscribed = x.listen(http.MethodPost, fmt.Sprintf(listen, "1", `{"toolsListChanged":true}`), headers...)
		subscribed.want(fmt.Sprintf(acknowledged, "1", `{"toolsListChanged":true}`))
		return standing, subscribed
	}
	anns, annsToo := open("ann")
	bobs, bobsToo := open("bob")
	opts.Access.Guard = both("bob")
	if err := x.server.Replace(opts); err != nil {
		t.Fatal(err)
	}
	anns.wantEnd()
	annsToo.want(fmt.Sprintf(unsubscribed, "1", ""))
	annsToo.wantEnd()
	opts.Tools = append(opts.Tools, tool(t, "more"))
	if err := x.server.Replace(opts); err != nil {
		t.Fatal(err)
	}
	bobs.want(toolsChanged)
	bobsToo.want(fmt.Sprintf(tagged, "1"))
}

func TestSubscriptionsOverStdio(t *testing.T) {
	opts := named(echoOptions(t))
	c := start(t, opts)
	c.want(fmt.Sprintf(listen, "1", `{"resourcesListChanged":true}`), fmt.Sprintf(acknowledged, "1", `{}`))
	if got, want := c.line(), fmt.Sprintf(unsubscribed, "1", `,"title":"Test"`); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c.want(fmt.Sprintf(listen, "9007199254740993", `{"toolsListChanged":true}`), fmt.Sprintf(acknowledged, "9007199254740993", `{"toolsListChanged":true}`))
	c.want(fmt.Sprintf(listen, "3", `{"toolsListChanged":true}`), fmt.Sprintf(acknowledged, "3", `{"toolsListChanged":true}`))
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	// A cancelled one is not answered, and its id can be used again.
	for line := ""; line != fmt.Sprintf(acknowledged, "3", `{}`); line = c.line() {
		c.send(listen, "3", `{}`)
	}
	if got, want := c.line(), fmt.Sprintf(unsubscribed, "3", `,"title":"Test"`); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	opts.Tools = opts.Tools[:1]
	c.replace(opts)
	if got, want := c.line(), fmt.Sprintf(tagged, "9007199254740993"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c.in.Close()
	if got, want := c.line(), fmt.Sprintf(unsubscribed, "9007199254740993", `,"title":"Test"`); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c.closed()
}

const acknowledgement = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{"toolsListChanged":true}}}`

func TestSubscriptionsAreBoundedPerCaller(t *testing.T) {
	server.SetMaxSubscriptions(t, 3, 5)
	opts, guard := scopedOptions(t)
	x := serve(t, opts, server.HTTPOptions{Guard: guard})
	open := func(caller string) *streamReader {
		return x.listen(http.MethodPost, fmt.Sprintf(listen, "1", `{"toolsListChanged":true}`), append(authorizedAs(caller), modern("subscriptions/listen", "")[:4]...)...)
	}
	refused := func(caller, why string) {
		t.Helper()
		g := x.post(fmt.Sprintf(listen, "1", `{"toolsListChanged":true}`), append(authorizedAs(caller), modern("subscriptions/listen", "")[:4]...)...)
		if g.status != http.StatusServiceUnavailable || !strings.Contains(g.body, why) || g.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %v %s", caller, g.status, g.header, g.body)
		}
	}
	var anns []*streamReader
	for range 3 {
		anns = append(anns, open("ann"))
	}
	for _, l := range anns {
		l.want(acknowledgement)
	}
	refused("ann", "a caller may have 3 open")
	for range 2 {
		open("bob").want(acknowledgement)
	}
	refused("cat", "the server may have 5 open")
	refused("ann", "a caller may have 3 open")
	anns[0].body.Close()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		g := x.post(fmt.Sprintf(listen, "1", `{}`), append(authorizedAs("ann"), modern("subscriptions/listen", "")[:4]...)...)
		if g.status == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a stream that was closed still counts")
		}
	}
	c := start(t, echoOptions(t))
	for range 3 {
		c.send(fmt.Sprintf(listen, "%d", `{"toolsListChanged":true}`), time.Now().UnixNano())
		c.line()
	}
	c.send(`{"jsonrpc":"2.0","id":"more","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{`+"%s"+`}}}`, eraMeta)
	if line := c.line(); !strings.Contains(line, "a caller may have 3 open") {
		t.Error(line)
	}
}

// What is told of sessions may itself make requests.
func TestSessionCallbacksRunWithoutTheLock(t *testing.T) {
	var x *testServer
	var within atomic.Int32
	use := func() {
		if within.Add(1) > 1 {
			return
		}
		x.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, x.session("2025-11-25")...)
	}
	x = serve(t, httpOptions(t), server.HTTPOptions{Session: func(context.Context) func(error) {
		use()
		return func(error) { use() }
	}})
	in := x.session("2025-11-25")
	within.Store(0)
	if g := x.ask(http.MethodDelete, server.Path, "", in...); g.status != http.StatusNoContent {
		t.Errorf("%d %s", g.status, g.body)
	}
	if within.Load() < 2 {
		t.Error("nothing was told of a session's end")
	}
	within.Store(1) // the server answers no more
	x.close()
}
