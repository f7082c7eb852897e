package toolkit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/toolkit"
	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// browser is a client over HTTP.
type browser struct {
	t            *testing.T
	url, session string
}

func (b *browser) post(body string) string {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.url, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if b.session != "" {
		r.Header.Set("Mcp-Session-Id", b.session)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	if id := answer.Header.Get("Mcp-Session-Id"); id != "" {
		b.session = id
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// call checks that the answer of a tool has a text.
func (b *browser) call(name, args, want string) {
	b.t.Helper()
	got := b.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + args + `}}`)
	encoded, _ := json.Marshal(want) // in the text of the answer
	if !strings.Contains(got, want) && !bytes.Contains([]byte(got), encoded[1:len(encoded)-1]) {
		b.t.Errorf("%s %s: got %s, want %s", name, args, got, want)
	}
}

func TestClientsHaveTheirOwnHistory(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "team.yaml")
	write(t, path, head+"tools: []\n")
	kit, err := toolkit.New(toolkit.Options{Path: path, Log: slog.New(slog.DiscardHandler), Getenv: os.LookupEnv, HTTP: true})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- kit.ServeHTTP(ctx, listener, server.HTTPOptions{}) }()
	t.Cleanup(func() {
		stop()
		<-ended
		if err := kit.Close(); err != nil {
			t.Error(err)
		}
	})
	var two []*browser
	for range 2 {
		b := &browser{t: t, url: "http://" + listener.Addr().String() + "/mcp"}
		b.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`)
		b.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		two = append(two, b)
	}
	a, b := two[0], two[1]
	definition := draft(`{"id":"a","type":"transform","transform":{"expr":"1"},"next":"exit"}`)
	a.call("addGraphTool", `{"tool":`+definition+`}`, `"success":true`)
	b.call("undo", `{}`, "no edit of this session")
	b.call("history", `{}`, `"items":[]`)
	a.call("history", `{}`, `"action":"add"`)

	// b reads the tool after it has changed; a has not, and its edit is refused.
	b.call("patchGraphTool", `{"toolName":"draft","operations":[{"op":"set","path":"/description","value":"B"}]}`, `"success":true`)
	b.call("getGraphTool", `{"toolName":"draft"}`, `"description":"B"`)
	a.call("updateGraphTool", `{"toolName":"draft","tool":`+definition+`}`, "has changed since it was read")
	a.call("undo", `{}`, "the file has changed since the last edit of this session")
	b.call("undo", `{}`, `"success":true`)
	a.call("undo", `{}`, `"success":true`)
}
