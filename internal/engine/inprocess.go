package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// InProcess is a server that runs in this process: it reads newline-delimited
// messages from in and writes its own to out until in ends or ctx is done.
type InProcess func(ctx context.Context, in io.Reader, out io.Writer) error

// inProcessServers are the servers in this process, by name.
type inProcessServers struct {
	servers map[string]InProcess
	log     *slog.Logger
}

// dial opens the connection to a server that runs in this process; nil for others,
// which have a transport of their own.
func (s inProcessServers) dial(_ context.Context, entry *config.Upstream) (io.ReadWriteCloser, error) {
	serve := s.servers[entry.Name]
	if serve == nil {
		return nil, nil
	}
	return s.start(entry.Name, serve), nil
}

// addServers adds the entries of servers in this process that the file does not
// have.
func (o Options) addServers(file *config.File) {
	has := map[string]bool{}
	for _, u := range file.Upstreams {
		has[u.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(o.Servers)) {
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

func (s inProcessServers) start(name string, serve InProcess) *inProcess {
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
		err := s.protected(name, func() error { return serve(ctx, requests, toClient) })
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

// Close closes the connection to the server.
func (c *inProcess) Close() error {
	c.once.Do(c.end)
	return nil
}

var errServerPanicked = errors.New("the server panicked")

// protected calls f; a panic is an error, and logged.
func (s inProcessServers) protected(name string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("a server in this process panicked", "server", name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errServerPanicked
		}
	}()
	return f()
}
