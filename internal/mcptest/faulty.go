package mcptest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Tools of a [Faulty] server: one that is not marked, one that changes nothing
// and one that may be repeated.
const (
	FaultyWrite = "write"
	FaultyRead  = "read"
	FaultySet   = "set"
)

// Faulty is an MCP server over streamable HTTP (revision 2025-11-25, without
// sessions) that misbehaves on command. It behaves correctly except for the
// configured faults of tool calls and connections. Each request has a
// connection of its own. It is safe for concurrent use.
type Faulty struct {
	URL string

	tb      testing.TB
	server  *http.Server
	address string
	done    chan struct{} // closed at the end
	asked   chan struct{} // holds an element once a client has asked for a stream

	mu       sync.Mutex
	listener *faultyListener
	next     []Fault
	always   Fault
	calls    []string // tools that were called
	met      int      // connections that were reset before anything was read
	resets   int      // how many more to treat like that
}

// NewFaulty starts a server that ends with the test.
func NewFaulty(tb testing.TB) *Faulty {
	tb.Helper()
	f := NewFaultyHandler(tb)
	f.server = &http.Server{Handler: f}
	f.server.SetKeepAlivesEnabled(false)
	f.address = "127.0.0.1:0"
	f.Accept()
	f.URL = "http://" + f.address + "/mcp"
	tb.Cleanup(func() { f.server.Close() })
	return f
}

// NewFaultyHandler returns a server without an address, for a listener of the
// test's own. Refuse, Accept and ResetBefore need one that NewFaulty started.
func NewFaultyHandler(tb testing.TB) *Faulty {
	f := &Faulty{tb: tb, done: make(chan struct{}), asked: make(chan struct{}, 1), always: Good}
	tb.Cleanup(func() { close(f.done) })
	return f
}

// Refuse makes the server refuse connections, until Accept.
func (f *Faulty) Refuse() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listener.Close()
}

// Accept makes the server take connections, at the address where it began.
func (f *Faulty) Accept() {
	f.tb.Helper()
	l, err := net.Listen("tcp", f.address)
	if err != nil {
		f.tb.Fatal(err)
	}
	f.mu.Lock()
	f.address = l.Addr().String()
	f.listener = &faultyListener{l, f}
	f.mu.Unlock()
	go f.server.Serve(f.listener)
}

// ResetBefore makes the server reset the next n connections before it has read
// anything. It waits until the client, which has a session, has asked for its stream,
// for which it takes a connection too.
func (f *Faulty) ResetBefore(n int) {
	<-f.asked
	f.mu.Lock()
	defer f.mu.Unlock()
	f.resets = n
}

// Next sets the faults of the next calls of tools, one each.
func (f *Faulty) Next(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = append(f.next, faults...)
}

// Always sets the fault of all calls that Next does not cover; the default is
// [Good].
func (f *Faulty) Always(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.always = fault
}

// Calls returns how many calls of tools it has read to their end.
func (f *Faulty) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

// Resets returns how many connections it has reset before it read anything.
func (f *Faulty) Resets() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.met
}

// faultyListener resets the connections that are to be reset.
type faultyListener struct {
	net.Listener
	server *Faulty
}

func (l *faultyListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		f := l.server
		f.mu.Lock()
		reset := f.resets > 0
		if reset {
			f.resets--
			f.met++
		}
		f.mu.Unlock()
		if !reset {
			return conn, nil
		}
		resetConn(conn)
	}
}

// resetConn closes a connection with RST.
func resetConn(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}

// ServeHTTP answers one request.
func (f *Faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		select {
		case f.asked <- struct{}{}:
		default:
		}
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(r.Body)
	var m message
	if err != nil || json.Unmarshal(body, &m) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c := &FaultyCall{w: w, r: r, id: string(m.ID), done: f.done}
	switch {
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "initialize":
		c.json(c.answer(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"faulty","version":"1.0.0"}}`))
	case m.Method == "tools/list":
		c.json(c.answer(fmt.Sprintf(`{"tools":[{"name":%q,"inputSchema":{"type":"object"}},`+
			`{"name":%q,"inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},`+
			`{"name":%q,"inputSchema":{"type":"object"},"annotations":{"idempotentHint":true}}]}`, FaultyWrite, FaultyRead, FaultySet)))
	case m.Method == "tools/call":
		var p struct {
			Name string `json:"name"`
		}
		_ = json.Unmarshal(m.Params, &p)
		f.mu.Lock()
		f.calls = append(f.calls, p.Name)
		c.number = len(f.calls)
		fault := f.always
		if len(f.next) > 0 {
			fault, f.next = f.next[0], f.next[1:]
		}
		f.mu.Unlock()
		fault(c)
	default:
		c.json(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, c.id))
	}
}

// Fault is what a [Faulty] server does with one call of a tool, which it has
// read to its end.
type Fault func(*FaultyCall)

// FaultyCall is one call of a tool that a [Faulty] server has to answer.
type FaultyCall struct {
	w      http.ResponseWriter
	r      *http.Request
	id     string // as JSON
	number int    // of this call among all, from 1
	done   <-chan struct{}
}

func (c *FaultyCall) answer(result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, c.id, result)
}

// result is a good one, with the number of the call and more text.
func (c *FaultyCall) result(more string) string {
	return fmt.Sprintf(`{"content":[{"type":"text","text":"call %d%s"}]}`, c.number, more)
}

func (c *FaultyCall) json(body string) {
	c.w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(c.w, body)
}

// raw answers with bytes of its own, and then ends the connection.
func (c *FaultyCall) raw(reset bool, parts ...string) {
	conn, _, err := http.NewResponseController(c.w).Hijack()
	if err != nil {
		panic("mcptest: " + err.Error())
	}
	for _, p := range parts {
		_, _ = io.WriteString(conn, p)
	}
	if reset {
		resetConn(conn)
	} else {
		conn.Close()
	}
}

// gone waits until the client has gone or the server ends.
func (c *FaultyCall) gone() {
	select {
	case <-c.r.Context().Done():
	case <-c.done:
	}
}

// Good answers well: the text is "call N", N being the number of the call.
func Good(c *FaultyCall) { c.json(c.answer(c.result(""))) }

// ToolError answers with a result that has isError.
func ToolError(c *FaultyCall) {
	c.json(c.answer(`{"content":[{"type":"text","text":"the tool failed"}],"isError":true}`))
}

// Reset resets the connection in the place of an answer.
func Reset(c *FaultyCall) { c.raw(true) }

// Close closes the connection in the place of an answer.
func Close(c *FaultyCall) { c.raw(false) }

// Hang never answers.
func Hang(c *FaultyCall) { c.gone() }

// Status answers with an HTTP status and headers, names and values in turn.
func Status(code int, headers ...string) Fault {
	return func(c *FaultyCall) {
		for i := 0; i+1 < len(headers); i += 2 {
			c.w.Header().Set(headers[i], headers[i+1])
		}
		http.Error(c.w, "as told", code)
	}
}

// ErrorCode answers with an error of JSON-RPC.
func ErrorCode(code int) Fault {
	return func(c *FaultyCall) {
		c.json(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"as told"}}`, c.id, code))
	}
}

// Half closes the connection in the middle of the answer.
func Half(c *FaultyCall) {
	body := c.answer(c.result(""))
	c.raw(false, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: "+
		strconv.Itoa(len(body))+"\r\n\r\n", body[:len(body)/2])
}

// HalfStream closes the connection in the middle of an event that has the
// answer.
func HalfStream(c *FaultyCall) {
	body := c.answer(c.result(""))
	c.raw(false, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n", "data: "+body[:len(body)/2])
}

// Garbage answers with something that is not JSON.
func Garbage(c *FaultyCall) { c.json("Traceback (most recent call last):") }

// Page answers with a web page.
func Page(c *FaultyCall) {
	c.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(c.w, "<html><body>Down for maintenance</body></html>")
}

// Drip answers well, byte by byte with a pause before each.
func Drip(pause time.Duration) Fault {
	return func(c *FaultyCall) {
		c.w.Header().Set("Content-Type", "application/json")
		out := http.NewResponseController(c.w)
		for _, b := range []byte(c.answer(c.result(""))) {
			select {
			case <-time.After(pause):
			case <-c.r.Context().Done():
				return
			case <-c.done:
				return
			}
			_, _ = c.w.Write([]byte{b})
			_ = out.Flush()
		}
	}
}

// Huge answers with a text of so many bytes.
func Huge(bytes int) Fault {
	return func(c *FaultyCall) {
		text := make([]byte, bytes)
		for i := range text {
			text[i] = 'x'
		}
		c.json(c.answer(c.result(string(text))))
	}
}

// WrongID answers with an id that no request has.
func WrongID(c *FaultyCall) {
	c.json(`{"jsonrpc":"2.0","id":"nobody","result":` + c.result("") + `}`)
}

// Twice answers twice, the second time with something else.
func Twice(c *FaultyCall) {
	c.w.Header().Set("Content-Type", "text/event-stream")
	for _, which := range []string{", first answer", ", second answer"} {
		_, _ = io.WriteString(c.w, "data: "+c.answer(c.result(which))+"\n\n")
	}
}
