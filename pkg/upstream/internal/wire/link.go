// Package wire carries JSON-RPC messages to one MCP server and back: over the pipes
// of a child process, a connection, streamable HTTP, HTTP with server-sent events or
// a WebSocket. What a server does wrong ends in an error or in the [PeerLog], never
// in a blocked caller.
package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"syscall"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// Link is what carries the messages of a session: the pipes of a process, a
// connection, or requests over HTTP.
type Link interface {
	messenger
	lifecycle
}

// messenger carries messages. Its methods are safe for concurrent use.
type messenger interface {
	// Attach sets what is done with what the server sends unasked. It comes
	// before the first request.
	Attach(*Handler)
	// Request sends a request and waits for the result. Its errors are the server's
	// own (*jsonrpc.Error), those of this package, and the context's.
	Request(context.Context, *Message) (json.RawMessage, error)
	// Notify sends a notification.
	Notify(context.Context, *Message) error
}

// lifecycle is the end of a link, and what it saw.
type lifecycle interface {
	// Done is closed when the link has ended and will not come back.
	Done() <-chan struct{}
	// PeerLog returns what the link saw of its server.
	PeerLog() *PeerLog
	// Close closes the link and waits until nothing of it runs; the end of ctx
	// cuts the wait short.
	Close(ctx context.Context)
}

// Stream is the link to a child process, or to a server in this process, that
// speaks newline-delimited JSON-RPC.
type Stream struct {
	*lineConn
	log   *PeerLog
	child *process // nil in this process
	conn  io.Closer

	mu    sync.Mutex
	ended error // why we ended the server; nil if we did not
}

var _ Link = (*Stream)(nil)

// OpenProcess starts the entry's command.
func OpenProcess(u *config.Upstream, log *PeerLog) (*Stream, error) {
	child, err := startProcess(u, log)
	if err != nil {
		return nil, err
	}
	p := &Stream{lineConn: newLineConn(child.stdout, child.stdin, u.MaxMessageBytes, log.Budget.Account(""), log.unexpected), log: log, child: child, conn: child.stdout}
	p.start()
	return p, nil
}

// OpenConn returns a link over a connection that is open already. limit bounds the
// bytes of a message.
func OpenConn(conn io.ReadWriteCloser, limit int64, log *PeerLog) *Stream {
	p := &Stream{lineConn: newLineConn(conn, conn, limit, log.Budget.Account(""), log.unexpected), log: log, conn: conn}
	p.start()
	return p
}

func (p *Stream) start() {
	p.lineConn.broken = p.endPeer
	p.lineConn.ended = p.exitReason
	p.lineConn.start()
}

// endPeer ends a server that does not take what we send, and with it reading.
func (p *Stream) endPeer(why error) {
	if p.child == nil {
		p.conn.Close()
		return
	}
	if errors.Is(why, syscall.EPIPE) {
		why = EndedError("closed its stdin and was ended for it")
		if p.child.exitsWithin(context.Background(), exitAfterEOF) {
			return // it was just exiting
		}
	}
	p.mu.Lock()
	p.ended = why
	p.mu.Unlock()
	killGroup(p.child.cmd.Process)
}

// exitReason returns why the link is over, once reading has ended.
func (p *Stream) exitReason(err error) error {
	if p.child == nil {
		if err != nil {
			return EndedError("closed the connection: " + err.Error())
		}
		return EndedError("closed the connection")
	}
	// Most often it is exiting, and how it exits is worth knowing. If not, a
	// server without output is of no use.
	gone := p.child.exitsWithin(context.Background(), exitAfterEOF)
	if !gone {
		killGroup(p.child.cmd.Process)
		<-p.child.exited
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.ended != nil:
		return EndedError(p.ended.Error())
	case !gone:
		return EndedError("closed its stdout and was ended for it")
	}
	return EndedError(p.child.exitStatus())
}

func (p *Stream) Done() <-chan struct{} { return p.lineConn.done }

func (p *Stream) PeerLog() *PeerLog { return p.log }

func (p *Stream) Close(ctx context.Context) {
	_ = p.lineConn.out.close(errClosed)
	if p.child != nil {
		p.child.stop(ctx)
	} else {
		p.conn.Close()
	}
	select {
	case <-p.lineConn.done:
	case <-ctx.Done():
	}
}
