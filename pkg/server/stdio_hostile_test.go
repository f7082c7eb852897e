package server_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// over waits until the server has ended, and returns with what error.
func (c *stdioClient) over() error {
	c.t.Helper()
	select {
	case err := <-c.ended:
		return err
	case <-time.After(testTimeout):
		c.t.Fatal("the server does not end")
		return nil
	}
}

// answers reads lines up to the answer to id, and checks all of them.
func (c *stdioClient) answers(what, id string) {
	c.t.Helper()
	for {
		line := c.line()
		checkNoInternals(c.t, what, line)
		v, err := value.Parse(line)
		if err != nil {
			c.t.Fatalf("%s: %v in %.300s", what, err, line)
		}
		if v.Kind() == value.Object && v.Get("id").JSON() == id {
			return
		}
	}
}

func TestHostileMessagesOverStdio(t *testing.T) {
	for _, version := range []string{"2025-03-26", "2025-11-25"} {
		lost := checkLeaks(t)
		t.Run(version, func(t *testing.T) {
			if version != "2025-11-25" {
				testscale.OnlyFull(t)
			}
			c := start(t, hostileOptions(t))
			c.initialize(version)
			for i, m := range hostileMessages() {
				// A line may be cut where it must not, and the next is read all the same.
				c.send("%s", strings.ReplaceAll(m.body, "\n", " "))
				c.send(`{"jsonrpc":"2.0","id":"after %d","method":"ping"}`, i)
				c.answers(m.name, fmt.Sprintf(`"after %d"`, i))
			}
			c.initialize(version) // once more
			c.in.Close()
			if _, err := io.ReadAll(c.lines); err != nil {
				t.Error(err)
			}
			if err := c.over(); err != nil {
				t.Error(err)
			}
		})
		lost()
	}
}

func TestManyRequestsOverStdio(t *testing.T) {
	lost := checkLeaks(t)
	t.Run("flood", func(t *testing.T) {
		c := start(t, hostileOptions(t))
		c.initialize("2025-11-25")
		for i := range testscale.Of(10_000, 50_000) {
			c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i)
			c.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":1}}`, i)
		}
		c.send(`{"jsonrpc":"2.0","id":"a","method":"ping"}`)
		c.answers("notifications", `"a"`)
		// Calls that never end, each of which is asked for twice.
		const n = 5000
		for i := range n {
			c.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hang"}}`, i)
			c.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo"}}`, i)
		}
		for i := range n {
			c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i)
		}
		c.send(`{"jsonrpc":"2.0","id":"b","method":"ping"}`)
		for range n {
			if line := c.line(); !strings.Contains(line, "is still under way") {
				t.Fatalf("%s", line)
			}
		}
		if line := c.line(); line != `{"jsonrpc":"2.0","id":"b","result":{}}` {
			t.Errorf("%s", line)
		}
		c.closed()
	})
	lost()
}

func TestServerEndsIfStdioClientStopsReading(t *testing.T) {
	server.SetShutdown(t, 100*time.Millisecond)
	lost := checkLeaks(t)
	t.Run("calls", func(t *testing.T) {
		server.SetUnread(t, 1<<20)
		c := start(t, hostileOptions(t))
		c.initialize("2025-11-25")
		pad := strings.Repeat("x", 10_000)
		for i := range 1000 {
			if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"a":%q}}}`+"\n", i, pad); err != nil {
				break
			}
		}
		if err := c.over(); err == nil || !strings.Contains(err.Error(), "the client stopped reading: ") {
			t.Errorf("it ended with %v", err)
		}
	})
	lost()
	t.Run("progress", func(t *testing.T) {
		server.SetUnread(t, 1<<20)
		c := start(t, hostileOptions(t))
		c.initialize("2025-11-25")
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"chatter","arguments":{"kilobytes":50000},"_meta":{"progressToken":1}}}`)
		if err := c.over(); err == nil || !strings.Contains(err.Error(), "the client stopped reading: ") {
			t.Errorf("it ended with %v", err)
		}
	})
	lost()
}

func TestClientDisconnectsDuringCalls(t *testing.T) {
	lost := checkLeaks(t)
	for _, last := range []string{
		"", `{"jsonrpc":"2.0","id":9,"meth`, strings.Repeat("x", 1<<20), "[", "\xff",
	} {
		t.Run(fmt.Sprintf("%.20q", last), func(t *testing.T) {
			c := start(t, hostileOptions(t))
			c.initialize("2025-11-25")
			for i := range 100 {
				c.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hang"}}`, i)
			}
			c.send(`{"jsonrpc":"2.0","id":"a","method":"ping"}`)
			c.answers("ping", `"a"`)
			// The rest comes without a line's end, and the client is gone.
			if _, err := io.WriteString(c.in, last); err != nil {
				t.Error(err)
			}
			c.in.Close()
			c.stop(nil)
			if err := c.over(); err == nil {
				t.Error("calls that were cancelled are no error")
			}
		})
	}
	lost()
}
