package mcpgraph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// ServeFunc serves MCP to one client: it reads newline-delimited messages from in
// and writes its own to out, as servers do on stdio, until in ends or ctx is done.
// [Engine.ServeStdio] is one.
type ServeFunc func(ctx context.Context, in io.Reader, out io.Writer) error

// WithServer lets serve be the server of this name, in this process. The file
// needs no entry for it; the settings of one that it has (timeouts, retry, tools
// and the like) apply, its command or url do not. Serve is called when a call
// first needs the server, and again when it has returned. Other servers are those
// of the file.
func WithServer(name string, serve ServeFunc) Option {
	return func(o *options) {
		if o.servers == nil {
			o.servers = map[string]ServeFunc{}
		}
		o.servers[name] = serve
	}
}

// dial opens the connection to a server that runs in this process; nil for others,
// which have a transport of their own.
func (o options) dial(_ context.Context, entry *config.Upstream) (io.ReadWriteCloser, error) {
	serve := o.servers[entry.Name]
	if serve == nil {
		return nil, nil
	}
	return o.startInProcess(entry.Name, serve), nil
}

// withServers adds the entries of servers in this process that the file does not
// have.
func (o options) withServers(file *config.File) {
	has := map[string]bool{}
	for _, u := range file.Upstreams {
		has[u.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(o.servers)) {
		if !has[name] {
			file.Upstreams = append(file.Upstreams, &config.Upstream{
				Name: name, Transport: config.Stdio, ConnectTimeout: config.DefaultConnectTimeout,
				Timeout: config.DefaultTimeout, MaxMessageBytes: config.DefaultMaxMessageBytes,
			})
		}
	}
}

// inProcess is the connection to a server that runs in this process.
type inProcess struct {
	io.Reader
	io.Writer
	end  func()
	once sync.Once
}

func (o options) startInProcess(name string, serve ServeFunc) *inProcess {
	ctx, cancel := context.WithCancel(context.Background())
	requests, toServer := io.Pipe()
	replies, toClient := io.Pipe()
	c := &inProcess{Reader: replies, Writer: toServer}
	done := make(chan struct{})
	c.end = func() {
		cancel()
		toServer.Close()
		select {
		case <-done: // what it said last is still to be read
		default:
			replies.Close()
		}
	}
	go func() {
		err := o.protected(name, func() error { return serve(ctx, requests, toClient) })
		close(done)
		cancel()
		if err != nil {
			toClient.CloseWithError(err)
			requests.CloseWithError(err)
			return
		}
		toClient.Close()
		requests.Close()
	}()
	return c
}

// Close tells the server that its client is gone.
func (c *inProcess) Close() error {
	c.once.Do(c.end)
	return nil
}

var errServerPanicked = errors.New("the server panicked")

// protected calls f; a panic is an error, and logged.
func (o options) protected(name string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			o.log.Error("a server in this process panicked", "server", name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errServerPanicked
		}
	}()
	return f()
}
