package server

import (
	"context"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// reply is the answer to one POST: a JSON message, or where something is to be
// said before it, a stream of events (MCP 2025-11-25, Transports, Sending
// Messages to the Server).
type reply struct {
	w            http.ResponseWriter
	control      *http.ResponseController
	patience     time.Duration   // that the client has to read each piece
	expires      time.Time       // the access token of the request; zero: never
	held         *memory.Account // what waits for the client
	json, events bool            // what the client accepts

	mu    sync.Mutex
	out   *outbox     // of the stream; nil before it has begun
	quiet *time.Timer // until the client has to be shown that it was not forgotten; nil: it need not be
	ended bool

	broken chan struct{} // closed when the stream's client cannot be written to
}

// keepAlive is how long nothing may be sent for while a call runs or a stream
// stands. Proxies give up on answers that are silent for a minute, some sooner.
const keepAlive = 15 * time.Second

func newReply(w http.ResponseWriter, r *http.Request, patience time.Duration, expires time.Time, held *memory.Account) *reply {
	p := &reply{w: w, patience: patience, expires: expires, held: held, control: http.NewResponseController(w)}
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if accept == "" {
		accept = "*/*"
	}
	for part := range strings.SplitSeq(accept, ",") {
		kind, _, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		p.json = p.json || kind == "application/json" || kind == "application/*" || kind == "*/*"
		p.events = p.events || kind == "text/event-stream" || kind == "text/*" || kind == "*/*"
	}
	return p
}

// expect says that the answer may take a while. A client that accepts streams
// then gets a comment now and then, which means nothing (HTML standard,
// Server-sent events, Authoring notes).
func (p *reply) expect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.events && p.quiet == nil {
		p.quiet = time.AfterFunc(keepAlive, p.comment)
	}
}

// comment sends a comment.
func (p *reply) comment() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.stream()
	p.out.add([]byte{':', '\n'})
	p.quiet.Reset(keepAlive)
}

// whole answers with one JSON message.
func (p *reply) whole(status int, message []byte) {
	header := p.w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(message)))
	header.Set("Cache-Control", "no-store")
	p.w.WriteHeader(status)
	_ = p.write(message) // a client that is gone needs no answer
}

// accepted answers what needs no answer.
func (p *reply) accepted() {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.patience))
	p.w.WriteHeader(http.StatusAccepted)
}

// deadline returns until when the client has to read the next piece: no answer is
// sent much longer than its access token lasts.
func (p *reply) deadline() time.Time {
	at := time.Now().Add(p.patience)
	if last := p.expires.Add(expiryGrace); !p.expires.IsZero() && last.Before(at) {
		return last
	}
	return at
}

// write sends b in pieces, each within its time: how long a client may take for
// an answer depends on the length of it. What follows has no time to keep to
// until the next write.
func (p *reply) write(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), coalesce)
		_ = p.control.SetWriteDeadline(p.deadline())
		if _, err := p.w.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// event sends a message before the answer, where the client accepts streams, and
// reports whether it still takes any. It takes the message over, and does not
// wait for the client.
func (p *reply) event(message []byte) bool {
	if !p.events {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stream()
	taken := p.out.offer(event(message))
	if p.quiet != nil && !p.ended {
		p.quiet.Reset(keepAlive)
	}
	return taken
}

// unread returns how many bytes wait for the client.
func (p *reply) unread() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil {
		return 0
	}
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	return int64(p.out.waiting)
}

// event renders a message as an event whose second newline the outbox adds.
func event(message []byte) []byte {
	return append(append(make([]byte, 0, len(message)+8), "data: "...), append(message, '\n')...)
}

// hold waits until the client of a stream has gone, or ctx or one of the others
// says that it is over; or until somebody else may come in than at that time, when
// it reports true.
func (p *reply) hold(ctx context.Context, quit, quiet <-chan struct{}, at admission) bool {
	select {
	case <-ctx.Done():
	case <-quit:
	case <-quiet:
	case <-p.broken:
		_ = p.control.SetWriteDeadline(time.Now()) // nothing is waited for
	case <-at.published.over:
		return true
	case <-at.changed:
		return true
	}
	return false
}

// abandon ends a stream without an answer.
func (p *reply) abandon() {
	p.mu.Lock()
	p.ended = true
	p.quiet.Stop()
	p.out.close()
	p.mu.Unlock()
	_ = p.control.SetWriteDeadline(time.Now().Add(time.Second))
	<-p.out.done
}

// stream begins the stream of events, once.
func (p *reply) stream() {
	if p.out != nil {
		return
	}
	header := p.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // proxies of nginx's kind must not collect events
	p.w.WriteHeader(http.StatusOK)
	broken := make(chan struct{})
	p.broken, p.out = broken, newOutbox(flushed{p}, maxUnreadEvents, p.held, func(error) { close(broken) })
}

// end sends the answer, and waits until it is written.
func (p *reply) end(status int, message []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.quiet != nil {
		p.quiet.Stop()
	}
	if p.out == nil && p.json {
		p.whole(status, message)
		return
	}
	p.stream()
	// The message is counted already, and can be too long to be copied.
	p.out.addCounted(func() {}, []byte("data: "), message, []byte{'\n'})
	p.out.close()
	<-p.out.done
}

// flushed writes to the client at once, within its time.
type flushed struct{ *reply }

func (f flushed) Write(b []byte) (int, error) {
	if err := f.write(b); err != nil {
		return 0, err
	}
	err := f.control.Flush()
	// A deadline that passes while nothing is written would end a stream of HTTP/2.
	_ = f.control.SetWriteDeadline(time.Time{})
	return len(b), err
}
