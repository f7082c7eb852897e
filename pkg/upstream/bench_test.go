package upstream

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// BenchmarkCall compares one call through the pool with the same call through
// the library's client, over stdio and HTTP, with 1 and 64 callers. The server
// is the same.
func BenchmarkCall(b *testing.B) {
	for _, size := range []struct {
		name string
		args string
	}{
		{"small", `{"path":"/some/where/file.txt","n":17}`},
		{"20kB", `{"path":"` + string(make20k()) + `"}`},
	} {
		args, err := value.Parse(size.args)
		if err != nil {
			b.Fatal(err)
		}
		request := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo", Arguments: json.RawMessage(size.args)}}
		pool := func(open func(*testing.B) *config.Upstream) func(*testing.B) func() error {
			return func(b *testing.B) func() error {
				p := start(b, Options{}, open(b))
				return func() error {
					_, err := p.CallTool(context.Background(), "fake", "echo", args)
					return err
				}
			}
		}
		library := func(open func(*testing.B) transport.Interface, revision string) func(*testing.B) func() error {
			return func(b *testing.B) func() error {
				c := libraryClient(b, open(b), revision)
				return func() error {
					_, err := c.CallTool(context.Background(), request)
					return err
				}
			}
		}
		for _, way := range []struct {
			name string
			open func(*testing.B) func() error
		}{
			{"stdio/pool", pool(func(*testing.B) *config.Upstream { return child(mcptest.Script{}) })},
			{"stdio/library", library(libraryStdio, mcp.LATEST_LEGACY_PROTOCOL_VERSION)},
			{"http/pool", pool(func(b *testing.B) *config.Upstream { return web(b, config.HTTP, echoServer()) })},
			{"http/library", library(libraryHTTP, mcp.LATEST_PROTOCOL_VERSION)},
		} {
			b.Run(size.name+"/"+way.name+"/1", func(b *testing.B) {
				call := way.open(b)
				if err := call(); err != nil { // the pool starts its server now
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := call(); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(size.name+"/"+way.name+"/64", func(b *testing.B) {
				call := way.open(b)
				if err := call(); err != nil {
					b.Fatal(err)
				}
				b.SetParallelism(max(1, 64/runtime.GOMAXPROCS(0)))
				b.ReportAllocs()
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := call(); err != nil {
							b.Error(err)
						}
					}
				})
			})
		}
	}
}

// echoServer is a server of the library's that answers the arguments.
func echoServer() http.Handler {
	s := mcpserver.NewMCPServer("echo", "1")
	s.AddTool(mcp.Tool{Name: "echo", RawInputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(string(r.Params.RawArguments))}}, nil
		})
	return mcpserver.NewStreamableHTTPServer(s)
}

func make20k() []byte {
	text := make([]byte, 20<<10)
	for i := range text {
		text[i] = 'a' + byte(i%26)
	}
	return text
}

func libraryStdio(*testing.B) transport.Interface {
	u := child(mcptest.Script{})
	command := func(_ context.Context, command string, _, args []string) (*exec.Cmd, error) {
		cmd := exec.Command(command, args...)
		cmd.Env = environ(u, os.Environ())
		return cmd, nil
	}
	return transport.NewStdioWithOptions(u.Command, nil, u.Args, transport.WithCommandFunc(command))
}

// libraryHTTP gives the library an HTTP client that keeps as many connections
// as ours.
func libraryHTTP(b *testing.B) transport.Interface {
	u := web(b, config.HTTP, echoServer())
	t, err := transport.NewStreamableHTTP(u.URL, transport.WithHTTPBasicClient(newHTTPClient(u.ConnectTimeout)))
	if err != nil {
		b.Fatal(err)
	}
	return t
}

func libraryClient(b *testing.B, t transport.Interface, revision string) *client.Client {
	c := client.NewClient(t, client.WithProtocolVersion(revision))
	if err := c.Start(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	if _, err := c.Initialize(context.Background(), mcp.InitializeRequest{}); err != nil {
		b.Fatal(err)
	}
	if c.ProtocolVersion() != revision {
		b.Fatalf("it speaks %s", c.ProtocolVersion())
	}
	return c
}
