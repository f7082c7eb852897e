package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// askingOptions publish one tool that asks the client and returns the answer, or
// the error as a text.
func askingOptions(t testing.TB) server.Options {
	opts := server.Options{Tools: []server.Tool{tool(t, "ask")}}
	opts.Call = func(ctx context.Context, r *server.Request) (value.Value, error) {
		method, params := graph.AskPerson, parse(t, `{"message":"Sure?","requestedSchema":{"type":"object","properties":{}}}`)
		if m := r.Args.Get("method").Str(); m != "" {
			method, params = m, parse(t, `{"message":"Sure?"}`)
		}
		if r.Args.Has("url") {
			params = parse(t, `{"mode":"url","message":"Sure?","url":"https://example.com","elicitationId":"1"}`)
		}
		if ms := r.Args.Get("ms").Float(); ms > 0 {
			var cancel func()
			ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(ms)*time.Millisecond, errors.New("too late"))
			defer cancel()
		}
		answer, err := r.Ask(ctx, method, params)
		if err != nil {
			if errors.Is(err, server.ErrRefused) {
				return value.FromString("refused: " + err.Error()), nil
			}
			return value.FromString("error: " + err.Error()), nil
		}
		return answer, nil
	}
	return opts
}

func initializeWith(version, capabilities string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"c","version":"1"}}}`, version, capabilities)
}

const callAsk = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":%s}}`

// question returns the id of the request to the client that a line has.
func question(t testing.TB, line string) string {
	t.Helper()
	m := parse(t, line)
	if m.Get("method").Kind() != value.String || m.Get("params").Get("message").Str() != "Sure?" {
		t.Fatalf("expected a question, got %s", line)
	}
	return m.Get("id").JSON()
}

func TestElicitOverStdio(t *testing.T) {
	for _, test := range []struct{ name, answer, want string }{
		{"accepted", `"result":{"action":"accept","content":{"a":1}}`, `"structuredContent":{"action":"accept","content":{"a":1}}`},
		{"declined", `"result":{"action":"decline"}`, `"structuredContent":{"action":"decline"}`},
		{"without an action", `"result":{"content":{}}`, `error: the client's answer has no action`},
		{"not an object", `"result":7`, `error: the client's answer has no action`},
		{"refused", `"error":{"code":-32000,"message":"no user"}`, `error: the client did not answer: no user (JSON-RPC error -32000)`},
		{"too long", `"result":{"action":"accept","content":{"a":"` + strings.Repeat("x", 1<<20) + `"}}`, `at most 1048576 are accepted`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t, askingOptions(t))
			c.send("%s", initializeWith("2025-11-25", `{"elicitation":{}}`))
			c.line()
			c.send(callAsk, `{}`)
			id := question(t, c.line())
			c.send(`{"jsonrpc":"2.0","id":"other","result":{"action":"accept"}}`)
			c.send(`{"jsonrpc":"2.0","id":%s,%s}`, id, test.answer)
			if got := c.line(); !strings.Contains(got, test.want) {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
			c.send(`{"jsonrpc":"2.0","id":%s,%s}`, id, test.answer) // again: nobody asks any more
			c.closed()
		})
	}
}

// A client that closes its end of the pipe cannot answer: its call ends without it.
func TestQuestionsEndWithTheInput(t *testing.T) {
	t.Parallel()
	c := start(t, askingOptions(t))
	c.send("%s", initializeWith("2025-11-25", `{"elicitation":{}}`))
	c.line()
	c.send(callAsk, `{}`)
	question(t, c.line())
	c.in.Close()
	if got := c.line(); !strings.Contains(got, "error: the client sends no more answers") {
		t.Errorf("got %s", got)
	}
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
}

// TestAnswersOfModelsAndRoots answers the other requests.
func TestAnswersOfModelsAndRoots(t *testing.T) {
	const model, roots = `{"method":"sampling/createMessage"}`, `{"method":"roots/list"}`
	for _, test := range []struct{ name, args, answer, want string }{
		{"a model", model, `"result":{"role":"assistant","content":{"type":"text","text":"Yes"},"model":"m"}`, `"structuredContent":{"role":"assistant"`},
		{"two blocks", model, `"result":{"content":[{"type":"text","text":"a"},{"type":"image"}]}`, `"structuredContent":{"content"`},
		{"a model that declines", model, `"result":{"action":"decline"}`, `"structuredContent":{"action":"decline"}`},
		{"the user rejects", model, `"error":{"code":-1,"message":"User rejected sampling request"}`, `refused: the client refused: User rejected sampling request`},
		{"no such method", model, `"error":{"code":-32601,"message":"no"}`, `error: the client did not answer: no (JSON-RPC error -32601)`},
		{"no content", model, `"result":{"role":"assistant"}`, `error: the client's answer has no content`},
		{"no type", model, `"result":{"content":{"text":"Yes"}}`, `error: the client's answer has content without a type`},
		{"no text", model, `"result":{"content":{"type":"text","text":7}}`, `error: the client's answer has content of type text without a text`},
		{"a role that is no text", model, `"result":{"role":[],"content":{"type":"text","text":"a"}}`, `error: the client's answer has the role an array`},
		{"a number", model, `"result":7`, `error: the client's answer is the number 7`},
		{"too long", model, `"result":{"content":{"type":"text","text":"` + strings.Repeat("x", 1<<20) + `"}}`, `at most 1048576 are accepted`},
		{"roots", roots, `"result":{"roots":[{"uri":"file:///a","name":"A"}]}`, `"structuredContent":{"roots":[{"uri":"file:///a","name":"A"}]}`},
		{"no roots", roots, `"result":{"roots":[]}`, `"structuredContent":{"roots":[]}`},
		{"no list", roots, `"result":{}`, `error: the client's answer has no list of roots`},
		{"a root that is a text", roots, `"result":{"roots":["file:///a"]}`, `error: the client's answer has a root without a uri`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t, askingOptions(t))
			c.send("%s", initializeWith("2025-11-25", `{"sampling":{},"roots":{"listChanged":true}}`))
			c.line()
			c.send(callAsk, test.args)
			c.send(`{"jsonrpc":"2.0","id":%s,%s}`, question(t, c.line()), test.answer)
			if got := c.line(); !strings.Contains(got, test.want) {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
			c.closed()
		})
	}
}

func TestRequestsNeedTheCapability(t *testing.T) {
	for _, test := range []struct {
		version, capabilities, args string
		asks                        bool
	}{
		{"2024-11-05", `{"sampling":{}}`, `{"method":"sampling/createMessage"}`, true},
		{"2025-11-25", `{"roots":{}}`, `{"method":"sampling/createMessage"}`, false},
		{"2025-11-25", `{"sampling":[]}`, `{"method":"sampling/createMessage"}`, false},
		{"2024-11-05", `{"roots":{}}`, `{"method":"roots/list"}`, true},
		{"2025-11-25", `{"sampling":{},"elicitation":{}}`, `{"method":"roots/list"}`, false},
		{"2025-03-26", `{"elicitation":{}}`, `{}`, false},
		{"2025-06-18", `{}`, `{}`, false},
		{"2025-06-18", `{"elicitation":{}}`, `{}`, true},
		{"2025-06-18", `{"elicitation":{"url":{}}}`, `{"url":1}`, false},
		{"2025-11-25", `{"elicitation":{}}`, `{"url":1}`, false},
		{"2025-11-25", `{"elicitation":{"url":{}}}`, `{}`, false},
		{"2025-11-25", `{"elicitation":{"url":{}}}`, `{"url":1}`, true},
		{"2025-11-25", `{"elicitation":{"form":{},"url":{}}}`, `{}`, true},
	} {
		c := start(t, askingOptions(t))
		c.send("%s", initializeWith(test.version, test.capabilities))
		c.line()
		c.send(callAsk, test.args)
		line := c.line()
		if asks := !strings.Contains(line, "error: the client did not declare the capability "); asks != test.asks {
			t.Errorf("%+v: got %s", test, line)
		}
	}
}

func TestWithdrawnQuestions(t *testing.T) {
	c := start(t, askingOptions(t))
	c.send("%s", initializeWith("2025-11-25", `{"elicitation":{}}`))
	c.line()
	c.send(callAsk, `{"ms":20}`)
	id := question(t, c.line())
	if got, want := c.line(), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`,"reason":"the question is withdrawn"}}`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := c.line(); !strings.Contains(got, "error: too late") {
		t.Errorf("got %s", got)
	}
	// The client cancels its call.
	c.send(callAsk, `{}`)
	id = question(t, c.line())
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := c.line(); !strings.Contains(got, `"requestId":`+id) {
		t.Errorf("got %s", got)
	}
	c.closed()
}

func TestElicitOverHTTP(t *testing.T) {
	x := serve(t, askingOptions(t), server.HTTPOptions{})
	ask := func(accept string) (*http.Response, *bufio.Reader, []string) {
		begun := x.post(initializeWith("2025-11-25", `{"elicitation":{}}`))
		session := []string{"Mcp-Session-Id", begun.header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version", "2025-11-25"}
		r := x.request(http.MethodPost, server.Path, fmt.Sprintf(callAsk, `{}`), append(session, "Accept", accept)...)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { response.Body.Close() })
		return response, bufio.NewReader(response.Body), session
	}
	event := func(r *bufio.Reader) string {
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				return data
			}
		}
	}
	_, stream, session := ask("application/json, text/event-stream")
	id := question(t, event(stream))
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"a":1}}}`, id)

	other := x.post(initializeWith("2025-11-25", `{"elicitation":{}}`)).header.Get("Mcp-Session-Id")
	for _, test := range []struct {
		name   string
		header []string
		status int
	}{
		{"another session", []string{"Mcp-Session-Id", other}, http.StatusAccepted},
		{"an unknown session", []string{"Mcp-Session-Id", "made up"}, http.StatusNotFound},
		{"no session", nil, http.StatusAccepted},
	} {
		if got := x.post(answer, test.header...); got.status != test.status {
			t.Errorf("%s: status %d, want %d", test.name, got.status, test.status)
		}
	}
	if got := x.post(strings.Replace(answer, `"a":1`, `"a":2`, 1), session...); got.status != http.StatusAccepted {
		t.Errorf("the answer: status %d", got.status)
	}
	if got := event(stream); !strings.Contains(got, `"structuredContent":{"action":"accept","content":{"a":2}}`) {
		t.Errorf("got %s", got)
	}

	response, _, _ := ask("application/json") // accepts no stream
	data := make([]byte, 1000)
	n, _ := response.Body.Read(data)
	if !strings.Contains(string(data[:n]), "error: the client accepts no requests of the server during this call") {
		t.Errorf("got %s", data[:n])
	}
}

func TestInputRequired(t *testing.T) {
	opts := server.Options{Tools: []server.Tool{tool(t, "ask")}}
	opts.Call = func(_ context.Context, r *server.Request) (value.Value, error) {
		switch state, goesOn := r.State(); {
		case !goesOn:
			if err := r.Needs(r.Args.Get("method").Str(), r.Args); err != nil {
				return value.Undef, fmt.Errorf("node: %w", err)
			}
			return value.Undef, &server.InputRequiredError{
				Requests: parse(t, `{"q":{"method":"elicitation/create","params":{"message":"Sure?"}}}`), State: "the state",
			}
		case state == "the state":
			return r.Responses().Get("q"), nil
		}
		return value.Undef, &server.InvalidParamsError{Message: "unknown requestState"}
	}
	x := serve(t, opts, server.HTTPOptions{})
	call := func(capabilities, more string) httpReply {
		if !strings.HasPrefix(more, `,"arguments"`) {
			more += `,"arguments":{}`
		}
		return x.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"`+more+`,"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},`+
			`"io.modelcontextprotocol/clientCapabilities":`+capabilities+`}}}`, modern("tools/call", "ask")...)
	}
	for _, test := range []struct{ capabilities, more, want string }{
		{`{"elicitation":{"form":{}}}`, ``, `"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"Sure?"}}},"requestState":"the state","_meta":{`},
		{`{"elicitation":{}}`, `,"requestState":"the state","inputResponses":{"q":{"action":"accept"}}`, `"structuredContent":{"action":"accept"}`},
		{`{"elicitation":{}}`, `,"requestState":"forged"`, `"error":{"code":-32602,"message":"tools/call: unknown requestState"}`},
		{`{"elicitation":{}}`, `,"requestState":""`, `"error":{"code":-32602,"message":"tools/call: unknown requestState"}`},
		{`{"elicitation":{}}`, `,"requestState":7`, `"error":{"code":-32602,"message":"tools/call: requestState must be a string, found the number 7"}`},
		{`{"elicitation":{}}`, `,"requestState":"the state","inputResponses":[]`, `"error":{"code":-32602,"message":"tools/call: inputResponses must be an object, found an `},
		{`{}`, ``, `"error":{"code":-32021,"message":"the client did not declare the capability elicitation","data":{"requiredCapabilities":{"elicitation":{}}}}`},
		{`{"elicitation":{}}`, `,"arguments":{"mode":"url"}`, `"requiredCapabilities":{"elicitation":{"url":{}}}`},
		{`{"elicitation":{}}`, `,"arguments":{"method":"sampling/createMessage"}`, `"requiredCapabilities":{"sampling":{}}`},
		{`{"sampling":{}}`, `,"arguments":{"method":"roots/list"}`, `"requiredCapabilities":{"roots":{}}`},
		{`{"roots":{}}`, `,"arguments":{"method":"roots/list"}`, `"input_required"`},
	} {
		got := call(test.capabilities, test.more)
		if strings.Contains(test.want, "requiredCapabilities") && got.status != http.StatusBadRequest {
			t.Errorf("%s %s: status %d", test.capabilities, test.more, got.status)
		}
		if !strings.Contains(got.body, test.want) {
			t.Errorf("%s %s\n got %s\nwant %s", test.capabilities, test.more, got.body, test.want)
		}
	}
}
