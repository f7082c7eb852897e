package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
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

func (d *decoder) passthrough(n *Node, index int) Passthrough {
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

// climbs reports whether a URI has a segment "..", encoded or not.
func climbs(uri string) bool {
	// Some servers decode twice, and some take backslashes for slashes.
	for range 3 {
		for segment := range strings.FieldsFuncSeq(uri, func(r rune) bool { return r == '/' || r == '\\' || r == '?' || r == '#' }) {
			if segment == ".." {
				return true
			}
		}
		decoded, err := url.PathUnescape(uri)
		if err != nil || decoded == uri {
			return false
		}
		uri = decoded
	}
	return false
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
