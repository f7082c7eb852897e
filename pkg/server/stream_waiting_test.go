package server_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// What a call has said before its answer counts until the client has read it.
func TestUnreadNotificationsCountAfterTheAnswer(t *testing.T) {
	const size, n = 1 << 20, 10
	opts := httpOptions(t)
	opts.Memory = memory.New(256 << 20)
	text := value.FromString(strings.Repeat("x", size))
	opts.Call = func(_ context.Context, q *server.Request) (value.Value, error) {
		for range n {
			q.Reporter().Log(value.FromEntries([]value.Entry{{Key: "level", Value: value.FromString("info")}, {Key: "data", Value: text}}))
		}
		return value.NullValue, nil
	}
	told := make(chan struct{}, 1)
	opts.Observe = func(ctx context.Context, _ *server.Request) (context.Context, func(server.Outcome)) {
		return ctx, func(server.Outcome) { told <- struct{}{} }
	}
	x := serve(t, opts, server.HTTPOptions{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(x.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := strictRequest("tools/call", `"name":"echo"`, "m", "_meta", `"io.modelcontextprotocol/logLevel":"info"`)
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\n"+
		"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if _, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	<-told
	time.Sleep(100 * time.Millisecond) // the answer is queued
	if held := opts.Memory.Held(); held < size {
		t.Errorf("%d bytes count while the client does not read", held)
	}
}
