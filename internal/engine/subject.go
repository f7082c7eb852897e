package engine

import (
	"net/url"
	"strconv"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
)

// subject returns what telemetry needs to know of the file.
func (p *Program) subject() telemetry.Subject {
	servers := map[string]telemetry.Endpoint{}
	for _, u := range p.set.File.Upstreams {
		at := endpoint(u)
		at.Address = p.Redact(nil, at.Address)
		servers[u.Name] = at
	}
	return telemetry.Subject{
		Tool:   p.Has,
		Server: func(name string) telemetry.Endpoint { return servers[name] },
		Redact: p.Redact, Mask: p.MaskArguments,
	}
}

func endpoint(u *config.Upstream) telemetry.Endpoint {
	if u.Transport == config.Stdio {
		return telemetry.Endpoint{Transport: server.Pipe}
	}
	at := telemetry.Endpoint{Transport: server.TCP}
	if where, err := url.Parse(u.URL); err == nil {
		at.Address = where.Hostname()
		at.Port, _ = strconv.Atoi(where.Port()) // 0: the port of the scheme
	}
	return at
}
