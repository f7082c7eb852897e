package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"syscall"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// link is what carries the messages of a session: the pipes of a process, a
// connection, or requests over HTTP.
type link interface {
	carrier
	observer
}

// carrier carries messages. Its methods are called by any number of goroutines.
type carrier interface {
	// attach sets what is done with what the server sends unasked. It comes
	// before the first request.
	attach(*inbound)
	// request sends a request and waits for the result. The errors are those
	// of failure.go.
	request(context.Context, *outgoing) (json.RawMessage, error)
	// notify sends a notification.
	notify(context.Context, *outgoing) error
}

// observer is what a link tells beside messages.
type observer interface {
	// over is closed when the link has ended and will not come back.
	over() <-chan struct{}
	// seen is what the link saw of its server.
	seen() *diary
	// end closes the link and waits until nothing of it runs; the end of ctx
	// cuts the wait short.
	end(ctx context.Context)
}

// pipe is the link to a child process, or to a server in this process, that
// speaks newline-delimited JSON-RPC.
type pipe struct {
	*stream
	diary *diary
	child *process // nil in this process
	conn  io.Closer

	mu    sync.Mutex
	ended error // why we ended the server, where we did
}

var _ link = (*pipe)(nil)

// openProcess starts the entry's command.
func openProcess(u *config.Upstream, d *diary) (*pipe, error) {
	child, err := startProcess(u, d)
	if err != nil {
		return nil, err
	}
	p := &pipe{stream: newStream(child.stdout, child.stdin, u.MaxMessageBytes, d.budget.Account(""), d.wrong), diary: d, child: child, conn: child.stdout}
	p.open()
	return p, nil
}

// openConn speaks over a connection that is open already.
func openConn(conn io.ReadWriteCloser, u *config.Upstream, d *diary) *pipe {
	p := &pipe{stream: newStream(conn, conn, u.MaxMessageBytes, d.budget.Account(""), d.wrong), diary: d, conn: conn}
	p.open()
	return p
}

func (p *pipe) open() {
	p.stream.broken = p.abandon
	p.stream.ended = p.epitaph
	p.stream.start()
}

// abandon ends a server that does not take what we send, and with it reading.
func (p *pipe) abandon(why error) {
	if p.child == nil {
		p.conn.Close()
		return
	}
	if errors.Is(why, syscall.EPIPE) {
		why = overError("closed its stdin and was ended for it")
		if p.child.within(context.Background(), exitAfterEOF) {
			return // it was just exiting
		}
	}
	p.mu.Lock()
	p.ended = why
	p.mu.Unlock()
	killGroup(p.child.cmd.Process)
}

// epitaph says why the link is over, once reading has ended.
func (p *pipe) epitaph(err error) error {
	if p.child == nil {
		if err != nil {
			return overError("closed the connection: " + err.Error())
		}
		return overError("closed the connection")
	}
	// Most often it is exiting, and how it exits is worth knowing. If not, a
	// server without output is of no use.
	gone := p.child.within(context.Background(), exitAfterEOF)
	if !gone {
		killGroup(p.child.cmd.Process)
		<-p.child.exited
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.ended != nil:
		return overError(p.ended.Error())
	case !gone:
		return overError("closed its stdout and was ended for it")
	}
	return overError(p.child.fate())
}

func (p *pipe) over() <-chan struct{} { return p.stream.done }

func (p *pipe) seen() *diary { return p.diary }

func (p *pipe) end(ctx context.Context) {
	_ = p.stream.out.close(errClosed)
	if p.child != nil {
		p.child.end(ctx)
	} else {
		p.conn.Close()
	}
	select {
	case <-p.stream.done:
	case <-ctx.Done():
	}
}
