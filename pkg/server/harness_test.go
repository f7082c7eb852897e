package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// stdioClient talks to a server through two pipes of the operating system.
type stdioClient struct {
	t      testing.TB
	server *server.Server
	in     *os.File // the client's end of the server's standard input
	lines  *bufio.Reader
	ended  chan error
	stop   context.CancelCauseFunc
}

func start(t testing.TB, opts server.Options) *stdioClient {
	t.Helper()
	s, err := server.New(named(opts))
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := pipe(t)
	outR, outW := pipe(t)
	ctx, stop := context.WithCancelCause(context.Background())
	c := &stdioClient{t: t, server: s, in: inW, lines: bufio.NewReaderSize(outR, 1<<20), ended: make(chan error, 1), stop: stop}
	go func() {
		err := s.ServeStdio(ctx, inR, outW)
		outW.Close()
		c.ended <- err
	}()
	t.Cleanup(func() { stop(nil); inW.Close() })
	return c
}

// named gives the server a name where it has none.
func named(opts server.Options) server.Options {
	if opts.Info.Name == "" {
		opts.Info = config.Server{Name: "test", Version: "1.0.0", Title: "Test"}
	}
	return opts
}

// replace publishes something else.
func (c *stdioClient) replace(opts server.Options) {
	c.t.Helper()
	if err := c.server.Replace(named(opts)); err != nil {
		c.t.Error(err)
	}
}

func pipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func (c *stdioClient) send(format string, args ...any) {
	c.t.Helper()
	line := format
	if len(args) > 0 {
		line = fmt.Sprintf(format, args...)
	}
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// line returns the next line that the server wrote, as it is.
func (c *stdioClient) line() string {
	c.t.Helper()
	line, err := c.lines.ReadString('\n')
	if err != nil {
		c.t.Fatalf("reading an answer: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// want sends a line and checks the answer byte for byte.
func (c *stdioClient) want(send, want string) {
	c.t.Helper()
	c.send("%s", send)
	if got := c.line(); got != want {
		c.t.Errorf("sent %s\n got %s\nwant %s", send, got, want)
	}
}

// closed ends the server's input and checks that it then ends without error,
// having written nothing more.
func (c *stdioClient) closed() {
	c.t.Helper()
	c.in.Close()
	if rest, err := io.ReadAll(c.lines); err != nil || len(rest) > 0 {
		c.t.Errorf("after the end of input the server wrote %q (%v)", rest, err)
	}
	if err := <-c.ended; err != nil {
		c.t.Errorf("ServeStdio: %v", err)
	}
}

func (c *stdioClient) initialize(version string) {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, version)
	var answer struct {
		Result struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(c.line()), &answer); err != nil || answer.Result.ProtocolVersion != version {
		c.t.Fatalf("initialize: %v, %+v", err, answer)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func parse(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func tool(t testing.TB, name string) server.Tool {
	return server.Tool{Name: name, InputSchema: parse(t, `{"type":"object"}`)}
}

// echo returns the arguments; tool "fail" fails, "panic" panics, and "value"
// returns the argument "value".
func echo(_ context.Context, q *server.Request) (value.Value, error) {
	switch q.Tool {
	case "fail":
		return value.Undef, errors.New(`tool "fail": it <failed>`)
	case "panic":
		panic("boom")
	case "value":
		return q.Args.Get("value"), nil
	}
	return q.Args, nil
}

func echoOptions(t testing.TB) server.Options {
	return server.Options{
		Tools: []server.Tool{tool(t, "echo"), tool(t, "fail"), tool(t, "panic"), tool(t, "value")},
		Call:  echo,
	}
}
