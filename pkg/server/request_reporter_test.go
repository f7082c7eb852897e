package server_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// reportingOptions says things before it answers.
func reportingOptions(t *testing.T, late chan<- *server.Reporter) server.Options {
	opts := echoOptions(t)
	opts.Call = func(_ context.Context, q *server.Request) (value.Value, error) {
		c := q.Reporter()
		c.Progress("first", 1, 4, "one")
		c.Progress("first", 1, 4, "one again")
		c.Progress("first", math.NaN(), 4, "nothing")
		c.Progress("first", 2.5, 4, "")
		c.Progress("second", 1, 0, "another begins")
		c.Progress("second", 2, 2, "")
		c.Step(1, "a step")
		c.Step(0, "another step")
		for _, level := range []string{"debug", "info", "error", "loud"} {
			c.Log(value.FromEntries([]value.Entry{{Key: "level", Value: value.FromString(level)}, {Key: "data", Value: value.FromFloat(1)}}))
		}
		if q.Transport == server.Pipe {
			time.Sleep(2 * server.ProgressDelay)
		}
		c.Step(0, "what ends with the call")
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
	c := start(t, reportingOptions(t, late))
	c.initialize("2025-11-25")
	for _, token := range []string{`"tok"`, `9007199254740993`} {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":%s}}}`, token)
		for _, want := range []string{
			`"progress":0.225,"message":"one"}}`, `"progress":0.5625}}`,
			`"progress":1.5625,"message":"another begins"}}`, `"progress":1.562501}}`,
			`"progress":2,"message":"a step"}}`, `"progress":3,"message":"another step"}}`,
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

// TestProgressOfManySourcesIncreases has sources of every kind speak
// in turn: all of what is new is heard, each greater than the one before, and
// steps are whole numbers that reach the total where there is one.
func TestProgressOfManySourcesIncreases(t *testing.T) {
	within := map[string][][2]float64{
		"percent":          {{0, 100}, {50, 100}, {100, 100}},
		"parts":            {{0.3, 0}, {0.7, 0}},
		"beyond its total": {{1, 2}, {2, 2}, {3, 2}, {4, 2}},
		"bytes":            {{0, 1e9}, {1, 1e9}, {2, 1e9}, {999_999_999, 1e9}},
		"negative":         {{-3, 0}, {-2, 0}, {-1, 10}},
		"endless":          {{1, 0}, {2, 0}, {3, 0}, {1e6, 0}},
		"huge":             {{1e300, 0}, {1.1e300, 0}, {1.2e300, 1e301}},
	}
	scripts := map[string]struct {
		sources []string
		total   bool // the steps are known up to the end
	}{
		"nothing else":    {nil, true},
		"with a total":    {[]string{"percent", "beyond its total", "bytes"}, true},
		"parts of a step": {[]string{"parts", "percent", "parts"}, false},
		"without a total": {[]string{"endless", "percent", "endless"}, false},
		"any":             {[]string{"negative", "parts", "percent", "bytes", "endless", "huge", "percent", "parts", "endless"}, false},
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			said := 0
			opts := echoOptions(t)
			opts.Call = func(_ context.Context, q *server.Request) (value.Value, error) {
				r := q.Reporter()
				for i := range 5 {
					for n, source := range script.sources {
						for _, p := range within[source] {
							said++
							r.Progress(source+strings.Repeat("'", n), p[0], p[1], "")
							r.Progress(source+strings.Repeat("'", n), p[0], p[1], "again")
							r.Progress(source+strings.Repeat("'", n), math.Inf(-1), p[1], "back")
						}
					}
					said++
					r.Step(4-i, "step")
				}
				time.Sleep(2 * server.ProgressDelay)
				return q.Args, nil
			}
			c := start(t, opts)
			c.initialize("2025-11-25")
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":7}}}`)
			heard, last, steps, ended := 0, math.Inf(-1), 0, false
			for line := c.line(); !strings.Contains(line, done); line = c.line() {
				p := parse(t, line).Get("params")
				at := p.Get("progress").Float()
				if heard++; at <= last {
					t.Errorf("%s after %v", line, last)
				}
				last = at
				total := p.Get("total")
				if !total.IsUndefined() && total.Float() < at {
					t.Errorf("beyond the total: %s", line)
				}
				if p.Get("message").Str() == "step" {
					steps++
					ended = total.Float() == at
					if at != math.Floor(at) {
						t.Errorf("a step is no whole number: %s", line)
					}
					if script.total != !total.IsUndefined() {
						t.Errorf("step %d: %s", steps, line)
					}
				}
			}
			if heard != said || steps != 5 || ended != script.total {
				t.Errorf("heard %d of %d, %d steps, at the total: %t", heard, said, steps, ended)
			}
			c.closed()
		})
	}
}

func TestNotificationsAreRateLimited(t *testing.T) {
	const n = 200_000
	opts := echoOptions(t)
	opts.Call = func(_ context.Context, q *server.Request) (value.Value, error) {
		r := q.Reporter()
		message := value.FromEntries([]value.Entry{{Key: "level", Value: value.FromString("info")}, {Key: "data", Value: value.NullValue}})
		for i := range n {
			r.Step(n-1-i, "")
			r.Log(message)
		}
		time.Sleep(2 * server.ProgressDelay)
		return q.Args, nil
	}
	c := start(t, opts)
	c.initialize("2025-11-25")
	c.want(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":7}}}`)
	progress, logs, last := 0, 0, 0.0
	for line := c.line(); !strings.Contains(line, done); line = c.line() {
		v := parse(t, line)
		if v.Get("method").Str() == "notifications/message" {
			logs++
			continue
		}
		progress++
		last = v.Get("params").Get("progress").Float()
	}
	if progress < 1000 || progress == n || logs < 1000 || logs == n || last != n {
		t.Errorf("%d of %d progress notifications, up to %v, and %d log messages", progress, n, last, logs)
	}
	c.closed()
}

func TestNoNotificationsForClientsThatDidNotAsk(t *testing.T) {
	c := start(t, reportingOptions(t, nil))
	c.initialize("2025-11-25")
	for _, meta := range []string{`{}`, `{"progressToken":null}`, `{"progressToken":{}}`, `5`} {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":%s}}`, meta)
		if got := c.line(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,`) {
			t.Errorf("%s: got %s", meta, got)
		}
	}
	c.closed()
}

func TestSessionLogLevel(t *testing.T) {
	c := start(t, reportingOptions(t, nil))
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

func TestRequestLogLevel(t *testing.T) {
	const meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
	c := start(t, reportingOptions(t, nil))
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

// Servers may log on another stream than they answer on, so that their messages
// come too late for the call.
func TestLateLogMessagesBelongToTheSession(t *testing.T) {
	late := make(chan *server.Reporter, 1)
	message := value.FromEntries([]value.Entry{{Key: "level", Value: value.FromString("error")}, {Key: "data", Value: value.FromString("late")}})
	tooLate := func(c *stdioClient) {
		for !strings.Contains(c.line(), done) {
		}
		(<-late).Log(message)
	}
	c := start(t, reportingOptions(t, late))
	c.initialize("2025-11-25")
	c.want(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"error"}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}`)
	tooLate(c)
	if got, want := c.line(), `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"late"}}`; got != want {
		t.Errorf("got %s", got)
	}
	c.closed()

	c = start(t, reportingOptions(t, late))
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"error"}}}`)
	tooLate(c)
	c.closed() // in this revision they belong to a request
}

func TestLateLogMessagesUseAnEventStream(t *testing.T) {
	late := make(chan *server.Reporter, 1)
	x := serve(t, reportingOptions(t, late), server.HTTPOptions{})
	in := x.session("2025-11-25")
	stream := x.listen(http.MethodGet, "", in...)
	x.post(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"error"}}`, in...)
	if g := x.post(fmt.Sprintf(call, "2", ""), in...); g.status != http.StatusOK {
		t.Fatalf("%d %s", g.status, g.body)
	}
	(<-late).Log(value.FromEntries([]value.Entry{{Key: "level", Value: value.FromString("error")}, {Key: "data", Value: value.FromString("late")}}))
	stream.want(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"late"}}`)
}
