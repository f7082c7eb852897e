package credential

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// forwardRule passes one value of what a caller sent on as one header.
type forwardRule struct {
	config.Forward
	meta bool // it is in _meta, not in the headers
}

// source returns the name of what the rule takes, for a person.
func (r *forwardRule) source() string {
	if r.meta {
		return fmt.Sprintf("%q in the request's _meta", r.From)
	}
	return "the header " + r.From
}

// valueIn returns the value in what the caller sent, empty if it is not there.
func (r *forwardRule) valueIn(info *callinfo.Info) string {
	if r.meta {
		return info.Meta.Get(r.From).Str()
	}
	return info.Header.Get(r.From)
}

// maxForwarded is the longest value that is passed on, in bytes. Servers
// take little more as a header, and what is passed on is looked for in all that
// the server says, which takes the longer the longer it is.
const maxForwarded = 16 << 10

// check returns an error if the value cannot be passed on.
func (r *forwardRule) check(v string) error {
	switch {
	case len(v) > maxForwarded:
		return &Error{Message: fmt.Sprintf("%s cannot be passed on: it has %d bytes, expected at most %d", r.source(), len(v), maxForwarded)}
	case !validHeaderValue(v):
		return &Error{Message: r.source() + " cannot be passed on: it has control characters"}
	}
	return nil
}

// isClientToken reports whether the rule passes the caller's own Authorization
// on, which was meant for us (MCP 2025-11-25, Authorization, Access Token
// Privilege Restriction).
func (r *forwardRule) isClientToken() bool {
	return !r.meta && strings.EqualFold(r.From, "Authorization")
}

// forward returns the headers that the rules make of what the caller sent. Of rules
// for the same header the first one that finds a value counts.
func (r *Resolver) forward(info *callinfo.Info, call *Call) (http.Header, error) {
	var h http.Header
	for _, rule := range r.rules {
		v := rule.valueIn(info)
		if v == "" || h.Get(rule.To) != "" {
			continue
		}
		if rule.isClientToken() && !rule.UnsafePassthrough {
			return nil, &Error{
				Message: "the caller's own Authorization must not be passed on to it",
				Hint:    "let the caller send another header, or exchange the token (auth.type tokenExchange)",
			}
		}
		if err := rule.check(v); err != nil {
			return nil, err
		}
		if h == nil {
			h = http.Header{}
		}
		h.Set(rule.To, rule.Prefix+v)
		call.addSecret(v)
		call.hint = "the caller has to send a good one as " + rule.source()
	}
	for _, rule := range r.rules {
		if rule.Required && h.Get(rule.To) == "" {
			return nil, missing(r.rulesFor(rule.To))
		}
	}
	return h, nil
}

// rulesFor returns the rules that set a header.
func (r *Resolver) rulesFor(header string) []forwardRule {
	var of []forwardRule
	for _, rule := range r.rules {
		if strings.EqualFold(rule.To, header) {
			of = append(of, rule)
		}
	}
	return of
}

// missing returns the error of a call that lacks a credential: it names what a
// caller has to send.
func missing(rules []forwardRule) error {
	var sources []string
	for _, rule := range rules {
		sources = append(sources, rule.source())
	}
	return &Error{
		Message: "the call does not carry the credential that it needs",
		Hint:    "send it as " + strings.Join(sources, ", or as ") + " (in Go: mcpgraph.WithCallInfo)",
	}
}

// subjectToken returns the caller's token that is exchanged.
func (r *Resolver) subjectToken(info *callinfo.Info, call *Call) (string, error) {
	for _, rule := range r.subject {
		v := strings.TrimSpace(rule.valueIn(info))
		if scheme, rest, ok := strings.Cut(v, " "); ok && strings.EqualFold(scheme, "Bearer") {
			v = strings.TrimSpace(rest)
		}
		if v != "" {
			if err := rule.check(v); err != nil {
				return "", err
			}
			call.addSecret(v)
			call.hint = "the caller has to send a good one as " + rule.source()
			return v, nil
		}
	}
	return "", missing(r.subject)
}

// Forwardable returns the secrets in what a caller sent that a call may carry.
func (r *Resolver) Forwardable(info *callinfo.Info) []string {
	var call Call
	for _, rules := range [][]forwardRule{r.rules, r.subject} {
		for _, rule := range rules {
			if v := rule.valueIn(info); v != "" && len(v) <= maxForwarded {
				call.addSecret(v)
			}
		}
	}
	return call.Secrets
}

// Expect returns the identity that calls with info get, without getting a credential.
// Where the program's own source of credentials decides (Options.Source), it is one
// that only calls share which carry exactly the same.
func (r *Resolver) Expect(info *callinfo.Info) Identity {
	if !r.IsPersonal() {
		return ""
	}
	var call Call
	forwarded, err := r.forward(info, &call)
	speaksFor := ""
	if r.exchanger != nil && err == nil {
		speaksFor, err = r.subjectToken(info, &call)
	}
	switch {
	case err != nil:
		speaksFor = "refused " + fingerprint(r.Forwardable(info)...)
	case r.source != nil:
		parts := []string{info.Meta.JSON()}
		for _, name := range slices.Sorted(maps.Keys(info.Header)) {
			parts = append(append(parts, name), info.Header[name]...)
		}
		speaksFor = "the sender of " + fingerprint(parts...)
	}
	return identify(r.name, info.Caller, speaksFor, forwarded)
}
