package dap_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	protocol "github.com/google/go-dap"

	"github.com/mcpgraph/mcpgraph/internal/dap"
)

const file = `version: "1.0"
server: {name: t, version: "1"}
tools:
  - name: report
    description: Reports
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: list}
      - id: list
        type: transform
        transform:
          expr: "{'names': $.entry.names, 'many': [1..5000]}"
        next: sizes

      - id: sizes
        type: map
        items: {expr: $.list.names}
        maxConcurrency: 1
        nodes:
          - {id: size, type: transform, transform: {expr: $length($item)}, next: double}
          - {id: double, type: transform, transform: {expr: "$.size * 2"}}
        next: sum
      - {id: sum, type: call, tool: total, args: {numbers: {expr: $.sizes}}, next: exit}
      - {id: exit, type: exit}
  - name: total
    description: Adds
    inputSchema: {type: object}
    nodes:
      - {id: start, type: entry, next: add}
      - {id: add, type: transform, transform: {expr: "{'sum': $sum($.start.numbers)}"}, next: out}
      - {id: out, type: exit}
  - name: fails
    description: Fails
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: bad}
      - {id: bad, type: transform, transform: {expr: "$error('It broke')"}, next: exit}
      - {id: exit, type: exit}
  - name: asks
    description: Asks
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: ask}
      - {id: ask, type: ask, message: How many?, schema: {type: object, properties: {n: {type: integer}}}, next: exit}
      - {id: exit, type: exit}
`

// client is an editor.
type client struct {
	t     *testing.T
	in    io.WriteCloser
	out   *bufio.Reader
	seq   int
	path  string
	ended chan error
	// output is what was shown so far; waiting are events that nobody has waited for.
	output  string
	waiting []map[string]any
}

func connect(t *testing.T) *client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	c := &client{t: t, in: toServer, out: bufio.NewReader(fromServer), path: path, ended: make(chan error, 1)}
	go func() {
		err := dap.Serve(context.Background(), in, out, dap.Options{})
		out.Close()
		c.ended <- err
	}()
	t.Cleanup(func() { toServer.Close(); fromServer.Close() })
	return c
}

// read returns the next message that is no output.
func (c *client) read() map[string]any {
	c.t.Helper()
	for {
		content, err := protocol.ReadBaseMessage(c.out)
		if err != nil {
			c.t.Fatalf("%v; the output is %s", err, c.output)
		}
		var m map[string]any
		if err := json.Unmarshal(content, &m); err != nil {
			c.t.Fatal(err)
		}
		if m["event"] == "output" {
			c.output += m["body"].(map[string]any)["output"].(string)
			continue
		}
		return m
	}
}

// try makes a request and returns the body of the response, or its error.
func (c *client) try(command string, arguments any) (map[string]any, error) {
	c.t.Helper()
	c.seq++
	text, err := json.Marshal(map[string]any{"seq": c.seq, "type": "request", "command": command, "arguments": arguments})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := protocol.WriteBaseMessage(c.in, text); err != nil {
		c.t.Fatal(err)
	}
	for {
		m := c.read()
		if m["type"] != "response" || m["request_seq"] != float64(c.seq) {
			c.waiting = append(c.waiting, m)
			continue
		}
		body, _ := m["body"].(map[string]any)
		if m["success"] != true {
			return body, errors.New(m["message"].(string))
		}
		return body, nil
	}
}

// ask is try for requests that must not fail.
func (c *client) ask(command string, arguments any) map[string]any {
	c.t.Helper()
	body, err := c.try(command, arguments)
	if err != nil {
		c.t.Fatalf("%s: %v", command, err)
	}
	return body
}

// event waits for an event and returns its body.
func (c *client) event(name string) map[string]any {
	c.t.Helper()
	for i, m := range c.waiting {
		if m["event"] == name {
			c.waiting = append(c.waiting[:i:i], c.waiting[i+1:]...)
			body, _ := m["body"].(map[string]any)
			return body
		}
	}
	for {
		m := c.read()
		if m["event"] == name {
			body, _ := m["body"].(map[string]any)
			return body
		}
		c.waiting = append(c.waiting, m)
	}
}

type object = map[string]any

// launch starts a tool; configure sets breakpoints.
func (c *client) launch(tool string, args object, stop bool, configure func()) {
	c.t.Helper()
	c.ask("initialize", object{"adapterID": "mcpgraph", "linesStartAt1": true, "columnsStartAt1": true})
	c.ask("launch", object{"program": c.path, "tool": tool, "args": args, "stopOnEntry": stop})
	c.event("initialized")
	if configure != nil {
		configure()
	}
	c.ask("configurationDone", nil)
}

// stopped waits until the run is paused, and returns why and the names of the frames.
func (c *client) stopped() (reason string, frames []object) {
	c.t.Helper()
	e := c.event("stopped")
	stack := c.ask("stackTrace", object{"threadId": e["threadId"]})
	for _, f := range stack["stackFrames"].([]any) {
		frames = append(frames, f.(object))
	}
	return e["reason"].(string), frames
}

// at checks where the run is paused.
func (c *client) at(reason, name string, line int) []object {
	c.t.Helper()
	got, frames := c.stopped()
	if got != reason || frames[0]["name"] != name || frames[0]["line"] != float64(line) {
		c.t.Fatalf("stopped for %s at %v, line %v; want %s at %s, line %d", got, frames[0]["name"], frames[0]["line"], reason, name, line)
	}
	return frames
}

// variables returns the members of a reference by name.
func (c *client) variables(arguments object) map[string]object {
	c.t.Helper()
	all := map[string]object{}
	for _, v := range c.ask("variables", arguments)["variables"].([]any) {
		all[v.(object)["name"].(string)] = v.(object)
	}
	return all
}

// scope returns the reference of a scope of a frame.
func (c *client) scope(frame object, name string) any {
	c.t.Helper()
	for _, s := range c.ask("scopes", object{"frameId": frame["id"]})["scopes"].([]any) {
		if s := s.(object); s["name"] == name {
			return s["variablesReference"]
		}
	}
	c.t.Fatalf("there is no scope %s", name)
	return nil
}

// end waits until the adapter is gone.
func (c *client) end() error {
	c.t.Helper()
	go func() { _, _ = io.Copy(io.Discard, c.out) }()
	select {
	case err := <-c.ended:
		return err
	case <-time.After(20 * time.Second):
		c.t.Fatal("the adapter does not end")
		return nil
	}
}
