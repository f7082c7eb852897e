package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Passthrough is what an upstream server offers that clients see as it is.
type Passthrough struct {
	// Server is the name of the server.
	Server string
	// Prompts are names and Resources are URIs, in which * stands for any
	// characters. Nothing else passes.
	Prompts, Resources []string
	// Prefix stands before the names of prompts and resources for clients; it may be
	// empty.
	Prefix string
	// Node is the entry as it is written.
	Node *Node
}

func decodePassthrough(d *decoder, n *Node, index int) Passthrough {
	owner := fmt.Sprintf("passthrough %d", index+1)
	s := d.newSection(n, owner, passthroughSettings, nil)
	p := Passthrough{
		Server: s.literal("server"), Prompts: s.strings("prompts"), Resources: s.strings("resources"), Prefix: s.literal("prefix"), Node: n,
	}
	if !s.has("prompts") && !s.has("resources") {
		m := n.Missing(owner, "prompts")
		m.Message = owner + ` has neither "prompts" nor "resources"`
		m.Hint = `write prompts: ["*"] to offer all prompts of the server`
		d.report(m)
	}
	return p
}

// AllowsPrompt reports whether a prompt with this name of the server passes.
func (p *Passthrough) AllowsPrompt(name string) bool {
	return slices.ContainsFunc(p.Prompts, func(pattern string) bool { return stars(pattern, name) })
}

// AllowsResource reports whether a resource or template with this URI passes. A URI with
// a segment ".." passes a pattern that is the URI itself or "*": a server may resolve
// the segment, and would read what the pattern does not mean.
func (p *Passthrough) AllowsResource(uri string) bool {
	climbs := climbs(uri)
	return slices.ContainsFunc(p.Resources, func(pattern string) bool {
		return pattern == uri || pattern == "*" || !climbs && stars(pattern, uri)
	})
}

// maxDecodings is how often a server may decode a URI. One that is still encoded then is
// not looked at further: it climbs.
const maxDecodings = 8

// climbs reports whether a URI has a segment "..", encoded or not.
func climbs(uri string) bool {
	uri = dots.Replace(uri)
	for range maxDecodings {
		for part := range strings.FieldsFuncSeq(uri, endsName) {
			if len(part) > 1 && strings.Trim(part, ".") == "" {
				return true
			}
		}
		decoded := dots.Replace(decodeEscapes(uri))
		if decoded == uri {
			return false
		}
		uri = decoded
	}
	return true
}

// endsName reports whether a character may end a name for some server. Not only slashes
// do: parameters begin at a semicolon, a query has paths behind "=", programs in C end
// texts at NUL, and Windows ignores spaces at the end of a name.
func endsName(r rune) bool {
	return r < utf8.RuneSelf && !strings.ContainsRune("._-~", r) && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
}

// dots makes a dot, or a slash, of the characters that become one where a server brings a
// text into the compatibility form of Unicode (UAX #15).
var dots = strings.NewReplacer("\uff0e", ".", "\u2024", ".", "\u2025", "..", "\u2026", "...", "\ufe52", ".", "\uff0f", "/", "\uff3c", "\\", "\ufe68", "\\")

// decodeEscapes decodes percent-encoded bytes and leaves escapes alone that are none, as
// lenient servers do.
func decodeEscapes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// SameResource reports whether two URIs name the same resource: some servers return a URI
// with other escapes, a scheme or host in lower case, or a slash at the end.
func SameResource(a, b string) bool { return a == b || plainURI(a) == plainURI(b) }

func plainURI(uri string) string {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return strings.TrimSuffix(decodeEscapes(uri), "/")
	}
	host, path, _ := strings.Cut(rest, "/")
	return strings.ToLower(scheme+"://"+host) + "/" + strings.TrimSuffix(decodeEscapes(path), "/")
}

// stars reports whether a text fits a pattern in which * stands for any characters.
func stars(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	if last == 0 {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok || len(text) < len(parts[last]) || !strings.HasSuffix(text, parts[last]) {
		return false
	}
	text = text[:len(text)-len(parts[last])]
	for _, part := range parts[1:last] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return true
}
