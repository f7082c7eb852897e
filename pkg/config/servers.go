package config

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// transports gives each spelling of an entry's type.
var transports = map[string]string{
	"stdio": Stdio,
	"http":  HTTP, "streamableHttp": HTTP, "streamable-http": HTTP,
	"sse":       SSE,
	"websocket": WebSocket, "ws": WebSocket,
}

var (
	processFields = names(processSettings)
	remoteFields  = names(remoteSettings)
	// Settings of servers that HTTP requests go to. What a caller sent, or a
	// credential, has no way to a process but its environment.
	credentialFields = names(credentialSettings)
	// Fields that other programs have in such entries.
	foreignFields = []string{
		"autoApprove", "alwaysAllow", "alwaysLoad", "description", "name", "dev", "gallery", "icon", "note", "metadata",
		"version", "oauth", "headersHelper", "trust", "authProviderType", "targetAudience", "targetServiceAccount",
		"source", "settings", "sandbox", "sandboxEnabled", "watchPaths", "$schema", "extensionName",
	}
	entryFields = names(entrySettings)
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
		e := &entry{environment{decoder: d, secrets: &[]string{}}, fmt.Sprintf("server %q", name), f.Value}
		if e.isDisabled() {
			d.file.Disabled = append(d.file.Disabled, &Upstream{Name: name, File: f.Key.File(), Pos: f.Key.Pos()})
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
		e.meaningless([]string{"session"})
		e.noCredentials()
		program, command := e.program()
		inner := &entry{e.environment, e.owner, program}
		u.Command = inner.filled(command)
		u.Args = inner.strings("args")
		e.keepArgs(u.Args)
		u.Env = e.envFile()
		for _, f := range e.stringMap(program, "env") {
			e.keepNamed(f.Name, f.Value)
			u.Env = append(slices.DeleteFunc(u.Env, func(v EnvVar) bool { return v.Name == f.Name }), EnvVar(f))
		}
		u.InheritEnv = e.inherit()
		u.Cwd = e.string("cwd")
	case HTTP, SSE, WebSocket:
		e.meaningless(processFields)
		u.URL = e.url(u.Transport)
		u.MayBeSSE = u.Transport == HTTP && e.typeNode() == nil && n.Get("httpUrl") == nil
		u.Headers = e.headers()
		u.ForwardHeaders = e.forwards("forwardHeaders", true)
		u.ForwardMeta = e.forwards("forwardMeta", false)
		if !e.foreignAuth() {
			u.Auth = e.auth()
		}
		if u.Transport == HTTP {
			u.Session = e.session()
		} else {
			e.meaningless([]string{"session"})
		}
	}
	u.ConnectTimeout = d.milliseconds(n, "connectTimeoutMs", DefaultConnectTimeout)
	u.Timeout = e.timeout()
	u.MaxCallTime = d.milliseconds(n, "maxCallTimeMs", 0)
	u.MaxConcurrency = int(d.whole(n, "maxConcurrency", 0, math.MaxInt32, 0))
	u.MaxMessageBytes = d.whole(n, "maxMessageBytes", 1, 1<<53, DefaultMaxMessageBytes)
	u.Eager = d.boolean(n, "eager", false)
	u.Tools = e.toolFilter()
	u.NamePrefix = e.string("namePrefix")
	u.Retry = e.retry()
	u.RetryUnsafe = d.boolean(n, "retryUnsafe", false)
	u.CircuitBreaker = e.circuitBreaker()
	u.RateLimit = e.rateLimit(u.Tools)
	u.Cache = e.cache(u.Tools)
	if f, ok := n.Field("retryUnsafe"); ok && u.RetryUnsafe && n.Get("retry") == nil {
		d.report(f.Key.Problem(diag.CodeMeaningless, fmt.Sprintf(`"retryUnsafe" of %s means nothing without "retry"`, e.owner)))
	}
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
	var ignored []Text // of another program's file
	for _, f := range e.n.Fields() {
		key := f.Key.String()
		switch {
		case IsFree(key), slices.Contains(entryFields, key) && !(key == "auth" && e.foreignAuth()):
		case e.decoder.foreign:
			ignored = append(ignored, f.Key)
		case slices.Contains(foreignFields, key):
			e.decoder.report(f.Key.Problem(diag.CodeMeaningless, fmt.Sprintf("%q of %s means nothing here; it is ignored", key, e.owner)))
		default:
			e.decoder.report(f.Key.Unknown(e.owner, entryFields))
		}
	}
	if len(ignored) > 0 {
		e.reportIgnored(ignored)
	}
}

// reportIgnored reports the fields of another program's entry that mean nothing here.
func (e *entry) reportIgnored(keys []Text) {
	quotedKeys := make([]string, len(keys))
	for i, k := range keys {
		quotedKeys[i] = fmt.Sprintf("%q", k.String())
	}
	message := fmt.Sprintf("%s of %s means nothing here; it is ignored", quotedKeys[0], e.owner)
	if len(keys) > 1 {
		message = fmt.Sprintf("%s of %s mean nothing here; they are ignored", strings.Join(quotedKeys, ", "), e.owner)
	}
	p := keys[0].Problem(diag.CodeMeaningless, message)
	for _, k := range keys {
		if near, ok := diag.Nearest(k.String(), entryFields); ok && !slices.Contains(foreignFields, k.String()) {
			p.Hint = fmt.Sprintf("%q: did you mean %q?", k.String(), near)
			break
		}
	}
	e.decoder.report(p)
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

// noCredentials reports credentials for a process, to which none can be sent.
func (e *entry) noCredentials() {
	for _, name := range credentialFields {
		if f, ok := e.n.Field(name); ok {
			p := f.Key.Problem(diag.CodeConflict, fmt.Sprintf("%s is a process, to which %q has no way", e.owner, name))
			p.Hint = `processes get their credentials in "env"`
			e.decoder.report(p)
		}
	}
}

// transport tells how the server is reached; "" where that cannot be told.
func (e *entry) transport() string {
	command, hasCommand := e.n.Field("command")
	address := e.address()
	hasURL := address != nil
	if f := e.typeNode(); f != nil {
		written := ""
		if f.IsString() {
			written = e.expand(f.Text())
		} else {
			e.decoder.report(e.decoder.notAString(f, "type"))
		}
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
		if scheme, _, _ := strings.Cut(address.Value.Text().String(), "://"); slices.Contains(schemes[WebSocket], scheme) {
			return WebSocket
		}
		return HTTP
	}
	e.decoder.report(e.incomplete(e.owner + ` has neither a "command" nor a "url"`))
	return ""
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
