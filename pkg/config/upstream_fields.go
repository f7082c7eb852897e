package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// headers returns "headers" and those of "requestInit" that are not in it.
// Header names are case-insensitive (RFC 9110, 5.1).
func (s *section) headers() []Header {
	var out []Header
	add := func(pairs []nameValue) {
		for _, p := range pairs {
			if !slices.ContainsFunc(out, func(h Header) bool { return strings.EqualFold(h.Name, p.Name) }) {
				out = append(out, Header(p))
			}
		}
	}
	add(s.textMap("headers"))
	if n := s.optional("requestInit", Map); n != nil {
		init := &section{s.environment, `"requestInit" of ` + s.owner, n, s.fieldsOf("requestInit")}
		for _, f := range n.Fields() {
			if key := f.Key.String(); key != "headers" && !IsFree(key) {
				s.decoder.report(f.Key.Problem(diag.CodeMeaningless, fmt.Sprintf("%q in %s has no effect in mcpgraph; it is ignored", key, init.owner)))
			}
		}
		add(init.textMap("headers"))
	}
	for _, h := range out {
		s.addHeaderSecret(h)
	}
	return out
}

func (s *section) inheritEnv() Inherit {
	const name = "inheritEnv"
	f := s.node.Get(name)
	switch {
	case f != nil && f.Kind() == List:
		return Inherit{Names: s.strings(name)}
	case f != nil && f.Value().Kind() != value.Bool:
		s.decoder.report(f.Expected(`"inheritEnv"`, "true, false or a list of names"))
		return Inherit{All: true}
	}
	return Inherit{All: s.boolean(name)}
}

// schemes holds the URL schemes of each transport.
var schemes = map[string][]string{
	HTTP: {"http", "https"}, SSE: {"http", "https"}, WebSocket: {"ws", "wss"},
}

// url returns the URL of a server that is reached over the network.
func (s *section) url(transport string) string {
	field := s.addressField()
	if field == nil {
		return "" // reported already
	}
	name := field.Key.String()
	address := s.string(name)
	if address == "" && field.Value.IsString() {
		s.reportEmpty(name)
	}
	if address == "" || strings.Contains(address, "${") {
		return address // reported already
	}
	u, err := url.Parse(address)
	// The expanded URL may contain secrets, so messages show it as written.
	problem := func(what string) {
		s.decoder.report(field.Value.Problem(diag.CodeValue, fmt.Sprintf("the %s of %s %s: %s", name, s.owner, what, quote(field.Value.Text().String()))))
	}
	switch valid := schemes[transport]; {
	case err != nil || u.Host == "" && slices.Contains(valid, u.Scheme):
		problem("is not a valid URL")
	case !slices.Contains(valid, u.Scheme):
		problem("must begin with " + strings.Join(valid, ":// or ") + "://")
	default:
		s.addSecretOf(address)
		for segment := range strings.SplitSeq(u.Path, "/") {
			s.addSecretOf(segment)
		}
		for name, values := range u.Query() {
			for _, v := range values {
				s.addNamedSecret(name, v)
			}
		}
	}
	return address
}

// toolFilter returns the tools that nodes may call, from "tools" and from what
// other programs write.
func (s *section) toolFilter() ToolFilter {
	out := ToolFilter{}
	s.addForeignFilter(&out)
	if list := s.node.Get("tools"); list != nil && list.Kind() == List { // GitHub Copilot's form of allow
		out.Allow = append(s.globs("tools"), out.Allow...)
		return out
	}
	tools := s.subsection("tools")
	if tools == nil {
		return out
	}
	if tools.has("allow") {
		if allow := tools.globs("allow"); allow != nil {
			out.Allow = append(allow, out.Allow...)
		}
	}
	out.Deny = append(tools.globs("deny"), out.Deny...)
	return out
}
