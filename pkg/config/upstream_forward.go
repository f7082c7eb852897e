package config

import (
	"fmt"
	"net/textproto"
	"regexp"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

var (
	// headerToken matches a header name (RFC 9110, 5.6.2).
	headerToken = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	// reservedHeaders are set by the transport.
	reservedHeaders = []string{
		"Accept", "Connection", "Content-Length", "Content-Type", "Host", "Mcp-Method", "Mcp-Name",
		"Mcp-Protocol-Version", "Mcp-Session-Id", "Transfer-Encoding",
	}
)

const authorization = "Authorization"

// decodeForwardRules decodes forwardHeaders or forwardMeta.
func decodeForwardRules(s *section, name string) []Forward {
	var out []Forward
	targets := map[string]Text{}
	for i, n := range s.optional(name, List).Items() {
		owner := fmt.Sprintf("rule %d in %s of %s", i+1, diag.Quote(name), s.owner)
		if n.Kind() != Map {
			s.decoder.report(n.Expected(owner, "a map"))
			continue
		}
		rule := s.decoder.newSection(n, owner, s.setting(name).Fields, s.secrets)
		f := decodeForwardRule(rule, name == "forwardHeaders")
		if f.From == "" || f.To == "" {
			continue // reported
		}
		place := n.Get("from").Text()
		if to := n.Get("to"); to != nil {
			place = to.Text()
		}
		key := textproto.CanonicalMIMEHeaderKey(f.To)
		if first, ok := targets[key]; ok {
			p := place.Problem(diag.CodeConflict, fmt.Sprintf("two rules in %q of %s set the header %q", name, s.owner, key))
			p.Related = []diag.Related{{File: first.File(), Pos: first.Pos(), Message: "the other rule is here"}}
			s.decoder.report(p)
			continue
		}
		targets[key] = place
		if s.has("auth") && key == authorization {
			s.reportConflict(place, fmt.Sprintf(`%s has "auth", but %s sets the header %q too`, s.owner, owner, authorization), "auth")
		}
		out = append(out, f)
	}
	return out
}

func decodeForwardRule(s *section, ofHeaders bool) Forward {
	f := Forward{
		From: s.string("from"), To: s.string("to"), Prefix: s.string("prefix"),
		Required: s.boolean("required"), Pos: s.node.Pos(),
	}
	if !ofHeaders {
		checkTargetHeader(s, "to", f.To)
		return f
	}
	f.UnsafePassthrough = s.boolean("unsafePassthrough")
	if f.From == "" || !isHeaderNameOf(s, "from") {
		return f
	}
	if textproto.CanonicalMIMEHeaderKey(f.From) == authorization && !f.UnsafePassthrough {
		p := s.node.Get("from").Problem(diag.CodePassthrough,
			s.owner+" forwards the caller's own Authorization header, whose token was issued for mcpgraph")
		p.Hint = "use another header, exchange the token (auth: {type: tokenExchange}), or set unsafePassthrough: true"
		s.decoder.report(p)
	}
	name := "to"
	if f.To == "" {
		name, f.To = "from", f.From
	}
	checkTargetHeader(s, name, f.To)
	return f
}

// checkTargetHeader reports a header that upstream requests must not get.
func checkTargetHeader(s *section, name, header string) {
	if header == "" || !isHeaderNameOf(s, name) {
		return
	}
	if key := textproto.CanonicalMIMEHeaderKey(header); slices.Contains(reservedHeaders, key) {
		s.decoder.report(s.node.Get(name).Problem(diag.CodeValue, fmt.Sprintf("%s cannot set the header %q, which the transport sets itself", s.owner, key)))
	}
}

// isHeaderNameOf reports whether a field that is a string is a valid header name.
func isHeaderNameOf(s *section, name string) bool {
	f := s.node.Get(name)
	if text := f.Text().String(); !f.IsString() || headerToken.MatchString(text) {
		return true
	}
	s.decoder.report(f.Problem(diag.CodeValue, fmt.Sprintf("%q of %s is not a valid header name: %s", name, s.owner, quote(f.Text().String()))))
	return false
}
