package config

import (
	"fmt"
	"net/textproto"
	"regexp"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

var (
	// headerToken is what a header can be called (RFC 9110, 5.6.2).
	headerToken = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	// ownHeaders belong to the connection and the protocol.
	ownHeaders = []string{
		"Accept", "Connection", "Content-Length", "Content-Type", "Host", "Mcp-Method", "Mcp-Name",
		"Mcp-Protocol-Version", "Mcp-Session-Id", "Transfer-Encoding",
	}
)

const authorization = "Authorization"

// forwards decodes a list of rules; ofHeaders says that they take headers of the
// caller's request, not keys of its _meta.
func (e *entry) forwards(name string, ofHeaders bool) []Forward {
	var out []Forward
	targets := map[string]Text{}
	fields := forwardMetaSettings
	if ofHeaders {
		fields = forwardHeaderSettings
	}
	for i, n := range e.decoder.optional(e.n, name, List).Items() {
		owner := fmt.Sprintf("rule %d in %q of %s", i+1, name, e.owner)
		if n.Kind() != Map {
			e.decoder.report(n.Expected(owner, "a map"))
			continue
		}
		e.decoder.report(unknownFields(n, owner, names(fields))...)
		rule := &entry{e.environment, owner, n}
		f := rule.forward(ofHeaders)
		if f.From == "" || f.To == "" {
			continue // reported
		}
		place := n.Get("from").Text()
		if to := n.Get("to"); to != nil {
			place = to.Text()
		}
		key := textproto.CanonicalMIMEHeaderKey(f.To)
		if first, ok := targets[key]; ok {
			p := place.Problem(diag.CodeConflict, fmt.Sprintf("two rules in %q of %s make the header %q", name, e.owner, key))
			p.Related = []diag.Related{{File: first.File(), Pos: first.Pos(), Message: "the other is here"}}
			e.decoder.report(p)
			continue
		}
		targets[key] = place
		if _, auth := e.n.Field("auth"); auth && key == authorization {
			e.conflict(place, fmt.Sprintf(`%s has "auth", and %s makes the header %q`, e.owner, owner, authorization), "auth")
		}
		out = append(out, f)
	}
	return out
}

func (e *entry) forward(ofHeaders bool) Forward {
	e.needs("from")
	f := Forward{
		From: e.string("from"), To: e.string("to"), Prefix: e.string("prefix"),
		Required:          e.decoder.boolean(e.n, "required", false),
		UnsafePassthrough: e.decoder.boolean(e.n, "unsafePassthrough", false),
		Pos:               e.n.Pos(),
	}
	if !ofHeaders {
		e.needs("to")
		e.target("to", f.To)
		return f
	}
	if f.From == "" || !e.headerName("from") {
		return f
	}
	if textproto.CanonicalMIMEHeaderKey(f.From) == authorization && !f.UnsafePassthrough {
		p := e.n.Get("from").Problem(diag.CodePassthrough,
			e.owner+" passes on the caller's own Authorization, which was meant for this server")
		p.Hint = "take the credential from a header of its own, exchange the token (auth: {type: tokenExchange}), or write unsafePassthrough: true"
		e.decoder.report(p)
	}
	name := "to"
	if f.To == "" {
		name, f.To = "from", f.From
	}
	e.target(name, f.To)
	return f
}

// target checks the name of a header that requests to the server get.
func (e *entry) target(name, header string) {
	if header == "" || !e.headerName(name) {
		return
	}
	if key := textproto.CanonicalMIMEHeaderKey(header); slices.Contains(ownHeaders, key) {
		e.decoder.report(e.n.Get(name).Problem(diag.CodeValue,
			fmt.Sprintf("%s cannot make the header %q, which belongs to the connection", e.owner, key)))
	}
}

// headerName reports whether a field that is a string can be the name of a
// header.
func (e *entry) headerName(name string) bool {
	f := e.n.Get(name)
	if s := f.Text().String(); !f.IsString() || headerToken.MatchString(s) {
		return true
	}
	e.decoder.report(f.Problem(diag.CodeValue,
		fmt.Sprintf("%s in %q of %s is not the name of a header", quoted(f.Text().String()), name, e.owner)))
	return false
}
