package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestInitializeCarriesTheServersDescription(t *testing.T) {
	opts := echoOptions(t)
	opts.Info = config.Server{Name: "n", Version: "1.2.3", Title: "A <title>", Instructions: "Use & enjoy"}
	c := start(t, opts)
	c.want(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"logging":{},"tools":{"listChanged":true}},"serverInfo":{"name":"n","version":"1.2.3","title":"A <title>"},"instructions":"Use & enjoy"}}`)
	c.want(`{"jsonrpc":"2.0","id":2,"method":"ping"}`, `{"jsonrpc":"2.0","id":2,"result":{}}`)
	c.closed()
}

func TestResultsAreUnchanged(t *testing.T) {
	tests := []struct{ name, value, text, structured string }{
		{"zero", `0`, `0`, ``},
		{"false", `false`, `false`, ``},
		{"empty string", `""`, `"\"\""`, ``},
		{"empty list", `[]`, `[]`, ``},
		{"null", `null`, `null`, ``},
		{"string", `"a\nb"`, `"\"a\\nb\""`, ``},
		{"key order and html", `{"b":"<&>","a":1}`, `"{\"b\":\"<&>\",\"a\":1}"`, `{"b":"<&>","a":1}`},
		{"big integer", `{"n":12345678901234567890123}`, `"{\"n\":12345678901234567890123}"`, `{"n":12345678901234567890123}`},
		{"lone surrogate", `"\ud800"`, `"\"\\ud800\""`, ``},
		{"separators", "\"\u2028\"", "\"\\\"\u2028\\\"\"", ``},
		{"empty object", `{}`, `{}`, `{}`},
	}
	c := start(t, echoOptions(t))
	c.initialize("2025-11-25")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.text
			if !strings.HasPrefix(text, `"`) {
				text = `"` + text + `"`
			}
			want := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":` + text + `}]`
			if tt.structured != "" {
				want += `,"structuredContent":` + tt.structured
			}
			c.t = t
			c.want(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"value","arguments":{"value":`+tt.value+`}}}`, want+"}}")
		})
	}
	c.t = t
	// Nothing at all is null, too.
	c.want(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"value"}}`,
		`{"jsonrpc":"2.0","id":8,"result":{"content":[{"type":"text","text":"null"}]}}`)
	c.closed()
}

func TestFailuresAreResults(t *testing.T) {
	c := start(t, echoOptions(t))
	c.initialize("2025-11-25")
	c.want(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"tool \"fail\": it <failed>"}],"isError":true}}`)
	c.want(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"panic"}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"tool \"panic\": internal error: boom"}],"isError":true}}`)
	c.want(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo"}}`,
		`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}}`)
	c.closed()
}

func TestMalformedMessagesGetErrors(t *testing.T) {
	tests := []struct{ name, send, want string }{
		{"not JSON", `{"jsonrpc":`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		{"garbage", `hello`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		{"not UTF-8", "\"\xff\xfe\"", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error: not JSON at byte 1: a byte that is not UTF-8`},
		{"not an object", `42`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		{"no version", `{"id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,`},
		{"no version and no id", `{"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		{"no method", `{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,`},
		{"method of a wrong type", `{"jsonrpc":"2.0","id":1,"method":5}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,`},
		{"id of a wrong type", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		{"unknown method", `{"jsonrpc":"2.0","id":"a","method":"nope"}`, `{"jsonrpc":"2.0","id":"a","error":{"code":-32601,`},
		{"params of a wrong type", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,`},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"tools/call: name must be a string, found nothing"}}`},
		{"name of a wrong type", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,`},
		{"arguments of a wrong type", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":[]}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"tools/call: arguments must be an object, found an array of 0 elements"}}`},
		{"_meta of a wrong type", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":[]}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,`},
		{"unknown tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ehco"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"unknown tool \"ehco\"; did you mean \"echo\"?"}}`},
		{"too deep", strings.Repeat("[", 200_000), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
	}
	c := start(t, echoOptions(t))
	c.initialize("2025-11-25")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c.t = t
			c.send("%s", tt.send)
			if got := c.line(); !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %s, want it to begin with %s", got, tt.want)
			}
		})
	}
	c.t = t
	// What asks for nothing is not answered.
	c.send(``)
	c.send(`  `)
	c.send(`{"jsonrpc":"2.0","method":"notifications/unknown","params":{}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
	c.send(`{"jsonrpc":"2.0","id":5,"result":{}}`)
	c.send("{\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"method\":\"ping\"}\r")
	if got, want := c.line(), `{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c.closed()
}

func TestBatchesOfRevision20250326AreAnsweredAsOne(t *testing.T) {
	c := start(t, echoOptions(t))
	c.initialize("2025-03-26")
	c.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},7,{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}]`)
	answers := parse(t, c.line())
	seen := map[string]bool{}
	for _, a := range answers.Elems() {
		seen[a.Get("id").JSON()] = true
	}
	if answers.Len() != 3 || !seen["1"] || !seen["2"] || !seen["null"] {
		t.Errorf("answers: %s", answers.JSON())
	}
	c.send(`[{"jsonrpc":"2.0","method":"notifications/x"}]`)
	c.want(`[]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request: empty batch"}}`)
	c.closed()
}

func TestLongLinesAreRefusedAndSkipped(t *testing.T) {
	opts := echoOptions(t)
	opts.MaxLine = 100_000
	c := start(t, opts)
	go c.send(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"%s"}}`, strings.Repeat("x", 300_000))
	if got, want := c.line(), `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request: message longer than 100000 bytes"}}`; got != want {
		t.Errorf("got %s", got)
	}
	c.want(`{"jsonrpc":"2.0","id":2,"method":"ping"}`, `{"jsonrpc":"2.0","id":2,"result":{}}`)
	c.closed()
}

func TestLargeMessages(t *testing.T) {
	c := start(t, echoOptions(t))
	c.initialize("2025-11-25")
	big := strings.Repeat("0123456789<&>é\\n", 5<<20/16)
	go c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"s":"%s"}}}`, big)
	got := parse(t, c.line()).Get("result")
	want := `{"s":"` + big + `"}`
	if text := got.Get("content").Elems()[0].Get("text").Str(); text != want {
		t.Errorf("the text has %d bytes, want %d", len(text), len(want))
	}
	if sc := got.Get("structuredContent").JSON(); sc != want {
		t.Errorf("structuredContent has %d bytes, want %d", len(sc), len(want))
	}
	c.closed()
}

func TestSixtyFourOverlappingCallsEachGetTheirOwnAnswer(t *testing.T) {
	const n = 64
	var gate sync.WaitGroup
	gate.Add(n)
	opts := echoOptions(t)
	opts.Call = func(ctx context.Context, q *server.Request) (value.Value, error) {
		gate.Done()
		gate.Wait() // nobody answers before all 64 run
		return echo(ctx, q)
	}
	c := start(t, opts)
	c.initialize("2025-11-25")
	for i := range n {
		name := []string{"echo", "value", "fail", "panic"}[i%4]
		c.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"value":{"i":%d}}}}`, i, name, i)
	}
	seen := map[int]bool{}
	for range n {
		answer := parse(t, c.line())
		i := int(answer.Get("id").Float())
		seen[i] = true
		text := answer.Get("result").Get("content").Elems()[0].Get("text").Str()
		want := []string{
			fmt.Sprintf(`{"value":{"i":%d}}`, i), fmt.Sprintf(`{"i":%d}`, i),
			`tool "fail": it <failed>`, `tool "panic": internal error: boom`,
		}[i%4]
		if text != want {
			t.Errorf("answer %d: %s, want %s", i, text, want)
		}
	}
	if len(seen) != n {
		t.Errorf("%d different answers, want %d", len(seen), n)
	}
	c.closed()
}

func TestCancelledCallEndsAtOnceAndIsNotAnswered(t *testing.T) {
	started := make(chan struct{})
	causes := make(chan error, 1)
	opts := echoOptions(t)
	opts.Call = func(ctx context.Context, q *server.Request) (value.Value, error) {
		if q.Tool != "value" {
			return q.Args, nil
		}
		close(started)
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return value.Undef, ctx.Err()
	}
	c := start(t, opts)
	c.initialize("2025-11-25")
	c.send(`{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"value"}}`)
	<-started
	c.want(`{"jsonrpc":"2.0","id":"slow","method":"ping"}`,
		`{"jsonrpc":"2.0","id":"slow","error":{"code":-32600,"message":"invalid request: a request with id \"slow\" is still under way"}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow","reason":"enough"}}`)
	if cause := <-causes; cause == nil || cause.Error() != "the client cancelled the call" {
		t.Errorf("cause: %v", cause)
	}
	c.want(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}}`)
	c.closed()
}

func TestCallsAreAnsweredAfterInputEnds(t *testing.T) {
	release := make(chan struct{})
	opts := echoOptions(t)
	opts.Call = func(ctx context.Context, q *server.Request) (value.Value, error) {
		<-release
		return q.Args, ctx.Err()
	}
	c := start(t, opts)
	c.initialize("2025-11-25")
	for i := range 20 {
		c.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo"}}`, i)
	}
	c.in.Close()
	close(release)
	out, err := io.ReadAll(c.lines)
	if err != nil || bytes.Count(out, []byte("\n")) != 20 || bytes.Contains(out, []byte("isError")) {
		t.Errorf("%v; wrote %s", err, out)
	}
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
}

func TestSlowReaderDoesNotBlockRequests(t *testing.T) {
	c := start(t, echoOptions(t))
	c.initialize("2025-11-25")
	pad := strings.Repeat("x", 4096)
	const n = 500 // both ways far more than a pipe holds
	for i := range n {
		c.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"pad":%q}}}`, i, pad)
	}
	for range n {
		if line := c.line(); !strings.Contains(line, pad) {
			t.Fatalf("answer: %.200s", line)
		}
	}
	c.closed()
}

func TestShutdownAnswersRunningCallsWithTheCause(t *testing.T) {
	started := make(chan struct{})
	opts := echoOptions(t)
	opts.Call = func(ctx context.Context, _ *server.Request) (value.Value, error) {
		close(started)
		<-ctx.Done()
		return value.Undef, context.Cause(ctx)
	}
	c := start(t, opts)
	c.initialize("2025-11-25")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`)
	<-started
	cause := errors.New("stopped by a signal")
	c.stop(cause)
	if got, want := c.line(), `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"stopped by a signal"}],"isError":true}}`; got != want {
		t.Errorf("got %s", got)
	}
	if err := <-c.ended; !errors.Is(err, cause) {
		t.Errorf("ServeStdio: %v", err)
	}
}

func TestWriteErrorEndsTheServer(t *testing.T) {
	s, err := server.New(server.Options{Info: config.Server{Name: "t", Version: "1"}, Tools: []server.Tool{tool(t, "echo")}, Call: echo})
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := pipe(t)
	outR, outW := pipe(t)
	outR.Close()
	if _, err := io.WriteString(inW, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := s.ServeStdio(context.Background(), inR, outW); err == nil || !strings.HasPrefix(err.Error(), "writing to the client: ") {
		t.Errorf("ServeStdio: %v", err)
	}
}
