package upstream

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
	official "github.com/modelcontextprotocol/go-sdk/mcp"
)

// quietPort returns a port that is free, and none of those that systems give away, so
// that no other test gets it before the program listens.
func quietPort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(20_000 + rand.IntN(12_000))
		if probe, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			probe.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// serveReal runs a program from the npm registry that listens on a port, "PORT"
// in its arguments and environment, and returns the port once it does.
func serveReal(t *testing.T, program string, env []string, args ...string) string {
	t.Helper()
	bin := mcptest.RealServers(t)
	port := quietPort(t)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "PORT", port)
	}
	script, err := filepath.EvalSymlinks(filepath.Join(bin, program))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(bin, "node"), append([]string{script}, args...)...)
	cmd.Env = append(append(os.Environ(), "PORT="+port, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH")), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	t.Cleanup(func() {
		killGroup(cmd.Process)
		<-exited
		if t.Failed() {
			t.Logf("%s wrote:\n%s", program, out.String())
		}
	})
	eventually(t, program+" to listen", func() bool {
		if isClosed(exited) {
			t.Fatalf("%s has exited: %s", program, out.String())
		}
		conn, err := net.DialTimeout("tcp", "localhost:"+port, time.Second)
		if err != nil {
			return false
		}
		conn.Close()
		return true
	})
	return port
}

// everything tries a server-everything that is reached through the entry.
func everything(t *testing.T, u *config.Upstream, revision string) {
	t.Helper()
	u.Name, u.Timeout, u.ConnectTimeout = "fake", testTimeout, testTimeout
	p := start(t, Options{}, u)
	p.servers["fake"].discoverTimeout = testTimeout // the machine may be slow
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			r, err := p.CallTool(context.Background(), nil, "fake", "get-sum", value.FromEntries([]value.Entry{
				{Key: "a", Value: value.FromInt(int64(i))}, {Key: "b", Value: value.FromInt(1000)},
			}))
			if err != nil || !strings.Contains(text(r.Value), fmt.Sprint(1000+i)) {
				t.Errorf("%d: %s, %v", i, r.Value.JSON(), err)
			}
		})
	}
	wait.Wait()
	if got := mustCall(t, p, "get-structured-content", `{"location":"New York"}`).Get("structuredContent"); got.Get("temperature").Kind() != value.Number {
		t.Error(got.JSON())
	}
	if reply := mustCall(t, p, "echo", `{}`); !reply.Get("isError").Bool() {
		t.Errorf("wrong arguments: %s", reply.JSON())
	}
	s, err := p.Status(context.Background(), nil, "fake")
	if err != nil || s.Protocol != revision || len(s.Tools) < 10 || s.Name == "" {
		t.Errorf("%s %s speaks %s, has %d tools, %v; want %s", s.Name, s.Version, s.Protocol, len(s.Tools), err, revision)
	}
	everythingOffered(t, p)
	if revision != wire.ModernRevision { // mcp-proxy does not pass subscriptions on
		everythingSubscribed(t, p)
	}
	var mu sync.Mutex
	steps := 0
	info := &callinfo.Info{Listener: &callinfo.Listener{Notify: func(n callinfo.Notification) {
		mu.Lock()
		defer mu.Unlock()
		if n.Method == callinfo.MethodProgress {
			steps++
		}
	}}}
	args, _ := value.Parse(`{"duration":0.5,"steps":5}`)
	if _, err := p.CallTool(context.Background(), info, "fake", "trigger-long-running-operation", args); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if steps < 4 { // proxies may let the result overtake the last
		t.Errorf("%d of 5 steps were reported", steps)
	}
}

func TestRealServersOverEveryTransport(t *testing.T) {
	t.Parallel()
	t.Run("everything over HTTP", func(t *testing.T) {
		t.Parallel()
		port := serveReal(t, "mcp-server-everything", nil, "streamableHttp")
		everything(t, &config.Upstream{Transport: config.HTTP, URL: "http://localhost:" + port + "/mcp"}, "2025-11-25")
	})
	t.Run("everything over SSE", func(t *testing.T) {
		t.Parallel()
		testscale.OnlyFull(t)
		port := serveReal(t, "mcp-server-everything", nil, "sse")
		everything(t, &config.Upstream{Transport: config.SSE, URL: "http://localhost:" + port + "/sse"}, "2025-11-25")
	})
	t.Run("supergateway over WebSocket", func(t *testing.T) {
		t.Parallel()
		testscale.OnlyFull(t)
		port := serveReal(t, "supergateway", nil, "--stdio", "mcp-server-everything", "--outputTransport", "ws", "--port", "PORT", "--messagePath", "/ws")
		everything(t, &config.Upstream{Transport: config.WebSocket, URL: "ws://localhost:" + port + "/ws"}, "2025-11-25")
	})
	t.Run("supergateway over SSE", func(t *testing.T) {
		t.Parallel()
		testscale.OnlyFull(t)
		port := serveReal(t, "supergateway", nil, "--stdio", "mcp-server-everything", "--outputTransport", "sse", "--port", "PORT")
		everything(t, &config.Upstream{Transport: config.SSE, URL: "http://localhost:" + port + "/sse"}, "2025-11-25")
	})
	t.Run("mcp-proxy, 2026-07-28", func(t *testing.T) {
		t.Parallel()
		port := serveReal(t, "mcp-proxy", nil, "--port", "PORT", "--", "mcp-server-everything")
		everything(t, &config.Upstream{Transport: config.HTTP, URL: "http://localhost:" + port + "/mcp"}, "2026-07-28")
	})
	t.Run("mcp-proxy, before 2026-07-28", func(t *testing.T) {
		t.Parallel()
		testscale.OnlyFull(t)
		port := serveReal(t, "mcp-proxy", nil, "--port", "PORT", "--no-modern", "--", "mcp-server-everything")
		everything(t, &config.Upstream{Transport: config.HTTP, URL: "http://localhost:" + port + "/mcp"}, "2025-11-25")
	})
	t.Run("mcp-proxy over SSE", func(t *testing.T) {
		t.Parallel()
		testscale.OnlyFull(t)
		port := serveReal(t, "mcp-proxy", nil, "--port", "PORT", "--", "mcp-server-everything")
		everything(t, &config.Upstream{Transport: config.SSE, URL: "http://localhost:" + port + "/sse"}, "2025-11-25")
	})
}

// An address that does not say how it wants to be spoken to is enough. Quick runs
// have the same of fake servers, in probe_test.go.
func TestRealServersWithoutAType(t *testing.T) {
	t.Parallel()
	testscale.OnlyFull(t)
	t.Run("everything over HTTP", func(t *testing.T) {
		t.Parallel()
		port := serveReal(t, "mcp-server-everything", nil, "streamableHttp")
		everything(t, &config.Upstream{Transport: config.HTTP, MayBeSSE: true, URL: "http://localhost:" + port + "/mcp"}, "2025-11-25")
	})
	t.Run("everything over SSE", func(t *testing.T) {
		t.Parallel()
		port := serveReal(t, "mcp-server-everything", nil, "sse")
		everything(t, &config.Upstream{Transport: config.HTTP, MayBeSSE: true, URL: "http://localhost:" + port + "/sse"}, "2025-11-25")
	})
	// supergateway passes everything on, so a server that ignores what it does
	// not know never answers server/discover.
	script := mcptest.Script{Start: mcptest.StartIgnorant}
	command, _, env := script.Command()
	var variables []string
	for name, v := range env {
		variables = append(variables, name+"="+v)
	}
	for name, c := range map[string]struct {
		path, transport string
		flags           []string
	}{
		"supergateway over HTTP":                {"/mcp", config.HTTP, []string{"streamableHttp"}},
		"supergateway over HTTP, with sessions": {"/mcp", config.HTTP, []string{"streamableHttp", "--stateful"}},
		"supergateway over SSE":                 {"/sse", config.SSE, []string{"sse"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port := serveReal(t, "supergateway", variables, append([]string{"--stdio", command, "--port", "PORT", "--outputTransport"}, c.flags...)...)
			u := &config.Upstream{Name: "fake", Transport: config.HTTP, MayBeSSE: true, URL: "http://localhost:" + port + c.path, Timeout: testTimeout}
			byUser(u)
			p := start(t, Options{}, u)
			for _, user := range []string{"ada", "bob"} {
				if err := callAs(p, user); err != nil {
					t.Fatal(err)
				}
			}
			if got := p.Stats()[0]; got.Transport != c.transport || got.Protocol != "2025-11-25" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// The server of the official Go SDK is one that nobody here has written.
func TestServerOfTheOfficialGoSDK(t *testing.T) {
	t.Parallel()
	type args struct {
		Name string `json:"name"`
	}
	newServer := func() *official.Server {
		s := official.NewServer(&official.Implementation{Name: "foreign", Version: "3"}, nil)
		official.AddTool(s, &official.Tool{Name: "greet", Description: "greets"},
			func(ctx context.Context, r *official.CallToolRequest, a args) (*official.CallToolResult, map[string]any, error) {
				_ = r.Session.NotifyProgress(ctx, &official.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1})
				return nil, map[string]any{"greeting": "Hello, " + a.Name}, nil
			})
		return s
	}
	get := func(s *official.Server) func(*http.Request) *official.Server {
		return func(*http.Request) *official.Server { return s }
	}
	for _, c := range []struct {
		name string
		open func(*testing.T) *config.Upstream
	}{
		{"http", func(t *testing.T) *config.Upstream {
			return web(t, config.HTTP, official.NewStreamableHTTPHandler(get(newServer()), nil))
		}},
		{"http, answers in JSON", func(t *testing.T) *config.Upstream {
			return web(t, config.HTTP, official.NewStreamableHTTPHandler(get(newServer()), &official.StreamableHTTPOptions{JSONResponse: true}))
		}},
		{"http, stateless", func(t *testing.T) *config.Upstream {
			return web(t, config.HTTP, official.NewStreamableHTTPHandler(get(newServer()), &official.StreamableHTTPOptions{Stateless: true}))
		}},
		{"sse", func(t *testing.T) *config.Upstream {
			return web(t, config.SSE, official.NewSSEHandler(get(newServer()), nil))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t, Options{}, c.open(t))
			var wait sync.WaitGroup
			for i := range 30 {
				wait.Go(func() {
					name := fmt.Sprint("caller ", i)
					r, err := p.CallTool(context.Background(), nil, "fake", "greet", value.FromEntries([]value.Entry{{Key: "name", Value: value.FromString(name)}}))
					if got := r.Value.Get("structuredContent").Get("greeting").Str(); err != nil || got != "Hello, "+name {
						t.Errorf("%s, %v", r.Value.JSON(), err)
					}
				})
			}
			wait.Wait()
			s, err := p.Status(context.Background(), nil, "fake")
			if err != nil || s.Name != "foreign" || len(s.Tools) != 1 {
				t.Errorf("%+v, %v", s, err)
			}
			t.Logf("%s speaks %s", s.Name, s.Protocol)
		})
	}
	t.Run("in this process", func(t *testing.T) {
		dial := func(context.Context, *config.Upstream) (io.ReadWriteCloser, error) {
			ours, theirs := net.Pipe()
			go func() {
				_ = newServer().Run(context.Background(), &official.IOTransport{Reader: theirs, Writer: theirs})
			}()
			return ours, nil
		}
		p := start(t, Options{Dial: dial}, &config.Upstream{Name: "fake"})
		if got := mustCall(t, p, "greet", `{"name":"you"}`).Get("structuredContent").Get("greeting").Str(); got != "Hello, you" {
			t.Error(got)
		}
	})
}
