package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"

	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// costRound is how many calls one round has.
const costRound = 1024

// BenchmarkCallCost compares calls through the pool with the same calls through
// the library's client: the same server, rounds in turns. times-library is the
// ratio of the medians.
func BenchmarkCallCost(b *testing.B) {
	for _, size := range []struct{ name, args string }{
		{"small", `{"path":"/some/where/file.txt","n":17}`},
		{"20kB", `{"path":"` + string(make20k()) + `"}`},
	} {
		for _, over := range []struct {
			name    string
			pool    func(*testing.B) *config.Upstream
			library func(*testing.B) *client.Client
		}{
			{"stdio", func(*testing.B) *config.Upstream { return child(mcptest.Script{}) }, func(b *testing.B) *client.Client {
				return libraryClient(b, libraryStdio(b), mcp.LATEST_LEGACY_PROTOCOL_VERSION)
			}},
			{"http", func(b *testing.B) *config.Upstream { return web(b, config.HTTP, echoServer()) }, func(b *testing.B) *client.Client {
				return libraryClient(b, libraryHTTP(b), mcp.LATEST_PROTOCOL_VERSION)
			}},
		} {
			for _, callers := range []int{1, 64} {
				b.Run(fmt.Sprintf("%s/%s/callers=%d", size.name, over.name, callers), func(b *testing.B) {
					args, err := value.Parse(size.args)
					if err != nil {
						b.Fatal(err)
					}
					p, c := start(b, Options{}, over.pool(b)), over.library(b)
					request := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo", Arguments: json.RawMessage(size.args)}}
					compare(b, "library", callers, func() error {
						_, err := p.CallTool(context.Background(), nil, "fake", "echo", args)
						return err
					}, func() error {
						_, err := c.CallTool(context.Background(), request)
						return err
					})
				})
			}
		}
	}
}

// BenchmarkLockCost compares calls of a tool that is locked with calls without a
// lock file, of the same server.
func BenchmarkLockCost(b *testing.B) {
	u := web(b, config.HTTP, echoServer())
	plain := start(b, Options{}, u)
	tools, err := plain.Tools(context.Background(), nil, "fake")
	if err != nil {
		b.Fatal(err)
	}
	locked := start(b, Options{Lock: (*lock.File)(nil).With(lock.NewServer("fake", "", tools, []string{"echo"}))}, u)
	call := func(p *Pool) func() error {
		return func() error {
			_, err := p.CallTool(context.Background(), nil, "fake", "echo", value.FromEntries(nil))
			return err
		}
	}
	compare(b, "unlocked", 1, call(locked), call(plain))
}

// compare reports the medians of rounds of two kinds of calls, of which the second
// one has a name.
func compare(b *testing.B, with string, callers int, calls ...func() error) {
	round := func(call func() error) time.Duration {
		began := time.Now()
		var wait sync.WaitGroup
		for range callers {
			wait.Go(func() {
				for range costRound / callers {
					if err := call(); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wait.Wait()
		return time.Since(began) / costRound
	}
	times := make([][]time.Duration, len(calls))
	for _, call := range calls {
		round(call) // connections are there when it counts
	}
	for n := 0; b.Loop(); n++ {
		for i := range calls {
			i = (i + n) % len(calls)
			times[i] = append(times[i], round(calls[i]))
		}
	}
	median := func(of []time.Duration) float64 {
		slices.Sort(of)
		return float64(of[len(of)/2])
	}
	pool, library := median(times[0]), median(times[1])
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(pool, "ns/call")
	b.ReportMetric(library, with+"-ns/call")
	b.ReportMetric(pool/library, "times-"+with)
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
		cmd.Env = os.Environ()
		for _, v := range u.Env {
			cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
		}
		return cmd, nil
	}
	return transport.NewStdioWithOptions(u.Command, nil, u.Args, transport.WithCommandFunc(command))
}

// libraryHTTP returns the library an HTTP client that keeps as many connections
// as ours.
func libraryHTTP(b *testing.B) transport.Interface {
	u := web(b, config.HTTP, echoServer())
	t, err := transport.NewStreamableHTTP(u.URL, transport.WithHTTPBasicClient(wire.NewHTTPClient(u.ConnectTimeout, false)))
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
