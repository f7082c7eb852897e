package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// mount serves a Handler in an http.Server of the test.
func mount(t *testing.T, opts server.Options, over server.HTTPOptions) (*server.Handler, *testServer) {
	t.Helper()
	s, err := server.New(named(opts))
	if err != nil {
		t.Fatal(err)
	}
	h := s.Handler(over)
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	t.Cleanup(h.Close)
	return h, &testServer{t: t, server: s, url: web.URL}
}

func TestClosedHandlerAnswersRunningRequestsAndRefusesOthers(t *testing.T) {
	opts := httpOptions(t)
	began, finish := make(chan struct{}), make(chan struct{})
	opts.Call = func(_ context.Context, q *server.Request) (value.Value, error) {
		close(began)
		<-finish
		return q.Args, nil
	}
	var mu sync.Mutex
	var refused []server.Exchange
	opts.Exchanged = func(_ context.Context, e server.Exchange) {
		if e.Reason != "" {
			mu.Lock()
			defer mu.Unlock()
			refused = append(refused, e)
		}
	}
	h, x := mount(t, opts, server.HTTPOptions{Grace: time.Minute})
	in := x.session("2025-11-25")
	get, _ := http.NewRequest(http.MethodGet, x.url+server.Path, nil)
	get.Header.Set("Accept", "text/event-stream")
	for i := 0; i < len(in); i += 2 {
		get.Header.Set(in[i], in[i+1])
	}
	stream, err := http.DefaultClient.Do(get)
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatal(stream, err)
	}
	defer stream.Body.Close()
	answered := make(chan httpReply, 1)
	go func() { answered <- x.post(fmt.Sprintf(call, "1", ""), in...) }()
	<-began
	closed := make(chan struct{})
	go func() { h.Close(); close(closed) }()
	if _, err := io.Copy(io.Discard, stream.Body); err != nil { // Close ends it
		t.Error(err)
	}
	for x.ask(http.MethodGet, "/readyz", "").status == http.StatusOK {
		time.Sleep(time.Millisecond)
	}
	if g := x.post(fmt.Sprintf(call, "2", ""), in...); g.status != http.StatusServiceUnavailable {
		t.Errorf("a further request: %d %s", g.status, g.body)
	}
	select {
	case <-closed:
		t.Error("Close did not wait for the running request")
	default:
	}
	close(finish)
	if g := <-answered; g.status != http.StatusOK || !strings.Contains(g.body, "structuredContent") {
		t.Errorf("the running request: %d %s", g.status, g.body)
	}
	<-closed
	if g := x.ask(http.MethodGet, "/healthz", ""); g.status != http.StatusOK {
		t.Errorf("/healthz: %d", g.status)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(refused) == 0 {
		t.Fatal("the refusal is not observed")
	}
	for _, e := range refused {
		if e.Path == server.Path && (e.Reason != "shutting_down" || e.Status != http.StatusServiceUnavailable || e.Method != http.MethodPost) {
			t.Errorf("observed %+v", e)
		}
	}
}

func TestClosedHandlerCancelsRequestsAfterGrace(t *testing.T) {
	opts, began, ended := hangingOptions(t)
	h, x := mount(t, opts, server.HTTPOptions{Grace: time.Millisecond})
	answered := make(chan httpReply, 1)
	go func() {
		answered <- x.post(fmt.Sprintf(call, "1", `,"_meta":{`+eraMeta+`}`), modern("tools/call", "echo")...)
	}()
	<-began
	h.Close()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "shutting down") {
		t.Errorf("the call ended with %v", err)
	}
	if g := <-answered; !strings.Contains(g.body, "shutting down") {
		t.Errorf("%d %s", g.status, g.body)
	}
}
