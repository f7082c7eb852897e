package mcpgraph_test

//lint:file-ignore SA1019 the stream of GET is deprecated, and clients listen on it still

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	official "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// oneTool is a file with one tool, which only gives its arguments back.
const oneTool = `version: "1.0"
server: {name: t, version: "1"}
tools:
  - name: %s
    description: Gives its arguments back
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: exit}
      - {id: exit, type: exit}
`

// TestClientsOfOtherMakersHearOfNewTools has clients listen, in both eras of the
// protocol over both transports, while the file is read again.
func TestClientsOfOtherMakersHearOfNewTools(t *testing.T) {
	for maker, connect := range map[string]func(t *testing.T, url, revision string, in io.ReadCloser, out io.WriteCloser, heard func()) (list func() string){
		"Go SDK": listenGoSDK, "mcp-go": listenMCPGo,
	} {
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			for _, over := range []string{"stdio", "http"} {
				t.Run(maker+" "+revision+" "+over, func(t *testing.T) {
					path := filepath.Join(t.TempDir(), "tools.yaml")
					write := func(name string) {
						if err := os.WriteFile(path, fmt.Appendf(nil, oneTool, name), 0o600); err != nil {
							t.Fatal(err)
						}
					}
					write("old")
					engine, err := mcpgraph.Load(path)
					if err != nil {
						t.Fatal(err)
					}
					ctx, stop := context.WithCancel(context.Background())
					ended := make(chan error, 1)
					t.Cleanup(func() { // after the client's
						stop()
						<-ended
						engine.Close()
					})
					var url string
					var in io.ReadCloser
					var out io.WriteCloser
					if over == "http" {
						l, err := net.Listen("tcp", "127.0.0.1:0")
						if err != nil {
							t.Fatal(err)
						}
						url = "http://" + l.Addr().String() + server.Path
						go func() { ended <- engine.ServeHTTP(ctx, l, server.HTTPOptions{}) }()
					} else {
						requests, w := io.Pipe()
						r, answers := io.Pipe()
						in, out = r, w
						go func() { ended <- engine.ServeStdio(ctx, requests, answers); answers.Close() }()
					}
					changed := make(chan struct{}, 100)
					list := connect(t, url, revision, in, out, func() { changed <- struct{}{} })
					if got := list(); got != "old" {
						t.Errorf("at first there is %q", got)
					}
					// A stream may begin only after its client has got on: what is told
					// before is not heard.
					for n, deadline := 0, time.Now().Add(20*time.Second); ; n++ {
						name := fmt.Sprintf("new%d", n)
						write(name)
						if _, err := engine.Reload(); err != nil {
							t.Fatal(err)
						}
						select {
						case <-changed:
							if got := list(); got != name {
								t.Errorf("then there is %q, want %q", got, name)
							}
							return
						case <-time.After(100 * time.Millisecond):
						}
						if time.Now().After(deadline) {
							t.Fatal("nothing is heard of a new tool")
						}
					}
				})
			}
		}
	}
}

func listenGoSDK(t *testing.T, url, revision string, in io.ReadCloser, out io.WriteCloser, heard func()) func() string {
	c := official.NewClient(&official.Implementation{Name: "test", Version: "1"}, &official.ClientOptions{
		ToolListChangedHandler: func(context.Context, *official.ToolListChangedRequest) { heard() },
	})
	var over official.Transport = &official.StreamableClientTransport{Endpoint: url}
	if url == "" {
		over = &official.IOTransport{Reader: in, Writer: out}
	}
	s, err := c.Connect(t.Context(), over, &official.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return func() string {
		r, err := s.ListTools(t.Context(), nil)
		if err != nil || len(r.Tools) != 1 {
			t.Fatalf("%v, %v", r, err)
		}
		return r.Tools[0].Name
	}
}

func listenMCPGo(t *testing.T, url, revision string, in io.ReadCloser, out io.WriteCloser, heard func()) func() string {
	var over transport.Interface
	if url == "" {
		over = transport.NewIO(in, out, io.NopCloser(strings.NewReader("")))
	} else {
		var options []transport.StreamableHTTPCOption
		if revision == "2025-11-25" {
			options = append(options, transport.WithContinuousListening())
		}
		web, err := transport.NewStreamableHTTP(url, options...)
		if err != nil {
			t.Fatal(err)
		}
		over = web
	}
	c := client.NewClient(over, client.WithProtocolVersion(revision))
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == mcp.MethodNotificationToolsListChanged {
			heard()
		}
	})
	if err := c.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = revision
	hello.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	if _, err := c.Initialize(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	if revision == "2026-07-28" {
		stop, err := c.ListenAsync(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, func(error) {})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
	}
	return func() string {
		r, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
		if err != nil || len(r.Tools) != 1 {
			t.Fatalf("%v, %v", r, err)
		}
		return r.Tools[0].Name
	}
}
