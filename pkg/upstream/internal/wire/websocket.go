package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// How a WebSocket that has nothing to say is kept open, and found out where
// the other end is gone without a word.
const (
	pingEvery = 30 * time.Second
	pingTime  = 30 * time.Second
)

// webSocketConn makes a WebSocket, whose text messages are JSON-RPC messages, look
// like a connection of lines.
type webSocketConn struct {
	conn *websocket.Conn
	life context.Context
	kill context.CancelFunc

	message io.Reader // that is being read; nil between two

	once sync.Once
}

var _ io.ReadWriteCloser = (*webSocketConn)(nil)

// OpenWebSocket opens a link over a WebSocket. ctx bounds only the opening.
func OpenWebSocket(ctx context.Context, o HTTPOptions) (*Stream, error) {
	header := http.Header{}
	if err := o.addHeaders(ctx, header); err != nil {
		return nil, err
	}
	conn, err := dialWebSocket(ctx, o.Client, o.URL, header)
	if err != nil {
		return nil, err
	}
	return OpenConn(conn, o.Limit, o.Log), nil
}

// dialWebSocket opens a WebSocket. ctx bounds only the opening.
func dialWebSocket(ctx context.Context, client *http.Client, address string, header http.Header) (*webSocketConn, error) {
	conn, response, err := websocket.Dial(ctx, address, &websocket.DialOptions{
		HTTPClient: client, HTTPHeader: header, Subprotocols: []string{"mcp"},
	})
	if err != nil {
		if response != nil && response.StatusCode >= 300 {
			return nil, newStatusError(response)
		}
		if around := new(url.Error); errors.As(err, &around) {
			err = around.Err // without the address, which may hold a secret
		}
		return nil, contextError(ctx, err)
	}
	conn.SetReadLimit(-1) // the reader of lines has its own
	f := &webSocketConn{conn: conn}
	f.life, f.kill = context.WithCancel(context.Background())
	go f.ping()
	return f, nil
}

// ping keeps the connection alive and closes it when the other end is gone.
func (f *webSocketConn) ping() {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-f.life.Done():
			return
		case <-ticker.C:
		}
		ctx, cancel := context.WithTimeout(f.life, pingTime)
		err := f.conn.Ping(ctx)
		cancel()
		if err != nil {
			f.Close()
			return
		}
	}
}

// Read reads messages, each as one line.
func (f *webSocketConn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for f.message == nil {
		kind, message, err := f.conn.Reader(f.life)
		switch {
		case websocket.CloseStatus(err) == websocket.StatusNormalClosure, websocket.CloseStatus(err) == websocket.StatusGoingAway:
			return 0, io.EOF
		case err != nil:
			return 0, err
		case kind == websocket.MessageText:
			f.message = message
		default:
			if _, err := io.Copy(io.Discard, message); err != nil {
				return 0, err
			}
		}
	}
	n, err := f.message.Read(b)
	for i, c := range b[:n] {
		if c == '\n' {
			b[i] = ' ' // white space of the message; no string holds it
		}
	}
	if err != io.EOF {
		return n, err
	}
	f.message = nil
	if n == len(b) {
		f.message = bytes.NewReader(nil) // there is no room for the line's end now
		return n, nil
	}
	b[n] = '\n'
	return n + 1, nil
}

// Write writes lines, each as one message.
func (f *webSocketConn) Write(b []byte) (int, error) {
	written := 0
	for line := range bytes.Lines(b) {
		if err := f.conn.Write(f.life, websocket.MessageText, bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return written, fmt.Errorf("a WebSocket message: %w", err)
		}
		written += len(line)
	}
	return written, nil
}

// Close closes the connection, politely if the other end answers soon.
func (f *webSocketConn) Close() error {
	f.once.Do(func() {
		go func() {
			_ = f.conn.Close(websocket.StatusNormalClosure, "")
			f.kill()
		}()
	})
	return nil
}
