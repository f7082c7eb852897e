package config

import (
	"fmt"
	"slices"
	"time"

	"github.com/yosida95/uritemplate/v3"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Resource is one resource, or a family of them, as it is written.
type Resource struct {
	Offer
	// URI is the URI or, with Template, the URI template (RFC 6570).
	URI      Text
	Template bool
	// Variables are those of the template, in its order.
	Variables []string
	MIMEType  string
	// Annotations go to clients as they are written; undefined if there are none.
	Annotations value.Value
	// Complete has the completions by variable; nil if there are none.
	Complete map[string]*Completion
	// SubscribeEvery is how often the graph runs for subscribers; 0 if clients
	// cannot subscribe.
	SubscribeEvery time.Duration
}

func decodeResource(d *decoder, n *Node, index int, names, uris map[string]Text) *Resource {
	owner := ownerOf(n, "resource", index)
	s := d.newSection(n, owner, resourceSettings, nil)
	r := &Resource{Offer: decodeOffer(s, Resources), MIMEType: s.literal("mimeType")}
	checkUnique(d, r.Name, "resource name", names)
	decodeResourceURI(d, s, r)
	checkUnique(d, r.URI, "resource URI", uris)
	if a := s.subsection("annotations"); a != nil {
		decodeResourceAnnotations(a)
		r.Annotations = a.node.Value()
	}
	decodeCompletions(s, r)
	r.SubscribeEvery = decodeEvery(s)
	return r
}

// decodeResourceURI decodes "uri" or "uriTemplate".
func decodeResourceURI(d *decoder, s *section, r *Resource) {
	uri, hasURI := s.node.Field("uri")
	_, r.Template = s.node.Field("uriTemplate")
	switch {
	case hasURI && r.Template:
		s.reportConflict(uri.Key, s.owner+` has both "uri" and "uriTemplate"`, "uriTemplate")
		return
	case !hasURI && !r.Template:
		m := s.node.Missing(s.owner, "uri")
		m.Message = s.owner + ` has neither "uri" nor "uriTemplate"`
		m.Hint = "write uri: report://today, or uriTemplate: report://{day}"
		d.report(m)
		return
	}
	field := "uri"
	if r.Template {
		field = "uriTemplate"
	}
	text := s.literal(field)
	f := s.node.Get(field)
	if !f.IsString() {
		return
	}
	r.URI = f.Text()
	if !hasScheme(text) {
		p := f.Problem(diag.CodeValue, fmt.Sprintf("%q of %s is not an absolute URI: %s", field, s.owner, quote(text)))
		p.Hint = "begin it with a scheme, such as report://"
		d.report(p)
		return
	}
	if !r.Template {
		if i := slices.IndexFunc([]byte(text), notInURI); i >= 0 {
			p := r.URI.ProblemAt(i, i+1, diag.CodeValue, fmt.Sprintf("%q of %s contains %q, which no URI has", field, s.owner, text[i:i+1]))
			p.Hint = "percent-encode it"
			if text[i] == '{' {
				p.Hint = "write uriTemplate for a family of resources"
			}
			d.report(p)
		}
		return
	}
	t, err := uritemplate.New(text)
	switch {
	case err != nil:
		p := f.Problem(diag.CodeValue, fmt.Sprintf("%q of %s is not a URI template: %s", field, s.owner, quote(text)))
		p.Hint = "write variables in braces, such as report://{day} (RFC 6570)"
		d.report(p)
	case len(t.Varnames()) == 0:
		p := f.Problem(diag.CodeValue, fmt.Sprintf("%q of %s has no variables", field, s.owner))
		p.Hint = "write uri for a single resource"
		d.report(p)
	default:
		r.Variables = slices.Clone(t.Varnames())
	}
}

// hasScheme reports whether a text begins as a URI does (RFC 3986, 3.1).
func hasScheme(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c == ':':
			return i > 0
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return false
}

// notInURI reports whether no URI has a byte (RFC 3986, 2).
func notInURI(c byte) bool {
	return c <= ' ' || c >= 0x7f || slices.Contains([]byte("\"<>\\^`{|}"), c)
}

// decodeResourceAnnotations checks the annotations of a resource.
func decodeResourceAnnotations(s *section) {
	valid := s.setting("audience").Values
	for _, n := range s.optional("audience", List).Items() {
		switch {
		case !n.IsString():
			s.decoder.report(n.Expected(`an element of "audience"`, "a string"))
		case !slices.Contains(valid, n.Text().String()):
			p := n.Problem(diag.CodeValue, fmt.Sprintf("%s has the unknown audience %s", s.owner, quote(n.Text().String())))
			p.Hint = "expected " + diag.List(valid)
			s.decoder.report(p)
		}
	}
	s.number("priority")
	if text := s.literal("lastModified"); text != "" {
		_, full := time.Parse(time.RFC3339, text)
		if _, day := time.Parse(time.DateOnly, text); full != nil && day != nil {
			p := s.node.Get("lastModified").Problem(diag.CodeValue, fmt.Sprintf(`"lastModified" is %s, which is not a time in ISO 8601`, quote(text)))
			p.Hint = `write it as "2026-05-01T12:00:00Z"`
			s.decoder.report(p)
		}
	}
}

// decodeCompletions decodes "complete" of a resource.
func decodeCompletions(s *section, r *Resource) {
	all := s.optional("complete", Map)
	if all == nil {
		return
	}
	if !r.Template {
		if f, _ := s.node.Field("complete"); s.has("uri") {
			p := f.Key.Problem(diag.CodeMeaningless, fmt.Sprintf(`"complete" of %s has no effect: its URI has no variables`, s.owner))
			s.decoder.report(p)
		}
		return
	}
	variables := diag.NewNames(slices.Clone(r.Variables))
	r.Complete = map[string]*Completion{}
	for _, f := range all.Fields() {
		name := f.Key.String()
		if IsFree(name) {
			continue
		}
		if r.Variables != nil && !variables.Has(name) {
			p := f.Key.Problem(diag.CodeValue, fmt.Sprintf(`"complete" of %s names the variable %q, which uriTemplate does not have`, s.owner, name))
			p.Hint = variables.Expected(name, "its variables are ")
			s.decoder.report(p)
			continue
		}
		if c := decodeCompletion(s.decoder, f.Value, fmt.Sprintf("%q in \"complete\" of %s", name, s.owner)); c != nil {
			r.Complete[name] = c
		}
	}
}
