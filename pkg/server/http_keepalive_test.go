package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// pipeListener are a network without an operating system, on which time can be made to
// pass.
type pipeListener struct {
	dialled chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

func (p *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-p.dialled:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipeListener) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

func (p *pipeListener) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	p.dialled <- theirs
	return ours, nil
}

func TestLongCallsSendKeepAlives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finish := make(chan struct{})
		opts := httpOptions(t)
		opts.Info = config.Server{Name: "test", Version: "1"}
		opts.Call = func(context.Context, *server.Request) (value.Value, error) {
			<-finish
			return value.FromString("done"), nil
		}
		s, err := server.New(opts)
		if err != nil {
			t.Fatal(err)
		}
		p := &pipeListener{dialled: make(chan net.Conn), closed: make(chan struct{})}
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- s.ServeHTTP(ctx, p, server.HTTPOptions{}) }()
		client := &http.Client{Transport: &http.Transport{DialContext: p.dial}}
		for accept, want := range map[string]string{
			"application/json, text/event-stream": ":\n\n:\n\ndata: ",
			"application/json":                    "{",
		} {
			r, err := http.NewRequest(http.MethodPost, "http://pipes"+server.Path, strings.NewReader(
				strings.Replace(fmt.Sprintf(call, "7", ""), `"params":{`, `"params":{"_meta":{`+eraMeta+`},`, 1)))
			if err != nil {
				t.Fatal(err)
			}
			r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {accept}}
			for headers := modern("tools/call", "echo"); len(headers) > 0; headers = headers[2:] {
				r.Header.Set(headers[0], headers[1])
			}
			go func() {
				time.Sleep(40 * time.Second)
				finish <- struct{}{}
			}()
			response, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(bufio.NewReader(response.Body))
			response.Body.Close()
			if err != nil || !strings.HasPrefix(string(body), want) || !strings.Contains(string(body), "done") {
				t.Errorf("%s: %s %v", accept, body, err)
			}
		}
		client.CloseIdleConnections()
		stop()
		<-ended
	})
}
