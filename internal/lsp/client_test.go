package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creachadair/jrpc2/channel"
)

// client speaks with a server of its own in this process.
type client struct {
	t       testing.TB
	channel channel.Channel
	in      *io.PipeWriter // what the server reads
	done    chan error
	next    int
	answers map[string]message
	sent    []message // notifications and requests of the server
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *failureDetail  `json:"error"`
}

// connect starts a server. It has to run in a bubble of synctest.
func connect(t testing.TB, opts Options) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, in: inW, done: make(chan error, 1), answers: map[string]message{}}
	c.channel = channel.LSP(outR, inW)
	go func() {
		err := Serve(context.Background(), inR, outW, opts)
		outW.Close()
		inR.Close()
		c.done <- err
	}()
	go func() {
		for {
			text, err := c.channel.Recv()
			if err != nil {
				return
			}
			var m message
			if err := json.Unmarshal(text, &m); err != nil {
				t.Errorf("%v: %s", err, text)
			}
			if m.Method != "" {
				c.sent = append(c.sent, m)
			} else {
				c.answers[string(m.ID)] = m
			}
		}
	}()
	return c
}

// raw sends bytes as they are.
func (c *client) raw(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, text); err != nil {
		c.t.Fatal(err)
	}
	synctest.Wait()
}

func (c *client) write(v any) {
	c.t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.channel.Send(text); err != nil {
		c.t.Fatal(err)
	}
	synctest.Wait()
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	c.write(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// call sends a request and returns its answer.
func (c *client) call(method string, params any) message {
	c.t.Helper()
	c.next++
	c.write(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params})
	m, ok := c.answers[fmt.Sprint(c.next)]
	if !ok {
		c.t.Fatalf("no answer to %s", method)
	}
	return m
}

// result is call, decoded. An error fails the test.
func result[R any](c *client, method string, params any) R {
	c.t.Helper()
	m := c.call(method, params)
	var r R
	if m.Error != nil {
		c.t.Fatalf("%s: %+v", method, m.Error)
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		c.t.Fatalf("%s: %v: %s", method, err, m.Result)
	}
	return r
}

type object = map[string]any

func (c *client) initialize(capabilities object) initializeResult {
	c.t.Helper()
	r := result[initializeResult](c, "initialize", object{"processId": nil, "rootUri": nil, "capabilities": capabilities})
	c.notify("initialized", object{})
	return r
}

func (c *client) open(uri, content string) {
	c.t.Helper()
	c.notify("textDocument/didOpen", object{"textDocument": object{"uri": uri, "languageId": "yaml", "version": 1, "text": content}})
}

// diagnostics waits until the texts have been checked, and returns the last
// diagnostics of a file; nil if none were sent since the last call.
func (c *client) diagnostics(uri string) []diagnostic {
	c.t.Helper()
	time.Sleep(time.Second)
	synctest.Wait()
	var found []diagnostic
	for _, m := range c.sent {
		var p publishParams
		if m.Method == "textDocument/publishDiagnostics" && json.Unmarshal(m.Params, &p) == nil && p.URI == uri {
			found = p.Diagnostics
		}
	}
	c.sent = nil
	return found
}

// end ends the session as clients do.
func (c *client) end() {
	c.t.Helper()
	c.call("shutdown", nil)
	c.notify("exit", nil)
	if err := c.wait(); err != nil {
		c.t.Error(err)
	}
}

// wait returns the error that the server ended with.
func (c *client) wait() error {
	c.in.Close()
	return <-c.done
}

func at0(uri string, line, character int) object {
	return object{"textDocument": object{"uri": uri}, "position": object{"line": line, "character": character}}
}
