package cli

import (
	"net"
	"strconv"

	"github.com/mcpgraph/mcpgraph/internal/loopback"
)

// address is where a command listens, as one of its flags says.
type address struct {
	flag string // such as --http
	text string // HOST:PORT
}

// split returns host and port; the host of :PORT is this machine. The error is one of
// usage.
func (a address) split() (host, port string, err error) {
	host, port, err = net.SplitHostPort(a.text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", "", usagef("%s %s: expected HOST:PORT, such as 127.0.0.1:8080", a.flag, a.text)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return host, port, nil
}

// listen opens the port at which a command serves something. Every command that
// listens does it here. exposed is asked if other machines reach the address; its error
// is returned then.
func listen(a address, exposed func() error) (net.Listener, error) {
	host, port, err := a.split()
	if err != nil {
		return nil, err
	}
	if !loopback.Is(host) {
		if err := exposed(); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, failedf("%s %s: %w", a.flag, a.text, err)
	}
	return l, nil
}
