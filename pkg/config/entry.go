package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// string gives a field that has to be a string where it is there, with its
// variables replaced.
func (e *entry) string(name string) string {
	if e.decoder.str(e.n, name) == "" {
		return ""
	}
	if slices.Contains(addresses, name) {
		return e.expandURL(e.n.Get(name).Text())
	}
	return e.expand(e.n.Get(name).Text())
}

// addresses names the fields that are addresses.
var addresses = []string{"url", "serverUrl", "httpUrl", "issuer", "tokenUrl", "authorizationUrl"}

// filled is string for a field without which there is no server.
func (e *entry) filled(name string) string {
	s := e.string(name)
	if f := e.n.Get(name); s == "" && f.IsString() {
		e.decoder.report(f.Problem(diag.CodeServerIncomplete, fmt.Sprintf("the %s of %s is empty", name, e.owner)))
	}
	return s
}

// scalar gives a string, or a number or boolean as it was written: what a
// process or an HTTP request gets is text anyway, and PORT: 8080 says enough.
func (e *entry) scalar(n *Node, what string) string {
	switch n.Value().Kind() {
	case value.String:
		return e.expand(n.Text())
	case value.Number, value.Bool:
		return n.Text().String()
	}
	e.decoder.report(n.Expected(what, "a string"))
	return ""
}

func (e *entry) strings(name string) []string {
	list := e.decoder.optional(e.n, name, List)
	if list == nil {
		return nil
	}
	out := make([]string, len(list.Items()))
	for i, n := range list.Items() {
		out[i] = e.scalar(n, fmt.Sprintf("an element of %q", name))
	}
	return out
}

type pair struct{ Name, Value string }

func (e *entry) stringMap(n *Node, name string) []pair {
	var out []pair
	for _, f := range e.decoder.optional(n, name, Map).Fields() {
		out = append(out, pair{f.Key.String(), e.scalar(f.Value, fmt.Sprintf("%q of %q", f.Key.String(), name))})
	}
	return out
}

// headers gives "headers" and, of "requestInit", those that it has not got.
// Names of headers are the same in any case (RFC 9110, 5.1).
func (e *entry) headers() []Header {
	var out []Header
	add := func(pairs []pair) {
		for _, p := range pairs {
			if !slices.ContainsFunc(out, func(h Header) bool { return strings.EqualFold(h.Name, p.Name) }) {
				out = append(out, Header(p))
			}
		}
	}
	add(e.stringMap(e.n, "headers"))
	if init := e.decoder.optional(e.n, "requestInit", Map); init != nil {
		for _, f := range init.Fields() {
			if f.Key.String() != "headers" && !IsFree(f.Key.String()) {
				e.decoder.report(f.Key.Problem(diag.CodeMeaningless, fmt.Sprintf(
					`%q in "requestInit" of %s means nothing here; it is ignored`, f.Key.String(), e.owner)))
			}
		}
		add(e.stringMap(init, "headers"))
	}
	for _, h := range out {
		if isCredential(h.Name) {
			// Of "Bearer TOKEN" the token, which may be shown alone.
			_, secret, found := strings.Cut(h.Value, " ")
			if !found {
				secret = h.Value
			}
			e.keep(secret)
		}
	}
	return out
}

// credentialWords are what names of credentials hold.
var credentialWords = []string{"authorization", "cookie", "token", "secret", "password", "api-key", "apikey"}

// isCredential reports whether a header, variable or parameter with this name
// holds a credential, also where it is written in the file itself.
func isCredential(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	return slices.ContainsFunc(credentialWords, func(word string) bool { return strings.Contains(name, word) })
}

// minNamed is the length from which the value of a variable or parameter whose
// name sounds like a credential counts as one. MAX_TOKENS=100 is none.
const minNamed = 8

// keepNamed is keep for a value whose name tells whether it is a secret.
func (e *entry) keepNamed(name, val string) {
	if isCredential(name) && len(val) >= minNamed {
		e.keep(val)
	}
}

// keptElsewhere are the last words of options that say where a credential is,
// and are none.
var keptElsewhere = []string{"file", "path", "dir", "env", "url", "command"}

// keepArgs is keepNamed for the options among the arguments of a program:
// --token=VALUE, and --token VALUE where VALUE is no option.
func (e *entry) keepArgs(args []string) {
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		name, val, found := strings.Cut(arg, "=")
		if !found && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			val = args[i+1]
		}
		if !slices.ContainsFunc(keptElsewhere, func(word string) bool { return strings.HasSuffix(name, word) }) {
			e.keepNamed(name, val)
		}
	}
}

func (e *entry) inherit() Inherit {
	f := e.n.Get("inheritEnv")
	switch {
	case f == nil:
		return Inherit{All: true}
	case f.Value().Kind() == value.Bool:
		return Inherit{All: f.Value().Bool()}
	case f.Kind() == List:
		return Inherit{Names: e.decoder.strings(f, "inheritEnv")}
	}
	e.decoder.report(f.Expected(`"inheritEnv"`, "true, false or a list of names"))
	return Inherit{All: true}
}

// schemes holds the schemes that the addresses of a transport have.
var schemes = map[string][]string{
	HTTP: {"http", "https"}, SSE: {"http", "https"}, WebSocket: {"ws", "wss"},
}

func (e *entry) url(transport string) string {
	address := e.address()
	if address == nil {
		return "" // reported already
	}
	name := address.Key.String()
	s := e.filled(name)
	if s == "" || strings.Contains(s, "${") {
		return s // reported already
	}
	f := e.n.Get(name)
	u, err := url.Parse(s)
	// The address may hold secrets by now, so messages show it as written.
	written := quoted(f.Text().String())
	switch valid := schemes[transport]; {
	case err != nil || u.Host == "" && slices.Contains(valid, u.Scheme):
		e.decoder.report(f.Problem(diag.CodeValue, fmt.Sprintf("the url %s of %s is not an address", written, e.owner)))
	case !slices.Contains(valid, u.Scheme):
		e.decoder.report(f.Problem(diag.CodeValue, fmt.Sprintf(
			"the url %s of %s does not begin with %s://", written, e.owner, strings.Join(valid, ":// or "))))
	default:
		for name, values := range u.Query() {
			for _, v := range values {
				e.keepNamed(name, v)
			}
		}
	}
	return s
}

func (e *entry) toolFilter() ToolFilter {
	out := ToolFilter{}
	e.foreignFilter(&out)
	if list := e.n.Get("tools"); list != nil && list.Kind() == List { // GitHub Copilot's spelling of allow
		out.Allow = append(out.Allow, e.globs(list, "tools")...)
		return out
	}
	n := e.decoder.optional(e.n, "tools", Map)
	if n == nil {
		return out
	}
	valid := []string{"allow", "deny"}
	e.decoder.report(unknownFields(n, `"tools" of `+e.owner, valid)...)
	var lists [2][]string
	for i, name := range valid {
		list := e.decoder.optional(n, name, List)
		if list == nil {
			continue
		}
		lists[i] = e.globs(list, name)
	}
	if lists[0] != nil {
		out.Allow = append(lists[0], out.Allow...)
	}
	out.Deny = append(lists[1], out.Deny...)
	return out
}
