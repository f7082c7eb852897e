package mcpgraph_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// costFile is the graph whose calls are measured: entry and exit alone.
const costFile = `version: "1.0"
server: {name: cost, version: "1"}
tools:
  - name: echo
    description: Gives its arguments back
    inputSchema: {type: object, properties: {directory: {type: string}, depth: {type: integer}}}
    nodes:
      - {id: entry, type: entry, next: exit}
      - {id: exit, type: exit}
`

const (
	costArguments = `{"directory":"/home/ann/projects","depth":3}`
	costCall      = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":` + costArguments + `%s}}`
	costHello     = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	costModern    = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	costResult    = `"structuredContent":{`
)

// costRound is how many calls one round of one server has.
const costRound = 1024

// BenchmarkCost compares calls of a graph of entry and exit with calls of a bare
// handler of the MCP library, by the library's own transports: the same client,
// the same answers, rounds in turns. times-bare is the ratio of the medians.
func BenchmarkCost(b *testing.B) {
	for _, over := range []struct {
		name       string
		ours, bare func(b *testing.B, callers int) (round func())
	}{
		{"stdio", costStdioOurs, costStdioBare},
		{"http-session", costHTTPOurs(false), costHTTPBare(false)},
		{"http-2026-07-28", costHTTPOurs(true), costHTTPBare(true)},
	} {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/callers=%d", over.name, callers), func(b *testing.B) {
				rounds := []func(){over.ours(b, callers), over.bare(b, callers)}
				times := make([][]time.Duration, len(rounds))
				for _, round := range rounds {
					round() // connections and pools are there when it counts
				}
				for n := 0; b.Loop(); n++ {
					for i := range rounds {
						i = (i + n) % len(rounds)
						began := time.Now()
						rounds[i]()
						times[i] = append(times[i], time.Since(began)/costRound)
					}
				}
				ours, bare := median(times[0]), median(times[1])
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(ours.Nanoseconds()), "ns/call")
				b.ReportMetric(float64(bare.Nanoseconds()), "bare-ns/call")
				b.ReportMetric(float64(ours)/float64(bare), "times-bare")
			})
		}
	}
}

func median[T int | int64 | float64 | time.Duration](of []T) T {
	slices.Sort(of)
	return of[len(of)/2]
}

// bareServer is a server of the library with a handler that gives its arguments
// back, as text and as structured content.
func bareServer() *mcpserver.MCPServer {
	s := mcpserver.NewMCPServer("cost", "1", mcpserver.WithToolCapabilities(false), mcpserver.WithLogging())
	s.AddTool(mcp.NewTool("echo", mcp.WithString("directory"), mcp.WithNumber("depth")),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultStructuredOnly(r.GetArguments()), nil
		})
	return s
}

func costStdioOurs(b *testing.B, callers int) func() {
	engine := mustLoad(b, costFile)
	return costPipes(b, callers, engine.ServeStdio)
}

func costStdioBare(b *testing.B, callers int) func() {
	s := mcpserver.NewStdioServer(bareServer())
	return costPipes(b, callers, s.Listen)
}

// costPipes serves over pipes of the operating system, and returns what makes
// the calls of a round, so many of them under way at any time.
func costPipes(b *testing.B, callers int, serve func(context.Context, io.Reader, io.Writer) error) func() {
	ctx, stop := context.WithCancel(context.Background())
	inR, in, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outR, out, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = serve(ctx, inR, out)
	}()
	b.Cleanup(func() {
		in.Close()
		<-ended
		stop()
		for _, f := range []*os.File{inR, out, outR} {
			f.Close()
		}
	})
	lines := bufio.NewReaderSize(outR, 1<<16)
	answered := func(want string) {
		line, err := lines.ReadSlice('\n')
		if err != nil || !bytes.Contains(line, []byte(want)) {
			b.Errorf("%v: %s", err, line)
		}
	}
	if _, err := io.WriteString(in, costHello+"\n"); err != nil {
		b.Fatal(err)
	}
	answered(`"result"`)
	calls := make([][]byte, costRound)
	for i := range calls {
		calls[i] = fmt.Appendf(nil, costCall+"\n", i, "")
	}
	slots := make(chan struct{}, callers)
	return func() {
		if callers == 1 {
			for _, call := range calls {
				if _, err := in.Write(call); err != nil {
					b.Fatal(err)
				}
				answered(costResult)
			}
			return
		}
		go func() {
			for _, call := range calls {
				slots <- struct{}{}
				if _, err := in.Write(call); err != nil {
					b.Error(err)
					return
				}
			}
		}()
		for range calls {
			answered(costResult)
			<-slots
		}
	}
}

func costHTTPOurs(modern bool) func(*testing.B, int) func() {
	return func(b *testing.B, callers int) func() {
		engine := mustLoad(b, costFile)
		l := loopbackListener(b)
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- engine.ServeHTTP(ctx, l, server.HTTPOptions{}) }()
		b.Cleanup(func() { stop(); <-ended })
		return costConnections(b, callers, l.Addr().String(), modern)
	}
}

func costHTTPBare(modern bool) func(*testing.B, int) func() {
	return func(b *testing.B, callers int) func() {
		l := loopbackListener(b)
		s := &http.Server{Handler: mcpserver.NewStreamableHTTPServer(bareServer(), mcpserver.WithStateful(true))}
		go s.Serve(l)
		b.Cleanup(func() { s.Close() })
		return costConnections(b, callers, l.Addr().String(), modern)
	}
}

func loopbackListener(tb testing.TB) net.Listener {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// costConnections returns what makes the calls of a round over so many
// connections, each of which makes one call after another.
func costConnections(b *testing.B, callers int, address string, modern bool) func() {
	headers, meta := "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n", costModern
	if !modern {
		c := costDial(b, address)
		header := c.ask(b, costRequest(address, "", costHello), `"result"`)
		headers, meta = "Mcp-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: "+header["mcp-session-id"]+"\r\n", ""
	}
	connections := make([]*costConnection, callers)
	requests := make([][]byte, callers)
	for i := range connections {
		connections[i] = costDial(b, address)
		requests[i] = costRequest(address, headers, fmt.Sprintf(costCall, i+1, meta))
	}
	return func() {
		var all sync.WaitGroup
		for i, c := range connections {
			all.Go(func() {
				for range costRound / callers {
					c.ask(b, requests[i], costResult)
				}
			})
		}
		all.Wait()
	}
}

func costRequest(address, headers, body string) []byte {
	return fmt.Appendf(nil, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\n%sContent-Length: %d\r\n\r\n%s", address, headers, len(body), body)
}

// costConnection is a client of HTTP that costs next to nothing: it sends what
// was made before, and of the answer reads the length.
type costConnection struct {
	net.Conn
	in   *bufio.Reader
	body []byte
}

func costDial(b *testing.B, address string) *costConnection {
	b.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return &costConnection{Conn: c, in: bufio.NewReader(c)}
}

// ask makes one request, and returns the headers of the answer to initialize.
func (c *costConnection) ask(b *testing.B, request []byte, want string) map[string]string {
	if _, err := c.Write(request); err != nil {
		b.Error(err)
		return nil
	}
	var header map[string]string
	length := -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			b.Error(err)
			return nil
		}
		name, text, _ := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		switch {
		case len(name) == 0:
			if length < 0 {
				b.Error("an answer without a length")
				return nil
			}
			c.body = slices.Grow(c.body[:0], length)[:length]
			if _, err := io.ReadFull(c.in, c.body); err != nil || !bytes.Contains(c.body, []byte(want)) {
				b.Errorf("%v: %s", err, c.body)
			}
			return header
		case bytes.EqualFold(name, []byte("Content-Length")):
			length, _ = strconv.Atoi(string(text))
		case bytes.EqualFold(name, []byte("Mcp-Session-Id")):
			header = map[string]string{strings.ToLower(string(name)): string(text)}
		}
	}
}
