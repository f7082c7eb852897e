package config

import (
	"fmt"
	"math"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// transports gives each spelling of an entry's type.
var transports = map[string]string{
	"stdio": Stdio,
	"http":  HTTP, "streamableHttp": HTTP, "streamable-http": HTTP,
	"sse":       SSE,
	"websocket": WebSocket, "ws": WebSocket,
}

var (
	processFields = []string{"command", "args", "env", "inheritEnv", "cwd"}
	remoteFields  = []string{"url", "headers", "requestInit"}
	commonFields  = []string{
		"type", "connectTimeoutMs", "timeoutMs", "maxCallTimeMs", "maxConcurrency", "maxMessageBytes",
		"eager", "tools", "namePrefix",
	}
	// Settings of the language that this version has not got; to leave one out
	// in silence would change what the author relies on.
	unsupportedFields = []string{
		"retry", "retryUnsafe", "circuitBreaker", "rateLimit", "cache", "auth", "forwardHeaders", "forwardMeta", "session",
	}
	// Fields that other programs have in such entries.
	foreignFields = []string{
		"disabled", "enabled", "autoApprove", "alwaysAllow", "timeout", "envFile", "description", "name", "dev", "gallery",
		"icon", "note", "metadata",
	}
	entryFields = slices.Concat(processFields, remoteFields, commonFields)
)

// servers gives the map of upstream servers of a file, under either of its
// names; nil where there is none.
func (d *decoder) servers(root *Node) *Node {
	current, older := root.Get("mcpServers"), root.Get("servers")
	if current != nil && older != nil {
		f, _ := root.Field("servers")
		g, _ := root.Field("mcpServers")
		p := f.Key.Problem(diag.CodeConflict, `"servers" and "mcpServers" mean the same and cannot stand together`)
		p.Hint = `put all entries under "mcpServers"`
		p.Related = []diag.Related{{File: g.Key.File(), Pos: g.Key.Pos(), Message: `"mcpServers" is here`}}
		d.report(p)
	}
	if current != nil {
		return d.optional(root, "mcpServers", Map)
	}
	return d.optional(root, "servers", Map)
}

// upstreams decodes the entries of a map for which wanted holds; nil wants all.
func (d *decoder) upstreams(entries *Node, wanted func(name string) bool) []*Upstream {
	var us []*Upstream
	for _, f := range entries.Fields() {
		name := f.Key.String()
		if IsFree(name) || wanted != nil && !wanted(name) {
			continue
		}
		if f.Value.Kind() != Map {
			d.report(f.Value.Expected(fmt.Sprintf("server %q", name), "a map"))
			continue
		}
		us = append(us, d.upstream(f.Key, f.Value))
	}
	return us
}

func (d *decoder) upstream(name Text, n *Node) *Upstream {
	u := &Upstream{
		Name: name.String(), File: name.File(), Pos: name.Pos(),
		InheritEnv: Inherit{All: true},
	}
	e := &entry{environment{d, &u.Secrets}, fmt.Sprintf("server %q", u.Name), n}
	e.checkFields()
	u.Transport = e.transport()
	switch u.Transport {
	case Stdio:
		e.meaningless(remoteFields)
		u.Command = e.filled("command")
		u.Args = e.strings("args")
		for _, f := range e.stringMap(n, "env") {
			u.Env = append(u.Env, EnvVar(f))
		}
		u.InheritEnv = e.inherit()
		u.Cwd = e.string("cwd")
	case HTTP, SSE, WebSocket:
		e.decoder.report(e.unsupportedTransport(u.Transport))
		e.meaningless(processFields)
		u.URL = e.url(u.Transport)
		u.Headers = e.headers()
	}
	u.ConnectTimeout = d.milliseconds(n, "connectTimeoutMs", DefaultConnectTimeout)
	u.Timeout = d.milliseconds(n, "timeoutMs", DefaultTimeout)
	u.MaxCallTime = d.milliseconds(n, "maxCallTimeMs", 0)
	u.MaxConcurrency = int(d.whole(n, "maxConcurrency", 0, math.MaxInt32, 0))
	u.MaxMessageBytes = d.whole(n, "maxMessageBytes", 1, 1<<53, DefaultMaxMessageBytes)
	u.Eager = d.boolean(n, "eager", false)
	u.Tools = e.toolFilter()
	u.NamePrefix = e.string("namePrefix")
	return u
}

// entry is one upstream server while it is decoded.
type entry struct {
	environment
	owner string
	n     *Node
}

// checkFields reports the fields that the entry should not have.
func (e *entry) checkFields() {
	for _, f := range e.n.Fields() {
		key := f.Key.String()
		switch {
		case slices.Contains(unsupportedFields, key):
			e.decoder.report(f.Key.Problem(diag.CodeUnsupported,
				fmt.Sprintf("the setting %q of %s is not supported by this version", key, e.owner)))
		case IsFree(key), slices.Contains(entryFields, key):
		case slices.Contains(foreignFields, key):
			p := f.Key.Problem(diag.CodeMeaningless, fmt.Sprintf("%q of %s means nothing here; it is ignored", key, e.owner))
			if key == "timeout" {
				p.Hint = `"timeoutMs" is the time of one call, in milliseconds`
			}
			e.decoder.report(p)
		default:
			valid := entryFields
			if _, near := diag.Nearest(key, valid); !near {
				if _, near := diag.Nearest(key, unsupportedFields); near {
					valid = unsupportedFields
				}
			}
			e.decoder.report(f.Key.Unknown(e.owner, valid))
		}
	}
}

// meaningless reports fields that belong to other transports.
func (e *entry) meaningless(fields []string) {
	for _, name := range fields {
		if f, ok := e.n.Field(name); ok {
			e.decoder.report(f.Key.Problem(diag.CodeMeaningless,
				fmt.Sprintf("%q means nothing for %s, which has another transport; it is ignored", name, e.owner)))
		}
	}
}

// transport tells how the server is reached; "" where that cannot be told.
func (e *entry) transport() string {
	command, hasCommand := e.n.Field("command")
	address, hasURL := e.n.Field("url")
	if f := e.n.Get("type"); f != nil {
		written := e.string("type")
		if written == "" {
			return ""
		}
		t, ok := transports[written]
		switch {
		case !ok:
			// What it was expanded to may be a secret.
			e.decoder.report(e.unknownTransport(f, f.Text().String()))
		case t == Stdio && !hasCommand:
			e.decoder.report(e.incomplete(fmt.Sprintf(`%s has the type %q but no "command"`, e.owner, written)))
		case t != Stdio && !hasURL:
			e.decoder.report(e.incomplete(fmt.Sprintf(`%s has the type %q but no "url"`, e.owner, written)))
		}
		return t
	}
	switch {
	case hasCommand && hasURL:
		p := address.Key.Problem(diag.CodeConflict, fmt.Sprintf(`%s has a "command" and a "url"`, e.owner))
		p.Hint = "a server is either a process or an address; \"type\" decides where an entry has both"
		p.Related = []diag.Related{{File: command.Key.File(), Pos: command.Key.Pos(), Message: `"command" is here`}}
		e.decoder.report(p)
		return ""
	case hasCommand:
		return Stdio
	case hasURL:
		return HTTP
	}
	e.decoder.report(e.incomplete(e.owner + ` has neither a "command" nor a "url"`))
	return ""
}

// unsupportedTransport says that only processes can be called, at what says that
// the server is not one.
func (e *entry) unsupportedTransport(transport string) diag.Diagnostic {
	place := e.n
	for _, name := range []string{"type", "url"} {
		if f := e.n.Get(name); f != nil {
			place = f
			break
		}
	}
	p := place.Problem(diag.CodeUnsupported,
		fmt.Sprintf("%s has the transport %q, which is not supported by this version", e.owner, transport))
	p.Hint = `servers that are processes are: "command"`
	return p
}

func (e *entry) incomplete(message string) diag.Diagnostic {
	p := e.n.Problem(diag.CodeServerIncomplete, message)
	p.End = diag.Pos{}
	return p
}

func (e *entry) unknownTransport(f *Node, written string) diag.Diagnostic {
	var valid []string
	for name := range transports {
		valid = append(valid, name)
	}
	p := f.Problem(diag.CodeTransport, fmt.Sprintf("%s has the unknown type %s", e.owner, quoted(written)))
	p.Hint = "valid types are " + diag.List(valid)
	if near, ok := diag.Nearest(written, valid); ok {
		p.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return p
}

// string gives a field that has to be a string where it is there, with its
// variables replaced.
func (e *entry) string(name string) string {
	if e.decoder.str(e.n, name) == "" {
		return ""
	}
	return e.expand(e.n.Get(name).Text())
}

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
	return out
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
	s := e.filled("url")
	if s == "" || strings.Contains(s, "${") {
		return s // reported already
	}
	f := e.n.Get("url")
	u, err := url.Parse(s)
	// The address may hold secrets by now, so messages show it as written.
	written := quoted(f.Text().String())
	switch valid := schemes[transport]; {
	case err != nil || u.Host == "" && slices.Contains(valid, u.Scheme):
		e.decoder.report(f.Problem(diag.CodeValue, fmt.Sprintf("the url %s of %s is not an address", written, e.owner)))
	case !slices.Contains(valid, u.Scheme):
		e.decoder.report(f.Problem(diag.CodeValue, fmt.Sprintf(
			"the url %s of %s does not begin with %s://", written, e.owner, strings.Join(valid, ":// or "))))
	}
	return s
}

func (e *entry) toolFilter() ToolFilter {
	n := e.decoder.optional(e.n, "tools", Map)
	if n == nil {
		return ToolFilter{}
	}
	valid := []string{"allow", "deny"}
	e.decoder.report(unknownFields(n, `"tools" of `+e.owner, valid)...)
	var lists [2][]string
	for i, name := range valid {
		list := e.decoder.optional(n, name, List)
		if list == nil {
			continue
		}
		lists[i] = e.decoder.strings(list, name)
		for _, item := range list.Items() {
			if _, err := path.Match(item.Text().String(), ""); err != nil {
				e.decoder.report(item.Problem(diag.CodeValue, fmt.Sprintf("%s is not a name or glob", quoted(item.Text().String()))))
			}
		}
	}
	return ToolFilter{Allow: lists[0], Deny: lists[1]}
}
