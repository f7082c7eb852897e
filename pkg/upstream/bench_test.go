package upstream

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// BenchmarkCall compares one call through the pool with the same call through
// the library's client, over stdio, with 1 and 64 callers. The server is the
// same.
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
		pool := func(b *testing.B) func() error {
			p := start(b, Options{}, child(mcptest.Script{}))
			return func() error {
				_, err := p.CallTool(context.Background(), "fake", "echo", args)
				return err
			}
		}
		library := func(b *testing.B) func() error {
			c := libraryClient(b)
			request := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo", Arguments: json.RawMessage(size.args)}}
			return func() error {
				_, err := c.CallTool(context.Background(), request)
				return err
			}
		}
		for _, way := range []struct {
			name string
			open func(*testing.B) func() error
		}{{"pool", pool}, {"library", library}} {
			b.Run(size.name+"/"+way.name+"/1", func(b *testing.B) {
				call := way.open(b)
				if err := call(); err != nil { // the pool starts its server now
					b.Fatal(err)
				}
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

func make20k() []byte {
	text := make([]byte, 20<<10)
	for i := range text {
		text[i] = 'a' + byte(i%26)
	}
	return text
}

func libraryClient(b *testing.B) *client.Client {
	u := child(mcptest.Script{})
	command := func(_ context.Context, command string, _, args []string) (*exec.Cmd, error) {
		cmd := exec.Command(command, args...)
		cmd.Env = environ(u, os.Environ())
		return cmd, nil
	}
	c := client.NewClient(transport.NewStdioWithOptions(u.Command, nil, u.Args, transport.WithCommandFunc(command)),
		client.WithProtocolVersion(mcp.LATEST_LEGACY_PROTOCOL_VERSION))
	if err := c.Start(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	if _, err := c.Initialize(context.Background(), mcp.InitializeRequest{}); err != nil {
		b.Fatal(err)
	}
	return c
}
