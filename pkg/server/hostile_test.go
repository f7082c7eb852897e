package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// testTimeout is how long a test waits for what has to happen at some time.
const testTimeout = 20 * time.Second

// hostileOptions are those of echoOptions with "hang", which waits until it is
// cancelled, and "chatter", which sends as many kilobytes of progress as its
// argument says.
func hostileOptions(t testing.TB) server.Options {
	opts := echoOptions(t)
	opts.Tools = append(opts.Tools, tool(t, "hang"), tool(t, "chatter"))
	opts.Call = func(ctx context.Context, q *server.Request) (value.Value, error) {
		switch q.Tool {
		case "hang":
			<-ctx.Done()
			return value.Undef, context.Cause(ctx)
		case "chatter":
			// In few and long messages, of which there may be a thousand at once.
			said := strings.Repeat("x", 64<<10)
			for i := range 1 + int(q.Args.Get("kilobytes").Float())/64 {
				q.Reporter().Progress("chatter", float64(i+1), 0, said)
			}
			return q.Args, nil
		}
		return echo(ctx, q)
	}
	return opts
}

// resourceUsage are what a process can lose.
type resourceUsage struct {
	goroutines, descriptors int
	heap                    int64
}

func currentUsage() resourceUsage {
	http.DefaultClient.CloseIdleConnections()
	heap := testscale.Heap()
	open, _ := os.ReadDir("/proc/self/fd") // none where there is no /proc
	return resourceUsage{runtime.NumGoroutine(), len(open), heap}
}

// checkLeaks gives what checks that the process holds no more than now, but for
// some pages of the heap that are kept to be used again, and a few descriptors that
// the runtime opens for itself when it first needs them. What loses one does so
// again and again here.
func checkLeaks(t testing.TB) func() {
	t.Helper()
	before := currentUsage()
	return func() {
		t.Helper()
		const pages, own = 4 << 20, 4
		var after resourceUsage
		for deadline := time.Now().Add(testTimeout); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			after = currentUsage()
			if after.goroutines <= before.goroutines && after.descriptors <= before.descriptors+own && after.heap < before.heap+pages {
				return
			}
		}
		t.Errorf("before there were %+v, after %+v", before, after)
		if after.goroutines > before.goroutines {
			all := make([]byte, 1<<16)
			t.Logf("%s", all[:runtime.Stack(all, true)])
		}
		if after.descriptors > before.descriptors+own {
			open, _ := os.ReadDir("/proc/self/fd")
			for _, d := range open {
				to, _ := os.Readlink("/proc/self/fd/" + d.Name())
				t.Logf("descriptor %s: %s", d.Name(), to)
			}
		}
	}
}

// checkNoInternals says that an answer shows nothing of the program's inside.
func checkNoInternals(t testing.TB, what, answer string) {
	t.Helper()
	for _, bad := range []string{"goroutine ", ".go:", "runtime error", "runtime."} {
		if strings.Contains(answer, bad) {
			t.Errorf("%s: the answer shows the inside of the program: %.500s", what, answer)
		}
	}
}

// rawConn is a connection on which bytes are sent as they are.
type rawConn struct {
	t testing.TB
	*net.TCPConn
	in *bufio.Reader
}

func (x *testServer) dial() *rawConn {
	x.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(x.url, "http://"))
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(2 * testTimeout)); err != nil {
		x.t.Fatal(err)
	}
	return &rawConn{t: x.t, TCPConn: c.(*net.TCPConn), in: bufio.NewReader(c)}
}

func (w *rawConn) send(format string, args ...any) {
	w.t.Helper()
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	if _, err := io.WriteString(w.TCPConn, format); err != nil {
		w.t.Error(err)
	}
}

// status reads one answer and gives its status and body; 0 where the server
// closed the connection instead.
func (w *rawConn) status() (int, string) {
	w.t.Helper()
	response, err := http.ReadResponse(w.in, nil)
	if err != nil {
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			w.t.Error("the server neither answered nor closed the connection")
		}
		return 0, ""
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body) // the server may have had enough
	checkNoInternals(w.t, "over the wire", string(body))
	return response.StatusCode, string(body)
}

// closed reports whether the server closes the connection, though nothing is read
// of what it sent.
func (w *rawConn) closed() bool {
	for deadline := time.Now().Add(testTimeout); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		_ = w.SetWriteDeadline(time.Now().Add(time.Second))
		if _, err := w.Write([]byte("x")); err != nil {
			ne, ok := err.(net.Error)
			return !ok || !ne.Timeout()
		}
	}
	return false
}

// alive checks that the server still answers everybody else.
func (x *testServer) alive() {
	x.t.Helper()
	if g := x.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{`+eraMeta+`}}}`, modern("tools/list", "")...); g.status != http.StatusOK {
		x.t.Errorf("afterwards the server answers %d %s", g.status, g.body)
	}
}

// close stops the server and waits until it has.
func (x *testServer) close() {
	x.t.Helper()
	x.stop(nil)
	select {
	case <-x.ended:
	case <-time.After(testTimeout):
		x.t.Error("the server does not stop")
	}
}

// guardOf lets in those with these names, by the tokens that as sends.
func guardOf(t testing.TB, names ...string) auth.Guard {
	t.Helper()
	var tokens []config.CallerToken
	for _, name := range names {
		tokens = append(tokens, config.CallerToken{Caller: name, Token: "0123456789abcdef-" + name})
	}
	guard, err := auth.NewTokens(tokens)
	if err != nil {
		t.Fatal(err)
	}
	return guard
}

func authorizedAsGuarded(name string, headers ...string) []string {
	return append([]string{"Authorization", "Bearer 0123456789abcdef-" + name}, headers...)
}
