package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// transports maps each accepted "type" to its transport.
var transports = map[string]string{
	"stdio": Stdio,
	"http":  HTTP, "streamableHttp": HTTP, "streamable-http": HTTP,
	"sse":       SSE,
	"websocket": WebSocket, "ws": WebSocket,
}

// unusedForeignFields are fields of other programs that have no effect here.
var unusedForeignFields = []string{
	"autoApprove", "alwaysAllow", "alwaysLoad", "description", "name", "dev", "gallery", "icon", "note", "metadata",
	"version", "oauth", "headersHelper", "trust", "authProviderType", "targetAudience", "targetServiceAccount",
	"source", "settings", "sandbox", "sandboxEnabled", "watchPaths", "$schema", "extensionName",
}

// decodeServers returns the map of upstream servers of a file, under either of its
// names; nil if there is none.
func decodeServers(d *decoder, root *Node) *Node {
	current, older := root.Get("mcpServers"), root.Get("servers")
	if current != nil && older != nil {
		f, _ := root.Field("servers")
		g, _ := root.Field("mcpServers")
		p := f.Key.Problem(diag.CodeConflict, `the file has both "servers" and "mcpServers", which mean the same`)
		p.Hint = `put all entries under "mcpServers"`
		p.Related = []diag.Related{{File: g.Key.File(), Pos: g.Key.Pos(), Message: `"mcpServers" is here`}}
		d.report(p)
	}
	if current != nil {
		return d.optional(root, "mcpServers", Map)
	}
	return d.optional(root, "servers", Map)
}

// decodeUpstreams decodes the entries that wanted accepts; nil accepts all.
func decodeUpstreams(d *decoder, entries *Node, wanted func(name string) bool) []*Upstream {
	var us []*Upstream
	for _, f := range entries.Fields() {
		name := f.Key.String()
		if IsFree(name) || wanted != nil && !wanted(name) {
			continue
		}
		owner := "server " + diag.Quote(name)
		if f.Value.Kind() != Map {
			d.report(f.Value.Expected(owner, "a map"))
			continue
		}
		u := &Upstream{Name: name, File: f.Key.File(), Pos: f.Key.Pos(), InheritEnv: Inherit{All: true}}
		// Unknown fields of an entry are not reported as those of other sections.
		s := &section{environment{d, &u.Secrets}, owner, f.Value, upstreamSettings}
		if s.boolean("disabled") || !s.boolean("enabled") {
			d.file.Disabled = append(d.file.Disabled, u)
			continue
		}
		d.unset = &u.Unset
		decodeUpstream(s, u)
		d.unset = nil
		us = append(us, u)
	}
	return us
}

// decodeUpstream decodes an entry of mcpServers.
func decodeUpstream(s *section, u *Upstream) {
	checkFields(s)
	u.Transport = decodeTransport(s)
	switch u.Transport {
	case Stdio:
		reportOtherTransport(s, names(remoteSettings)...)
		reportOtherTransport(s, "session")
		reportProcessCredentials(s)
		decodeProcess(s, u)
	case HTTP, SSE, WebSocket:
		reportOtherTransport(s, names(processSettings)...)
		u.URL = decodeURL(s, u.Transport)
		u.MayBeSSE = u.Transport == HTTP && transportField(s) == nil && !s.has("httpUrl")
		u.Headers = decodeHeaders(s)
		u.ForwardHeaders = decodeForwardRules(s, "forwardHeaders")
		u.ForwardMeta = decodeForwardRules(s, "forwardMeta")
		if !isForeignAuth(s) {
			u.Auth = decodeAuth(s)
		}
		if u.Transport == HTTP {
			u.Session = decodeSession(s)
		} else {
			reportOtherTransport(s, "session")
		}
	}
	u.ConnectTimeout = s.duration("connectTimeoutMs")
	u.Timeout = decodeTimeout(s)
	u.MaxCallTime = s.duration("maxCallTimeMs")
	u.MaxConcurrency = s.count("maxConcurrency")
	u.MaxMessageBytes = int64(s.number("maxMessageBytes"))
	u.Eager = s.boolean("eager")
	u.Tools = decodeToolFilter(s)
	u.NamePrefix = s.string("namePrefix")
	u.Retry = decodeRetry(s)
	u.RetryUnsafe = s.boolean("retryUnsafe")
	u.CircuitBreaker = decodeCircuitBreaker(s)
	u.RateLimit = decodeRateLimit(s, u.Tools)
	u.Cache = decodeCache(s, u.Tools)
	u.RequireApproval = decodeApproval(s, u.Tools)
	if f, ok := s.node.Field("retryUnsafe"); ok && u.RetryUnsafe && !s.has("retry") {
		p := f.Key.Problem(diag.CodeMeaningless, fmt.Sprintf(`"retryUnsafe" of %s has no effect without "retry"`, s.owner))
		p.Hint = `add "retry" to turn retries on: retry: {}`
		s.decoder.report(p)
	}
}

// decodeProcess decodes the fields of a child process. In Zed's older form they are
// in a map under "command", where the program is called "path".
func decodeProcess(s *section, u *Upstream) {
	p, command := s, "command"
	if inner := s.node.Get("command"); inner.Kind() == Map {
		p, command = s.subsection("command"), "path"
	}
	if u.Command = p.string(command); u.Command == "" && p.node.Get(command).IsString() && command == "command" {
		reportEmpty(s, command)
	}
	u.Args = p.texts("args")
	addArgumentSecrets(s, u.Args)
	u.Env = decodeEnvFile(s)
	for _, f := range p.textMap("env") {
		addNamedSecret(s, f.Name, f.Value)
		u.Env = append(slices.DeleteFunc(u.Env, func(v EnvVar) bool { return v.Name == f.Name }), EnvVar(f))
	}
	u.InheritEnv = decodeInheritEnv(s)
	u.Cwd = s.string("cwd")
	reportRelativePaths(s, p.node, command)
}

// reportEmpty reports a field without which there is no server.
func reportEmpty(s *section, name string) {
	s.decoder.report(s.node.Get(name).Problem(diag.CodeServerIncomplete, fmt.Sprintf("the %s of %s is empty", name, s.owner)))
}

// checkFields reports the fields that an entry should not have.
func checkFields(s *section) {
	valid := names(s.settings)
	var ignored []Text // of another program's file
	for _, f := range s.node.Fields() {
		key := f.Key.String()
		switch {
		case IsFree(key), slices.Contains(valid, key) && !(key == "auth" && isForeignAuth(s)):
		case s.decoder.foreign:
			ignored = append(ignored, f.Key)
		case slices.Contains(unusedForeignFields, key):
			s.decoder.report(f.Key.Problem(diag.CodeMeaningless, fmt.Sprintf("%q of %s has no effect in mcpgraph; it is ignored", key, s.owner)))
		default:
			s.decoder.report(f.Key.Unknown(s.owner, valid))
		}
	}
	if len(ignored) > 0 {
		reportIgnored(s, ignored)
	}
}

// reportIgnored reports the fields of another program's entry that have no
// effect here.
func reportIgnored(s *section, keys []Text) {
	quotedKeys := make([]string, len(keys))
	for i, k := range keys {
		quotedKeys[i] = fmt.Sprintf("%q", k.String())
	}
	message := fmt.Sprintf("%s of %s has no effect in mcpgraph; it is ignored", quotedKeys[0], s.owner)
	if len(keys) > 1 {
		message = fmt.Sprintf("%s of %s have no effect in mcpgraph; they are ignored", strings.Join(quotedKeys, ", "), s.owner)
	}
	p := keys[0].Problem(diag.CodeMeaningless, message)
	for _, k := range keys {
		if k.String() == "auth" { // mcpgraph has such a field, of which this is another form
			p.Hint = `"auth": mcpgraph needs a "type" in it, such as "oauth2"`
			break
		}
		if near, ok := diag.Nearest(k.String(), names(s.settings)); ok && !slices.Contains(unusedForeignFields, k.String()) {
			p.Hint = fmt.Sprintf("%q: did you mean %q?", k.String(), near)
			break
		}
	}
	s.decoder.report(p)
}

// reportOtherTransport reports fields of other transports.
func reportOtherTransport(s *section, fields ...string) {
	for _, name := range fields {
		if f, ok := s.node.Field(name); ok {
			s.decoder.report(f.Key.Problem(diag.CodeMeaningless,
				fmt.Sprintf("%q has no effect for %s, which has another transport; it is ignored", name, s.owner)))
		}
	}
}

// reportProcessCredentials reports credentials for a child process. Only HTTP
// requests can carry them; a process gets them from its environment.
func reportProcessCredentials(s *section) {
	for _, name := range names(credentialSettings) {
		if f, ok := s.node.Field(name); ok {
			p := f.Key.Problem(diag.CodeConflict, fmt.Sprintf("%s is a child process, which cannot use %q", s.owner, name))
			p.Hint = `pass credentials to a child process in "env"`
			s.decoder.report(p)
		}
	}
}

// decodeTransport returns the transport of the server, or empty if the entry has no
// type.
func decodeTransport(s *section) string {
	command, hasCommand := s.node.Field("command")
	address := addressField(s)
	hasURL := address != nil
	if f := transportField(s); f != nil {
		written := ""
		if f.IsString() {
			written = s.expand(f.Text())
		} else {
			s.decoder.report(s.decoder.notAString(f, "type"))
		}
		if written == "" {
			return ""
		}
		t, ok := transports[written]
		switch {
		case !ok:
			// Not written: the expanded value may be a secret.
			s.decoder.report(unknownTransport(s, f, f.Text().String()))
		case t == Stdio && !hasCommand:
			s.decoder.report(incompleteEntry(s, fmt.Sprintf(`%s has the type %q but no "command"`, s.owner, written)))
		case t != Stdio && !hasURL:
			s.decoder.report(incompleteEntry(s, fmt.Sprintf(`%s has the type %q but no "url"`, s.owner, written)))
		}
		return t
	}
	switch {
	case hasCommand && hasURL:
		p := address.Key.Problem(diag.CodeConflict, fmt.Sprintf(`%s has both a "command" and a "url"`, s.owner))
		p.Hint = `remove one of the two, or set "type" to choose`
		p.Related = []diag.Related{{File: command.Key.File(), Pos: command.Key.Pos(), Message: `"command" is here`}}
		s.decoder.report(p)
		return ""
	case hasCommand:
		return Stdio
	case hasURL:
		if scheme, _, _ := strings.Cut(address.Value.Text().String(), "://"); slices.Contains(schemes[WebSocket], scheme) {
			return WebSocket
		}
		return HTTP
	}
	s.decoder.report(incompleteEntry(s, s.owner+` has no "command" and no "url"`))
	return ""
}

func incompleteEntry(s *section, message string) diag.Diagnostic {
	p := s.node.Problem(diag.CodeServerIncomplete, message)
	p.End = diag.Pos{}
	p.Hint = `write "command" for a program to start, or "url" for a server on the network`
	return p
}

func unknownTransport(s *section, f *Node, written string) diag.Diagnostic {
	valid := transportNames()
	p := f.Problem(diag.CodeTransport, fmt.Sprintf("%s has the unknown type %s", s.owner, quote(written)))
	p.Hint = cmp.Or(diag.Meant(diag.Nearest(written, valid)), "expected "+diag.List(valid))
	return p
}
