package mcpgraph_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// mirror is a server that tells with which credentials it is called.
type mirror struct{}

func (mirror) CallTool(_ context.Context, c *callinfo.Info, _, _ string, _ value.Value) (graph.ToolResult, error) {
	text := c.Caller + " " + c.Header.Get("X-Tenant") + " " + c.Meta.Get("tenant").Str()
	reply, err := value.Parse(`{"content":[{"type":"text","text":` + value.FromString(text).JSON() + `}]}`)
	return graph.ToolResult{Reply: reply, Attempts: 1}, err
}

// serveTwo serves over HTTP to ann and bob, whose tokens are 0123456789abcdef-ann and
// 0123456789abcdef-bob, until the test ends, and returns the address.
func serveTwo(t *testing.T, serve func(context.Context, net.Listener, server.HTTPOptions) error) (url string) {
	t.Helper()
	guard, err := auth.NewTokens([]config.CallerToken{
		{Caller: "ann", Token: "0123456789abcdef-ann"}, {Caller: "bob", Token: "0123456789abcdef-bob"},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, l, server.HTTPOptions{Guard: guard}) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != context.Canceled {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String() + server.Path
}

func TestCallersOverHTTPReachServersWithWhatTheySent(t *testing.T) {
	engine := mustLoad(t, `version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  fake: {command: "true"}
tools:
  - name: one
    description: Calls
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: n}
      - {id: n, type: mcp, server: fake, tool: x, args: {}, next: exit}
      - {id: exit, type: exit}
`, mcpgraph.WithCaller(mirror{}))
	url := serveTwo(t, engine.ServeHTTP)
	for _, caller := range []string{"ann", "bob"} {
		c, err := client.NewStreamableHttpClient(url, transport.WithHTTPHeaders(map[string]string{
			"Authorization": "Bearer 0123456789abcdef-" + caller, "X-Tenant": caller + "'s",
		}))
		if err != nil {
			t.Fatal(err)
		}
		hello := mcp.InitializeRequest{}
		hello.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
		hello.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
		if _, err := c.Initialize(t.Context(), hello); err != nil {
			t.Fatal(err)
		}
		request := mcp.CallToolRequest{}
		request.Params.Name = "one"
		request.Params.Meta = &mcp.Meta{AdditionalFields: map[string]any{"tenant": "of " + caller}}
		result, err := c.CallTool(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		want := caller + " " + caller + "'s of " + caller
		if text, ok := result.Content[0].(mcp.TextContent); !ok || result.IsError || text.Text != `"`+want+`"` && text.Text != want {
			t.Errorf("%+v, want %q", result, want)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestGoProgramsServeToThoseWhomTheFileLetsIn(t *testing.T) {
	engine := mustLoad(t, `version: "1.0"
server:
  name: t
  version: "1"
  allowedOrigins: [https://good.example]
  auth: {type: bearer, tokens: {ann: "${ANN}"}}
`, mcpgraph.WithGetenv(func(name string) (string, bool) { return "0123456789abcdef-" + name, true }))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- engine.ServeHTTP(ctx, l, server.HTTPOptions{}) }()
	for headers, want := range map[[2]string]int{
		{"", ""}:                            http.StatusUnauthorized,
		{"Bearer 0123456789abcdef-ANN", ""}: http.StatusMethodNotAllowed,
		{"Bearer 0123456789abcdef-ANN", "https://good.example"}: http.StatusMethodNotAllowed,
		{"Bearer 0123456789abcdef-ANN", "https://evil.example"}: http.StatusForbidden,
	} {
		r, err := http.NewRequest(http.MethodPut, "http://"+l.Addr().String()+server.Path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", headers[0])
		if headers[1] != "" {
			r.Header.Set("Origin", headers[1])
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%v: %s", headers, response.Status)
		}
	}
	stop()
	if err := <-ended; err != context.Canceled {
		t.Error(err)
	}
}

func TestSessionsAreToldOfAlsoWhereTheyAreMeasured(t *testing.T) {
	told, err := telemetry.New(telemetry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	engine := mustLoad(t, twoTools, mcpgraph.WithCaller(&caller{reply: found}), mcpgraph.WithTelemetry(told))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var began, over atomic.Int32
	ended := make(chan error, 1)
	go func() {
		ended <- engine.ServeHTTP(ctx, l, server.HTTPOptions{Session: func(context.Context) func(error) {
			began.Add(1)
			return func(error) { over.Add(1) }
		}})
	}()
	r, err := http.NewRequest(http.MethodPost, "http://"+l.Addr().String()+server.Path,
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+initialize+`}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	stop()
	if err := <-ended; err != context.Canceled {
		t.Error(err)
	}
	if response.StatusCode != http.StatusOK || began.Load() != 1 || over.Load() != 1 {
		t.Errorf("%s: %d sessions began and %d ended", response.Status, began.Load(), over.Load())
	}
}

// TestServersAloneCannotBeServed keeps a file that was not read for who may come in from
// being served to everybody.
func TestServersAloneCannotBeServed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tools.yaml")
	text := "version: \"1.0\"\nserver: {name: t, version: \"1\", auth: {type: bearer, tokensFile: none}}\ntools: []\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := mcpgraph.Load(path, mcpgraph.WithServersOnly())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const want = "the file was read for its servers only"
	if err := e.ServeHTTP(t.Context(), listener, server.HTTPOptions{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("ServeHTTP: %v", err)
	}
	if _, err := e.Handler(server.HTTPOptions{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Handler: %v", err)
	}
}
