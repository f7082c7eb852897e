package server_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// talkative says things before it answers.
func talkative(t *testing.T, late chan<- *server.Reporter) server.Options {
	opts := echoOptions(t)
	opts.Call = func(ctx context.Context, _ string, _ value.Value) (value.Value, error) {
		c := server.ReporterOf(ctx)
		c.Progress("first", 1, 4, "one")
		c.Progress("first", 1, 4, "one again")
		c.Progress("first", math.NaN(), 4, "nothing")
		c.Progress("first", 2.5, 4, "")
		c.Progress("second", 1, 0, "another begins")
		c.Progress("second", 2, 2, "")
		for _, level := range []string{"debug", "info", "error", "loud"} {
			c.Log(value.FromEntries([]value.Entry{{Key: "level", Value: value.FromString(level)}, {Key: "data", Value: value.FromFloat(1)}}))
		}
		if late != nil {
			late <- c
		}
		return c.Meta(), nil
	}
	return opts
}

const done = `"result":{"content":[{"type":"text","text":`

func TestProgressIncreasesAndComesBeforeTheResult(t *testing.T) {
	late := make(chan *server.Reporter, 1)
	c := start(t, talkative(t, late))
	c.initialize("2025-11-25")
	for _, token := range []string{`"tok"`, `9007199254740993`} {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":%s}}}`, token)
		for _, want := range []string{
			`"progress":1,"total":4,"message":"one"}}`, `"progress":2.5,"total":4}}`,
			`"progress":3.5,"message":"another begins"}}`, `"progress":4.5,"total":4.5}}`,
		} {
			want = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,` + want
			if got := c.line(); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
		if got := c.line(); !strings.Contains(got, done) {
			t.Errorf("got %s", got)
		}
		reporter := <-late
		reporter.Progress("first", 100, 0, "too late")
	}
	c.closed()
}

func TestNothingIsSaidToClientsThatDidNotAsk(t *testing.T) {
	c := start(t, talkative(t, nil))
	c.initialize("2025-11-25")
	for _, meta := range []string{`{}`, `{"progressToken":null}`, `{"progressToken":{}}`, `5`} {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":%s}}`, meta)
		if got := c.line(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,`) {
			t.Errorf("%s: got %s", meta, got)
		}
	}
	c.closed()
}

func TestLogMessagesOfTheLevelThatTheSessionAskedFor(t *testing.T) {
	c := start(t, talkative(t, nil))
	c.initialize("2025-11-25")
	c.want(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	c.want(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`)
	if got, want := c.line(), `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":1}}`; got != want {
		t.Errorf("got %s", got)
	}
	if got := c.line(); !strings.Contains(got, done) {
		t.Errorf("got %s", got)
	}
	c.send(`{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"loud"}}`)
	if got := c.line(); !strings.Contains(got, `"code":-32602`) {
		t.Errorf("got %s", got)
	}
	c.closed()
}

func TestLogMessagesOfTheLevelThatOneRequestAskedFor(t *testing.T) {
	const meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
	c := start(t, talkative(t, nil))
	c.want(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{`+meta+`,"io.modelcontextprotocol/logLevel":"error"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":1}}`)
	if got := c.line(); !strings.Contains(got, done) {
		t.Errorf("got %s", got)
	}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","_meta":{%s}}}`, meta)
	if got := c.line(); !strings.Contains(got, `"id":2`) {
		t.Errorf("got %s", got)
	}
	c.closed()
}
