package config

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// environment replaces ${NAME}, ${NAME:-default} and the variables of editors in
// strings and keeps what came from the environment.
type environment struct {
	decoder *decoder
	secrets *[]string
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand returns the string with its variables replaced; $${ becomes ${. What
// is wrong is reported at the variable's place and stays as it was written.
func (e *environment) expand(t Text) string {
	return e.expandWith(t, func(_, v, _ string) string { return v })
}

// expandURL is expand for an address: values in it stay what they are, whatever
// characters they have.
// What looks like a credential among the parts of a value, but the host, is a secret of its
// own: errors can show a part of the address alone.
func (e *environment) expandURL(t Text) string {
	return e.expandWith(t, func(before, v, behind string) string {
		if slices.Contains(*e.secrets, v) {
			host := hostOf(before + v)
			for _, part := range strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("/?#&=@:", r) }) {
				if part != v && part != host && (len(part) >= minURLPart || looksRandom(part)) {
					e.addSecret(part)
				}
			}
		}
		return escapedInURL(before, v, behind)
	})
}

// hostOf returns the host of an address whose end may be missing.
func hostOf(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	host, _, _ := strings.Cut(rest[strings.LastIndexByte(rest, '@')+1:], ":")
	return host
}

// minURLPart is the length from which any part of an address from the environment counts
// as a credential.
const minURLPart = 20

// expandWith is expand where fit makes a variable's value fit between what stands
// before it, already expanded, and behind it, as it is written.
func (e *environment) expandWith(t Text, fit func(before, v, behind string) string) string {
	s := t.String()
	if !strings.Contains(s, "${") {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		at := strings.Index(s[i:], "${")
		if at < 0 {
			out.WriteString(s[i:])
			break
		}
		at += i
		if at > i && s[at-1] == '$' {
			out.WriteString(s[i:at-1] + "${")
			i = at + 2
			continue
		}
		out.WriteString(s[i:at])
		end := strings.IndexByte(s[at:], '}')
		if end < 0 {
			p := t.ProblemAt(at, at+2, diag.CodeSubstitution, "missing } after ${")
			p.Hint = "for a literal ${, write $${"
			e.decoder.report(p)
			out.WriteString(s[at:])
			break
		}
		end += at + 1
		v := e.variable(t, at, end)
		if v != s[at:end] { // else it was reported
			v = fit(out.String(), v, s[end:])
		}
		out.WriteString(v)
		i = end
	}
	return out.String()
}

// escapedInURL returns v, percent-encoded where it is the value of a parameter in
// the query or stands in front of the host's @. Elsewhere it may be any part of
// the address, or all of it.
func escapedInURL(before, v, behind string) string {
	_, query, inQuery := strings.Cut(before, "?")
	parameter := query[strings.LastIndexByte(query, '&')+1:]
	_, authority, afterScheme := strings.Cut(before, "://")
	next := strings.IndexAny(behind, "@/?#")
	switch {
	case inQuery && strings.Contains(parameter, "=") && !strings.Contains(query, "#"):
	case afterScheme && !strings.ContainsAny(authority, "@/?#") && next >= 0 && behind[next] == '@':
	default:
		return v
	}
	return strings.ReplaceAll(url.QueryEscape(v), "+", "%20")
}

// variable returns what stands for the bytes from at to end of a string, which
// are "${…}".
func (e *environment) variable(t Text, at, end int) string {
	written := t.String()[at:end]
	name, fallback, hasFallback := strings.Cut(written[2:len(written)-1], ":-")
	if v, ok := e.editorVariable(name); ok {
		return v
	}
	if id, ok := strings.CutPrefix(name, "input:"); ok && id != "" {
		return e.inputVariable(t, at, end, id)
	}
	name = strings.TrimPrefix(name, "env:")
	if !variableName.MatchString(name) {
		p := t.ProblemAt(at, end, diag.CodeSubstitution, fmt.Sprintf("invalid variable %s", quote(written)))
		p.Hint = "write ${NAME} or ${NAME:-default}; for a literal ${, write $${"
		e.decoder.report(p)
		return written
	}
	if !hasFallback {
		e.needs(name)
	}
	if e.decoder.keepVariables {
		return written
	}
	v, ok := e.decoder.getenv(name)
	unfilled := ok && e.isUnfilled(v, name)
	if ok && (v != "" || !hasFallback) && !unfilled {
		e.addSecret(v)
		return v
	}
	if hasFallback {
		return fallback
	}
	if e.decoder.allowUnset {
		e.unset(name)
		return written
	}
	p := t.ProblemAt(at, end, diag.CodeEnvironment, fmt.Sprintf("environment variable %s is not set", name))
	p.Hint = fmt.Sprintf("set it, or add a default: ${%s:-default}", name)
	if unfilled {
		p.Message = fmt.Sprintf("environment variable %s has no value; it is %s", name, quote(v))
		p.Hint = `write its value into "env" of mcpgraph's entry in the program that starts mcpgraph`
	}
	e.decoder.report(p)
	return written
}

// unset notes that a variable has no value, in the entry of a server.
func (e *environment) unset(name string) {
	if list := e.decoder.unset; list != nil && !slices.Contains(*list, name) {
		*list = append(*list, name)
	}
}

// needs adds a variable to those without which the file cannot be used.
func (e *environment) needs(name string) {
	if f := e.decoder.file; !slices.Contains(f.Variables, name) {
		f.Variables = append(f.Variables, name)
	}
}

// Placeholder returns what an entry for another program has in the place of a
// variable's value, for a person to fill in.
func Placeholder(name string) string { return "<the value of " + name + ">" }

// isUnfilled reports whether the value of a variable is a placeholder or the variable
// itself: programs that do not expand variables in their settings pass them on. Who
// only looks at the file may want that.
func (e *environment) isUnfilled(v, name string) bool {
	return !e.decoder.allowUnset && (v == Placeholder(name) || v == "${"+name+"}" || v == "${env:"+name+"}")
}

// inputVariable returns what stands for ${input:id}.
func (e *environment) inputVariable(t Text, at, end int, id string) string {
	v, ok := e.inputValue(id)
	if _, ok := e.inputDefault(id); !ok {
		e.needs(InputVariable(id))
	}
	if ok {
		e.addSecret(v)
		return v
	}
	if e.decoder.allowUnset {
		e.unset(t.String()[at:end])
		return t.String()[at:end]
	}
	p := t.ProblemAt(at, end, diag.CodeEnvironment, fmt.Sprintf("no value for ${input:%s}", id))
	p.Hint = fmt.Sprintf("pass --input %s=VALUE, or set the environment variable %s", id, InputVariable(id))
	e.decoder.report(p)
	return t.String()[at:end]
}

// addSecret adds a value to those that must not be shown.
func (e *environment) addSecret(secret string) {
	if secret != "" && !slices.Contains(*e.secrets, secret) {
		*e.secrets = append(*e.secrets, secret)
	}
}
