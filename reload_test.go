//go:build unix

package mcpgraph_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// changing is a file of tools that changes.
type changing struct {
	testing.TB
	path string
	*mcpgraph.Engine
}

// entry returns a server entry that starts a process of its own; timeout tells
// versions of it apart.
func entry(name string, timeout int) string {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("  %s: {command: %q, timeoutMs: %d, env: {%s: \"1\", GORACE: \"atexit_sleep_ms=0\"}}\n", name, self, timeout, fakeServer)
}

// asks returns a tool that asks a server for its process.
func asks(tool, server string) string {
	return fmt.Sprintf(`
  - name: %s
    description: Says which process answers
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: call}
      - {id: call, type: mcp, server: %s, tool: process, next: exit}
      - {id: exit, type: exit}
`, tool, server)
}

// says returns a tool that says something.
func says(tool, text string) string {
	return fmt.Sprintf(`
  - name: %s
    description: Says something
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: say}
      - {id: say, type: transform, transform: {expr: '"%s"'}, next: exit}
      - {id: exit, type: exit}
`, tool, text)
}

func file(servers, tools string) string {
	if servers != "" {
		servers = "mcpServers:\n" + servers
	}
	return "version: \"1.0\"\nserver: {name: t, version: \"1\"}\n" + servers + "tools:\n" + tools
}

func loadChanging(t testing.TB, text string, opts ...mcpgraph.Option) *changing {
	t.Helper()
	c := &changing{TB: t, path: filepath.Join(t.TempDir(), "tools.yaml")}
	c.write(text)
	var err error
	if c.Engine, err = mcpgraph.Load(c.path, opts...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// write replaces the file at once.
func (c *changing) write(text string) {
	c.Helper()
	f, err := os.CreateTemp(filepath.Dir(c.path), "")
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = errors.Join(f.Close(), os.Rename(f.Name(), c.path))
	}
	if err != nil {
		c.Error(err)
	}
}

func (c *changing) reload(text string) *mcpgraph.Changes {
	c.Helper()
	c.write(text)
	changes, err := c.Reload()
	if err != nil {
		c.Fatal(err)
	}
	return changes
}

func (c *changing) pid(tool string, opts ...mcpgraph.CallOption) int {
	c.Helper()
	r, err := c.Call(context.Background(), tool, nil, opts...)
	if err != nil {
		c.Error(err)
		return 0
	}
	n := int(r.Value.Get("pid").Float())
	if n <= 0 {
		c.Errorf("no process: %s", r.JSON())
	}
	return n
}

func (c *changing) says(tool string) string {
	c.Helper()
	r, err := c.Call(context.Background(), tool, nil)
	if err != nil {
		c.Fatal(err)
	}
	return r.Value.Str()
}

// alive reports whether a child of this process is there; it is not once it has
// been waited for.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("still waiting for: " + what)
		}
	}
}

func TestAnInvalidFileChangesNothing(t *testing.T) {
	c := loadChanging(t, file("", says("a", "one")))
	c.write(file("", says("a", "two")) + "oops: [")
	var failure *mcpgraph.LoadError
	if _, err := c.Reload(); !errors.As(err, &failure) || len(failure.Diagnostics) == 0 || failure.Sources[c.path] == nil {
		t.Fatalf("Reload: %v", err)
	}
	if got := c.says("a"); got != "one" {
		t.Errorf("after a file with errors the tool says %q", got)
	}
	if err := os.Remove(c.path); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Reload(); !errors.As(err, &failure) {
		t.Errorf("Reload of no file: %v", err)
	}
	changes := c.reload(file("", says("a", "two")+says("b", "new")))
	if got := c.says("a") + c.says("b"); got != "twonew" {
		t.Errorf("the tools say %q", got)
	}
	if !slices.Equal(changes.ToolsAdded, []string{"b"}) || !slices.Equal(changes.ToolsChanged, []string{"a"}) || changes.ToolsRemoved != nil {
		t.Errorf("changes: %+v", changes)
	}
	// What a file says elsewhere, and where, is no change of a tool.
	changes = c.reload("# a comment\n" + file("", says("b", "new")))
	if !slices.Equal(changes.ToolsRemoved, []string{"a"}) || changes.ToolsChanged != nil || changes.ToolsAdded != nil {
		t.Errorf("changes: %+v", changes)
	}
	var unknown *server.UnknownToolError
	if _, err := c.Call(context.Background(), "a", nil); !errors.As(err, &unknown) {
		t.Errorf("a tool that is gone: %v", err)
	}
}

// A run under way goes on as it began, with the server as it was; that ends when
// the run has, while one whose entry is the same goes on.
func TestRunsUnderWayFinishOnTheGraphTheyBegan(t *testing.T) {
	tools := asks("kept", "kept") + asks("changed", "changed")
	c := loadChanging(t, file(entry("kept", 60_000)+entry("changed", 60_000), tools))
	kept, changed := c.pid("kept"), c.pid("changed")

	begun, resume, got := make(chan struct{}), make(chan struct{}), make(chan int)
	go func() {
		got <- c.pid("changed", mcpgraph.WithCallHooks(executor.Hooks{
			NodeStart: func(ctx context.Context, _ *executor.Run, t executor.Task) (context.Context, error) {
				if t.Node().ID == "call" {
					close(begun)
					<-resume
				}
				return ctx, nil
			},
		}))
	}()
	<-begun
	changes := c.reload(file(entry("changed", 50_000)+entry("kept", 60_000), tools+says("more", "x")))
	if !slices.Equal(changes.ServersKept, []string{"kept"}) || !slices.Equal(changes.ServersChanged, []string{"changed"}) ||
		!slices.Equal(changes.ToolsAdded, []string{"more"}) || changes.ToolsChanged != nil {
		t.Errorf("changes: %+v", changes)
	}
	if n := c.pid("kept"); n != kept {
		t.Errorf("process %d answers, not %d, whose entry has not changed", n, kept)
	}
	if n := c.pid("changed"); n == changed {
		t.Error("a server whose entry has changed was not started again")
	}
	if !alive(changed) {
		t.Fatal("the server of a run under way has ended")
	}
	close(resume)
	if n := <-got; n != changed {
		t.Errorf("the run under way called process %d, not %d", n, changed)
	}
	eventually(t, "the end of the old server", func() bool { return !alive(changed) })

	removed := c.pid("changed")
	c.reload(file(entry("kept", 60_000), asks("kept", "kept")))
	eventually(t, "the end of the removed server", func() bool { return !alive(removed) })
	if n := c.pid("kept"); n != kept {
		t.Errorf("process %d answers, not %d", n, kept)
	}
	if n := len(c.Runs().List("")); n != 7 {
		t.Errorf("%d runs are kept, of 7", n)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if alive(kept) {
		t.Error("a server has outlived the engine")
	}
	if _, err := c.Reload(); err == nil {
		t.Error("an engine was reloaded that is closed")
	}
}

// Everything at once, and the Engine closed in the midst of it.
func TestReloadUnderLoad(t *testing.T) {
	version := func(n int) string {
		return file(entry("kept", 60_000)+entry("changed", 60_000+n%2), asks("kept", "kept")+asks("changed", "changed")+says("same", fmt.Sprint("v", n)))
	}
	c := loadChanging(t, version(0))
	in, w := io.Pipe()
	r, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- c.ServeStdio(context.Background(), in, out); out.Close() }()
	read := make(chan int)
	go func() {
		n := 0
		for lines := bufio.NewScanner(r); lines.Scan(); {
			if strings.Contains(lines.Text(), `"isError":true`) || strings.Contains(lines.Text(), `"error"`) {
				t.Errorf("a call failed: %s", lines.Text())
			}
			if strings.Contains(lines.Text(), `"id":`) {
				n++
			}
		}
		read <- n
	}()
	kept := c.pid("kept")
	var all sync.WaitGroup
	const rounds = 30
	for range 4 {
		all.Go(func() {
			for range rounds {
				if n := c.pid("kept"); n != kept {
					t.Errorf("process %d answered, not %d", n, kept)
				}
				c.pid("changed")
				page := httptest.NewRecorder()
				c.StatusPage().ServeHTTP(page, nil)
				if len(c.Tools()) != 3 || len(c.Graphs()) != 3 || strings.Count(page.Body.String(), `"server":`) != 2 {
					t.Errorf("a file was seen in part, %d tools, %s", len(c.Tools()), page.Body)
				}
			}
		})
	}
	all.Go(func() {
		for i := range rounds {
			if _, err := fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"changed"}}`+"\n", i); err != nil {
				t.Error(err)
			}
		}
	})
	for n := range 10 {
		all.Go(func() {
			c.write(version(n))
			if _, err := c.Reload(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	w.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if n := <-read; n != rounds {
		t.Errorf("%d requests of %d were answered", n, rounds)
	}

	c.write(version(1))
	for range 8 {
		all.Go(func() { _, _ = c.Reload() })
		all.Go(func() { _, _ = c.Call(context.Background(), "changed", nil) })
	}
	all.Go(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	all.Wait()
	if alive(kept) {
		t.Error("a server has outlived the engine")
	}
}

func TestTheCallersOfTheFileChangeWithIt(t *testing.T) {
	guarded := func(token string) string {
		return strings.Replace(file("", says("a", "x")), `version: "1"}`, `version: "1", auth: {type: bearer, tokens: {ann: `+token+`}}}`, 1)
	}
	c := loadChanging(t, guarded("first-token-of-ann"))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- c.ServeHTTP(ctx, listener, server.HTTPOptions{}) }()
	status := func(token string) int {
		const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
		r, err := http.NewRequest(http.MethodPost, "http://"+listener.Addr().String()+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+meta+`}}`))
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list", "Authorization": "Bearer " + token,
		} {
			r.Header.Set(name, v)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	if a, b := status("first-token-of-ann"), status("other-token-of-ann"); a != 200 || b != 401 {
		t.Errorf("statuses %d and %d", a, b)
	}
	c.reload(guarded("other-token-of-ann"))
	if a, b := status("first-token-of-ann"), status("other-token-of-ann"); a != 401 || b != 200 {
		t.Errorf("statuses %d and %d after the token has changed", a, b)
	}
	// A file that lets in everybody is not taken.
	c.write(file("", says("a", "y")))
	if _, err := c.Reload(); err == nil {
		t.Error("everybody was admitted")
	}
	if a, b := status("other-token-of-ann"), c.says("a"); a != 200 || b != "x" {
		t.Errorf("status %d, and the tool says %q", a, b)
	}
	stop()
	<-served
}

// Each new guard would have to ask the issuer for its keys again, and refuse
// everybody where that cannot be reached just then.
func TestWhatIsKnownOfAnIssuerOutlivesAReload(t *testing.T) {
	guarded := func(audience, text string) string {
		return strings.Replace(file("", says("a", text)), `version: "1"}`,
			`version: "1", auth: {type: oauth, issuer: "https://issuer.example", audience: "https://`+audience+`.example/mcp"}}`, 1)
	}
	c := loadChanging(t, guarded("one", "x"))
	guard := func() auth.Guard {
		t.Helper()
		g, err := c.Guard()
		if err != nil || g == nil {
			t.Fatalf("the guard is %v (%v)", g, err)
		}
		return g
	}
	first := guard()
	c.reload(guarded("one", "y"))
	if guard() != first {
		t.Error("the guard is another one, where nothing was changed about it")
	}
	c.reload(guarded("two", "y"))
	if guard() == first {
		t.Error("the guard is the same, where it asks for another audience")
	}
}
