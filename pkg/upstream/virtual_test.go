package upstream

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// inMemory is a listener whose connections are pipes in memory. In a bubble of
// synctest, time passes while goroutines wait for such a connection.
type inMemory struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func newMemory() *inMemory {
	return &inMemory{accepted: make(chan net.Conn), closed: make(chan struct{})}
}

func (m *inMemory) Accept() (net.Conn, error) {
	select {
	case conn := <-m.accepted:
		return conn, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *inMemory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *inMemory) Addr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return "memory.test" }

func (m *inMemory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case m.accepted <- server:
		return client, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// virtualWeb returns a pool whose server fake is what the handler serves in
// memory.
func virtualWeb(t testing.TB, transport string, h http.Handler, change ...func(*config.Upstream)) *Pool {
	t.Helper()
	return virtualWebWith(t, Options{}, transport, h, change...)
}

func virtualWebWith(t testing.TB, o Options, transport string, h http.Handler, change ...func(*config.Upstream)) *Pool {
	t.Helper()
	m := newMemory()
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	s.Listener = m
	s.Start()
	t.Cleanup(s.Close)
	u := &config.Upstream{
		Name: "fake", Transport: transport, URL: s.URL + "/mcp",
		ConnectTimeout: testTimeout, Timeout: testTimeout, MaxMessageBytes: config.DefaultMaxMessageBytes,
	}
	if transport == config.WebSocket {
		u.URL = strings.Replace(u.URL, "http", "ws", 1)
	}
	for _, f := range change {
		f(u)
	}
	p := start(t, o, u)
	fake := p.servers["fake"]
	fake.http = sync.OnceValue(func() *http.Client {
		c := fake.newHTTPClient()
		c.Transport.(*http.Transport).DialContext = m.dial
		return c
	})
	return p
}

// virtualPipe returns a pool whose server fake serves the script in memory, as
// a process does over stdio.
func virtualPipe(t testing.TB, s mcptest.Script, change ...func(*config.Upstream)) *Pool {
	t.Helper()
	return virtualPipeWith(t, Options{}, s, change...)
}

func virtualPipeWith(t testing.TB, o Options, s mcptest.Script, change ...func(*config.Upstream)) *Pool {
	t.Helper()
	u := &config.Upstream{Name: "fake", ConnectTimeout: testTimeout, Timeout: testTimeout}
	for _, f := range change {
		f(u)
	}
	o.Dial = func(ctx context.Context, _ *config.Upstream) (io.ReadWriteCloser, error) { return s.Dial(ctx) }
	return start(t, o, u)
}

// virtualTransports runs the test over each transport in each era in virtual
// time. The script has one server for each session.
func virtualTransports(t *testing.T, s mcptest.Script, test func(t *testing.T, p *Pool), change ...func(*config.Upstream)) {
	for name, open := range map[string]func(*testing.T) *Pool{
		"pipe": func(t *testing.T) *Pool { return virtualPipe(t, s, change...) },
		"http": func(t *testing.T) *Pool { return virtualWeb(t, config.HTTP, &mcptest.Web{Script: s}, change...) },
		"http events": func(t *testing.T) *Pool {
			return virtualWeb(t, config.HTTP, &mcptest.Web{Script: s, Events: true}, change...)
		},
		"2026-07-28": func(t *testing.T) *Pool {
			return virtualWeb(t, config.HTTP, &mcptest.Web{Script: s, Modern: true}, change...)
		},
		"2026-07-28 events": func(t *testing.T) *Pool {
			return virtualWeb(t, config.HTTP, &mcptest.Web{Script: s, Modern: true, Events: true}, change...)
		},
		"sse":       func(t *testing.T) *Pool { return virtualWeb(t, config.SSE, &sseServer{script: s}, change...) },
		"websocket": func(t *testing.T) *Pool { return virtualWeb(t, config.WebSocket, socketServer(s), change...) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test(t, open(t)) })
		})
	}
}
