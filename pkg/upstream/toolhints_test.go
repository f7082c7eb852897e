package upstream

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// dialed is a server in this process whose answers a test writes. It serves in a
// bubble of synctest too.
type dialed struct {
	// answer returns the result of a request, or the error in its place where it
	// begins with "error:"; empty never answers, and "die" closes the connection.
	answer func(method string, params value.Value) string

	mu    sync.Mutex
	asked []string // methods, in the order of coming
	conn  net.Conn
}

const listedTools = `{"tools":[{"name":"look","annotations":{"readOnlyHint":true}},{"name":"set","annotations":{"idempotentHint":true}},{"name":"write"}]}`

func (d *dialed) dial(context.Context, *config.Upstream) (io.ReadWriteCloser, error) {
	client, server := net.Pipe()
	d.mu.Lock()
	d.conn = server
	d.mu.Unlock()
	go func() {
		defer server.Close()
		lines := bufio.NewReader(server)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			m, _ := value.Parse(line)
			method := m.Get("method").Str()
			d.mu.Lock()
			d.asked = append(d.asked, method)
			d.mu.Unlock()
			if m.Get("id").IsUndefined() {
				continue
			}
			result := handshake
			if method != "initialize" {
				result = d.answer(method, m.Get("params"))
			}
			switch {
			case result == "die":
				return
			case strings.HasPrefix(result, "error:"):
				fmt.Fprintf(server, `{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", m.Get("id").JSON(), strings.TrimPrefix(result, "error:"))
			case result != "":
				fmt.Fprintf(server, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.Get("id").JSON(), result)
			}
		}
	}()
	return client, nil
}

// notify sends a notification on the latest connection.
func (d *dialed) notify(method string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(d.conn, `{"jsonrpc":"2.0","method":%q}`+"\n", method)
}

// count returns how often a method was asked for.
func (d *dialed) count(method string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, m := range d.asked {
		if m == method {
			n++
		}
	}
	return n
}

// pool returns a pool with the server as fake, with a timeout of ten seconds and
// three attempts a second apart.
func (d *dialed) pool(t *testing.T, change ...func(*config.Upstream)) *Pool {
	u := &config.Upstream{Name: "fake", Transport: config.Stdio, Command: "none", Timeout: 10 * time.Second, ConnectTimeout: time.Minute}
	withRetry(3)(u)
	u.Retry.Backoff = 1
	for _, c := range change {
		c(u)
	}
	return start(t, Options{Dial: d.dial}, u)
}

// A hung server costs one timeout for each attempt, whether its tools are known
// or not.
func TestHungServerCostsOneTimeoutPerAttempt(t *testing.T) {
	for _, c := range []struct {
		tool, list string
		attempts   int
		took       time.Duration
	}{
		{"look", listedTools, 3, 32 * time.Second},
		{"write", listedTools, 1, 10 * time.Second},
		{"look", "", 1, 10 * time.Second}, // not known, so not repeated
	} {
		t.Run(fmt.Sprintf("%s, listed %v", c.tool, c.list != ""), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &dialed{answer: func(method string, _ value.Value) string {
					if method == "tools/list" {
						return c.list
					}
					return ""
				}}
				p := d.pool(t)
				began := time.Now()
				r, err := ask(p, c.tool, value.Undef)
				if took := time.Since(began); err == nil || took != c.took || r.Sent != c.attempts || d.count("tools/call") != c.attempts {
					t.Errorf("after %v, attempts %d, %d calls; want %v and %d: %v", took, r.Sent, d.count("tools/call"), c.took, c.attempts, err)
				}
				_ = p.Close(canceledContext)
			})
		})
	}
}

// The list of tools is read while the first call is under way, which does not
// wait for it; without retry it is not read at all.
func TestFirstCallDoesNotWaitForTheListOfTools(t *testing.T) {
	for _, retries := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			d := &dialed{answer: func(method string, _ value.Value) string {
				if method == "tools/call" {
					return `{"content":[]}`
				}
				return ""
			}}
			p := d.pool(t, func(u *config.Upstream) {
				if !retries {
					u.Retry = nil
				}
			})
			began := time.Now()
			if r, err := ask(p, "look", value.Undef); err != nil || r.Sent != 1 || time.Since(began) != 0 {
				t.Errorf("after %v: %+v, %v", time.Since(began), r, err)
			}
			synctest.Wait()
			if n := d.count("tools/list"); (n == 1) != retries {
				t.Errorf("retry %v: the list was read %d times", retries, n)
			}
			_ = p.Close(canceledContext)
		})
	}
}

// What a server says of its tools outlives it, is read again after a reconnect,
// and is not believed any more once it says that its tools have changed.
func TestMarksOfToolsAreKeptAndReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list, dies := listedTools, 0
		var mu sync.Mutex
		d := &dialed{answer: func(method string, params value.Value) string {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case method == "tools/list":
				return list
			case params.Get("name").Str() != "wait" && dies > 0:
				dies--
				return "die"
			}
			return `{"content":[]}`
		}}
		set := func(l string, n int) {
			mu.Lock()
			defer mu.Unlock()
			list, dies = l, n
		}
		p := d.pool(t)
		must := func(what, tool string, attempts int, ok bool) {
			t.Helper()
			r, err := ask(p, tool, value.Undef)
			synctest.Wait() // until the list was read where it is
			if r.Sent != attempts || (err == nil) != ok {
				t.Errorf("%s: attempts %d, want %d: %v", what, r.Sent, attempts, err)
			}
		}
		must("a good call", "look", 1, true)
		set("", 2) // it is not listed again
		must("a call of a server that dies twice", "look", 3, true)
		set("", 1)
		must("a write", "write", 1, false)
		set(strings.Replace(listedTools, `"write"`, `"write","annotations":{"idempotentHint":true}`, 1), 1)
		must("a call that connects again", "look", 2, true)
		set("", 1)
		must("a write that is safe in the new version", "write", 2, true)

		set("", 0)
		must("a good call", "look", 1, true)
		d.notify("notifications/tools/list_changed")
		synctest.Wait()
		set("", 1)
		must("a call after the tools have changed", "look", 1, false)
		set(listedTools, 0)
		time.Sleep(rereadAfter + time.Second)
		must("a call that reads the list", "wait", 1, true)
		set("", 1)
		must("a call after the list was read", "look", 2, true)
		_ = p.Close(canceledContext)
	})
}

// Where a call is repeated after an answer, the list of tools is read first.
func TestListOfToolsIsReadOnceForCallsThatMayBeRepeated(t *testing.T) {
	d := &dialed{answer: func(method string, params value.Value) string {
		if method == "tools/list" {
			return listedTools
		}
		return `error:{"code":-32600,"message":"session terminated"}`
	}}
	p := d.pool(t, func(u *config.Upstream) { u.Retry = nil })
	for tool, want := range map[string]int{"look": 2, "set": 2, "write": 1, "other": 1} {
		if r, err := ask(p, tool, value.Undef); err == nil || r.Sent != want {
			t.Errorf("%s: attempts %d, want %d: %v", tool, r.Sent, want, err)
		}
	}
	if n := d.count("tools/list"); n != 1 {
		t.Errorf("the list was read %d times", n)
	}
}
