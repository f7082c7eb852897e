package graph

import (
	"fmt"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// checkClientPatterns reports regular expressions in an outputSchema that clients cannot
// compile. The SDKs for TypeScript and JavaScript compile every outputSchema when they
// list the tools, with the flag u of ECMA-262, and refuse the whole list if one fails.
func checkClientPatterns(b *reporter, src *config.Node, what string) {
	check := func(pattern string, problem func(code, message string) diag.Diagnostic) {
		bad := unreadablePattern(pattern)
		if bad == "" {
			return
		}
		d := problem(diag.CodeClientSchema, fmt.Sprintf(
			"clients with an SDK for TypeScript or JavaScript refuse all tools because of this pattern in %s: %q is no regular expression of ECMA-262 with the flag u", what, bad))
		d.Hint = "write it without that, such as [aA] for (?i)a, ^ for \\A, $ for \\z, (?<name>…) for (?P<name>…) and [A-Za-z] for [[:alpha:]]; or remove the pattern"
		b.report(d)
	}
	for _, f := range src.Fields() {
		key := f.Key.String()
		switch {
		case key == "const", key == "default", key == "enum", key == "examples": // values
		case key == "pattern" && f.Value.IsString():
			check(f.Value.Text().String(), f.Value.Problem)
		case namesSchemas[key]:
			for _, inner := range f.Value.Fields() {
				if key == "patternProperties" {
					check(inner.Key.String(), inner.Key.Problem)
				}
				checkClientPatterns(b, inner.Value, what)
			}
		case f.Value.Kind() == config.Map:
			checkClientPatterns(b, f.Value, what)
		case f.Value.Kind() == config.List:
			for _, item := range f.Value.Items() {
				checkClientPatterns(b, item, what)
			}
		}
	}
}

// namesSchemas are the keywords whose keys are names.
var namesSchemas = map[string]bool{
	"properties": true, "patternProperties": true, "$defs": true, "definitions": true, "dependentSchemas": true, "dependencies": true,
}

// unreadablePattern returns the part of a regular expression that ECMA-262 does not
// have with the flag u, or "" if there is none. What neither has is not its business.
func unreadablePattern(p string) string {
	inClass, quantified := false, false // quantified: a quantifier stands before
	for i := 0; i < len(p); i++ {
		rest, was := p[i:], quantified
		quantified = false
		switch c := p[i]; {
		case c == '\\':
			if !isEscape(rest, inClass) {
				return rest[:min(2, len(rest))]
			}
			if i++; strings.HasPrefix(rest[2:], "{") && strings.IndexByte("pPu", rest[1]) >= 0 {
				i += max(0, strings.IndexByte(rest[2:], '}')+1)
			}
		case inClass:
			if strings.HasPrefix(rest, "[:") && strings.Contains(rest, ":]") {
				return rest[:strings.Index(rest, ":]")+2]
			}
			inClass = c != ']'
		case c == '[':
			inClass = true
		case strings.HasPrefix(rest, "(?"):
			switch {
			case strings.HasPrefix(rest, "(?P"):
				return "(?P"
			case len(rest) < 3 || !strings.ContainsRune(":=!<", rune(rest[2])):
				flags, _, _ := strings.Cut(rest, ")")
				return flags + ")"
			}
			i++
		case c == '*', c == '+', c == '{':
			if was {
				return rest[:1]
			}
			if c == '{' {
				end := strings.IndexByte(rest, '}')
				if end < 2 || strings.Trim(rest[1:end], "0123456789,") != "" {
					return "{"
				}
				i += end
			}
			if quantified = true; i+1 < len(p) && p[i+1] == '?' {
				i++
			}
		case c == '?':
			quantified = true
		case c == ']', c == '}':
			return rest[:1]
		}
	}
	return ""
}

// isEscape reports whether ECMA-262 has the escape at the begin of a text with the flag u.
func isEscape(rest string, inClass bool) bool {
	if len(rest) < 2 {
		return false
	}
	braced := strings.HasPrefix(rest[2:], "{")
	switch rest[1] {
	case 'p', 'P':
		return braced
	case 'x':
		return !braced
	case '-':
		return inClass
	}
	return strings.IndexByte(`^$\.*+?()[]{}|/dDwWsSbBnrtvfuck0123456789`, rest[1]) >= 0
}
