package wire

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

// ModernRevision is the revision without handshake and sessions: what a
// handshake used to say goes with each request (MCP of 2026-07-28).
const ModernRevision = mcp.ProtocolVersion20260728

// Message is a request or notification to the server.
type Message struct {
	ID     string // a number, which some gateways insist on; empty: a notification
	Method string
	Params json.RawMessage
	// Revision is the protocol's; empty before it is agreed on.
	Revision string
	Name     string // of the tool that is called; empty if none is
	// Headers are further HTTP headers, names and values in turn.
	Headers []string
}

// body returns the message.
func (m *Message) body() []byte { return m.append(make([]byte, 0, m.size())) }

// line returns the message with a line's end.
func (m *Message) line() []byte { return append(m.append(make([]byte, 0, m.size()+1)), '\n') }

func (m *Message) size() int {
	return len(m.Params) + len(m.Method) + len(m.ID) + len(`{"jsonrpc":"2.0","id":"","method":"","params":}`)
}

func (m *Message) append(to []byte) []byte {
	to = append(to, `{"jsonrpc":"2.0",`...)
	if m.ID != "" {
		to = append(append(append(to, `"id":`...), m.ID...), ',')
	}
	to = append(to, `"method":"`...)
	to = append(append(to, m.Method...), '"')
	if len(m.Params) > 0 {
		to = append(to, `,"params":`...)
		to = append(to, m.Params...)
	}
	return append(to, '}')
}
