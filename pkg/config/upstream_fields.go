package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// decodeHeaders returns "headers" and those of "requestInit" that are not in it.
// Header names are case-insensitive (RFC 9110, 5.1).
func decodeHeaders(s *section) []Header {
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
		addHeaderSecret(s, h)
	}
	return out
}

func decodeInheritEnv(s *section) Inherit {
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

// decodeURL returns the URL of a server that is reached over the network.
func decodeURL(s *section, transport string) string {
	field := addressField(s)
	if field == nil {
		return "" // reported already
	}
	name := field.Key.String()
	address := s.string(name)
	if address == "" && field.Value.IsString() {
		reportEmpty(s, name)
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
		addSecretOf(s, address)
		for segment := range strings.SplitSeq(u.Path, "/") {
			addSecretOf(s, segment)
		}
		for name, values := range u.Query() {
			for _, v := range values {
				addNamedSecret(s, name, v)
			}
		}
	}
	return address
}

// decodeToolFilter returns the tools that nodes may call, from "tools" and from what
// other programs write.
func decodeToolFilter(s *section) ToolFilter {
	out := ToolFilter{}
	addForeignFilter(s, &out)
	if list := s.node.Get("tools"); list != nil && list.Kind() == List { // GitHub Copilot's form of allow
		out.Allow = append(decodeGlobs(s, "tools"), out.Allow...)
		return out
	}
	tools := s.subsection("tools")
	if tools == nil {
		return out
	}
	if tools.has("allow") {
		if allow := decodeGlobs(tools, "allow"); allow != nil {
			out.Allow = append(allow, out.Allow...)
		}
	}
	out.Deny = append(decodeGlobs(tools, "deny"), out.Deny...)
	return out
}
