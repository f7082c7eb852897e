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
		if isCredential(h.Name) {
			// Of "Bearer TOKEN" the token: it may appear without the scheme.
			_, secret, found := strings.Cut(h.Value, " ")
			if !found {
				secret = h.Value
			}
			s.addSecret(secret)
		}
	}
	return out
}

// credentialWords appear in the names of credentials.
var credentialWords = []string{"authorization", "cookie", "token", "secret", "password", "api-key", "apikey"}

// isCredential reports whether a header, variable or parameter with this name
// holds a credential, even if its value is written in the file.
func isCredential(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	return slices.ContainsFunc(credentialWords, func(word string) bool { return strings.Contains(name, word) })
}

// minNamedSecret is the shortest value of a variable or parameter that counts
// as a secret because of its name: MAX_TOKENS=100 is none.
const minNamedSecret = 8

// addNamedSecret adds a value to the secrets if its name is that of a
// credential.
func (s *section) addNamedSecret(name, val string) {
	if isCredential(name) && len(val) >= minNamedSecret {
		s.addSecret(val)
	}
}

// nonSecretSuffixes end the names of options that locate a credential without
// containing it.
var nonSecretSuffixes = []string{"file", "path", "dir", "env", "url", "command"}

// addArgumentSecrets adds the credentials among the arguments of a program:
// --token=VALUE, and --token VALUE if VALUE is not an option.
func (s *section) addArgumentSecrets(args []string) {
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		name, val, found := strings.Cut(arg, "=")
		if !found && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			val = args[i+1]
		}
		if !slices.ContainsFunc(nonSecretSuffixes, func(word string) bool { return strings.HasSuffix(name, word) }) {
			s.addNamedSecret(name, val)
		}
	}
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
