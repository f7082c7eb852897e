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

// httpResponse is the answer to one POST: a JSON message, or an event stream if
// notifications come first (MCP 2025-11-25, Transports, Sending Messages to the
// Server).
type httpResponse struct {
	w                          http.ResponseWriter
	control                    *http.ResponseController
	writeTimeout               time.Duration   // time to read each piece
	expires                    time.Time       // when the access token expires; zero: never
	account                    *memory.Account // memory of unread events
	acceptsJSON, acceptsEvents bool            // from the Accept header

	mu             sync.Mutex
	out            *outbox     // of the event stream; nil before it starts
	keepAliveTimer *time.Timer // until the next keep-alive comment; nil if none is needed
	ended          bool

	disconnected chan struct{} // closed when writing to the client fails
}

// keepAliveInterval is the longest silence on an open response. Many proxies
// close connections after a minute without data, some earlier.
const keepAliveInterval = 15 * time.Second

func newHTTPResponse(w http.ResponseWriter, r *http.Request, writeTimeout time.Duration, expires time.Time, account *memory.Account) *httpResponse {
	p := &httpResponse{w: w, writeTimeout: writeTimeout, expires: expires, account: account, control: http.NewResponseController(w)}
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if accept == "" {
		accept = "*/*"
	}
	for part := range strings.SplitSeq(accept, ",") {
		kind, _, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		p.acceptsJSON = p.acceptsJSON || kind == "application/json" || kind == "application/*" || kind == "*/*"
		p.acceptsEvents = p.acceptsEvents || kind == "text/event-stream" || kind == "text/*" || kind == "*/*"
	}
	return p
}

// startKeepAlive prepares for an answer that may take long. If the client
// accepts event streams, it gets a comment from time to time (HTML standard,
// Server-sent events, Authoring notes).
func (p *httpResponse) startKeepAlive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.acceptsEvents && p.keepAliveTimer == nil {
		p.keepAliveTimer = time.AfterFunc(keepAliveInterval, p.sendKeepAlive)
	}
}

// sendKeepAlive sends a comment, which clients ignore.
func (p *httpResponse) sendKeepAlive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.startStream()
	p.out.add([]byte{':', '\n'})
	p.keepAliveTimer.Reset(keepAliveInterval)
}

// sendJSON answers with one JSON message.
func (p *httpResponse) sendJSON(status int, message []byte) {
	header := p.w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(message)))
	header.Set("Cache-Control", "no-store")
	p.w.WriteHeader(status)
	_ = p.write(message) // if the client has gone, nobody needs the answer
}

// sendAccepted answers a message that expects no answer.
func (p *httpResponse) sendAccepted() {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.writeTimeout))
	p.w.WriteHeader(http.StatusAccepted)
}

// deadline returns when the client must have read the next piece: not long
// after its access token expires.
func (p *httpResponse) deadline() time.Time {
	at := time.Now().Add(p.writeTimeout)
	if last := p.expires.Add(expiryGrace); !p.expires.IsZero() && last.Before(at) {
		return last
	}
	return at
}

// write sends b in pieces and sets a deadline for each, so that the time
// allowed grows with the length. The deadline stays set after it returns.
func (p *httpResponse) write(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), maxWrite)
		_ = p.control.SetWriteDeadline(p.deadline())
		if _, err := p.w.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// sendEvent sends a message as an event. It reports false if the client accepts
// no event stream or no longer reads. It takes ownership of message and does
// not block.
func (p *httpResponse) sendEvent(message []byte) bool {
	if !p.acceptsEvents {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.startStream()
	taken := p.out.tryAdd(encodeEvent(message))
	if p.keepAliveTimer != nil && !p.ended {
		p.keepAliveTimer.Reset(keepAliveInterval)
	}
	return taken
}

// pendingBytes returns how many bytes the client has not read yet.
func (p *httpResponse) pendingBytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil {
		return 0
	}
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	return int64(p.out.pendingBytes)
}

// encodeEvent returns a message as a server-sent event without its last
// newline, which the outbox adds.
func encodeEvent(message []byte) []byte {
	return append(append(make([]byte, 0, len(message)+8), "data: "...), append(message, '\n')...)
}

// wait blocks until the stream must end or the access rules change; it reports
// true for the latter.
func (p *httpResponse) wait(ctx context.Context, quit, stop <-chan struct{}, at accessVersion) bool {
	select {
	case <-ctx.Done():
	case <-quit:
	case <-stop:
	case <-p.disconnected:
		_ = p.control.SetWriteDeadline(time.Now()) // do not wait for the client
	case <-at.published.replaced:
		return true
	case <-at.changed:
		return true
	}
	return false
}

// closeStream ends a stream that has no final answer.
func (p *httpResponse) closeStream() {
	p.mu.Lock()
	p.ended = true
	p.keepAliveTimer.Stop()
	p.out.close()
	p.mu.Unlock()
	_ = p.control.SetWriteDeadline(time.Now().Add(time.Second))
	<-p.out.done
}

// startStream sends the headers of the event stream, once.
func (p *httpResponse) startStream() {
	if p.out != nil {
		return
	}
	header := p.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // nginx must not buffer events
	p.w.WriteHeader(http.StatusOK)
	broken := make(chan struct{})
	p.disconnected, p.out = broken, newOutbox(flushWriter{p}, maxUnreadEvents, p.account, func(error) { close(broken) })
}

// finish sends the answer and waits until it is written.
func (p *httpResponse) finish(status int, message []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.keepAliveTimer != nil {
		p.keepAliveTimer.Stop()
	}
	if p.out == nil && p.acceptsJSON {
		p.sendJSON(status, message)
		return
	}
	p.startStream()
	// The message is accounted for already, and may be too long to copy.
	p.out.addCounted(func() {}, []byte("data: "), message, []byte{'\n'})
	p.out.close()
	<-p.out.done
}

// finishEmpty ends the response to a request that gets no answer: an event stream without
// it, if the client accepts one.
func (p *httpResponse) finishEmpty() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.keepAliveTimer != nil {
		p.keepAliveTimer.Stop()
	}
	if !p.acceptsEvents {
		p.sendAccepted()
		return
	}
	p.startStream()
	p.out.close()
	<-p.out.done
}

// flushWriter writes and flushes, within the write timeout.
type flushWriter struct{ *httpResponse }

func (f flushWriter) Write(b []byte) (int, error) {
	if err := f.write(b); err != nil {
		return 0, err
	}
	err := f.control.Flush()
	// A deadline that passes between two events would end an HTTP/2 stream.
	_ = f.control.SetWriteDeadline(time.Time{})
	return len(b), err
}
