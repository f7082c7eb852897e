// Package loopback tells which hosts are this machine alone.
package loopback

import (
	"net/netip"
	"strings"
)

// Is reports whether only this machine can reach an address with this host: a name
// or an IP address without port and brackets.
func Is(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
