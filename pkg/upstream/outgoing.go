package upstream

import "encoding/json"

// outgoing is a request or notification of ours.
type outgoing struct {
	id     string // a number, which some gateways insist on; empty: a notification
	method string
	params json.RawMessage
	// revision is the protocol's; empty before it is agreed on.
	revision string
	tool     string // that is called, without namePrefix
	// name is the tool's on the wire; what else the server wants in HTTP headers
	// is in mirrored, names and values in turn.
	name     string
	mirrored []string
}

// body returns the message.
func (m *outgoing) body() []byte { return m.append(make([]byte, 0, m.size())) }

// line returns the message with a line's end.
func (m *outgoing) line() []byte { return append(m.append(make([]byte, 0, m.size()+1)), '\n') }

func (m *outgoing) size() int {
	return len(m.params) + len(m.method) + len(m.id) + len(`{"jsonrpc":"2.0","id":"","method":"","params":}`)
}

func (m *outgoing) append(to []byte) []byte {
	to = append(to, `{"jsonrpc":"2.0",`...)
	if m.id != "" {
		to = append(append(append(to, `"id":`...), m.id...), ',')
	}
	to = append(to, `"method":"`...)
	to = append(append(to, m.method...), '"')
	if len(m.params) > 0 {
		to = append(to, `,"params":`...)
		to = append(to, m.params...)
	}
	return append(to, '}')
}
