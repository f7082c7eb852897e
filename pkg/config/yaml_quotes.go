package config

import (
	"bytes"
	"fmt"
	"regexp"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// unclosedQuote returns the diagnostic for a string whose closing quote is
// missing, so that it swallowed lines of the file up to the next quote, behind
// which YAML could not go on at pos, or nil if there is none.
func unclosedQuote(d *document, pos diag.Pos) *diag.Diagnostic {
	s := quoteScanner{src: d.source, limit: d.lines.Offset(pos)}
	s.scan()
	if s.to == 0 || !swallowedLines().Match(s.src[s.from:s.to]) {
		return nil
	}
	open, end := d.lines.Pos(s.from), d.lines.Pos(s.to-1)
	if pos.Line > end.Line+1 {
		return nil
	}
	p := d.problem(open, diag.CodeSyntax, fmt.Sprintf("missing closing quote: this string continues to the next quote, on line %d", end.Line),
		"close the string on its own line")
	p.Related = []diag.Related{{File: d.path, Pos: end, Message: "the string ends here"}}
	return p
}

// swallowedLines matches a string that holds lines which look like YAML themselves.
var swallowedLines = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[\r\n][ \t]*(?:- +)*(?:[\w.$/-]+:(?:[ \t\r\n]|$)|- )`)
})

// quoteScanner finds the last quoted string of several lines that begins before
// a place. It knows only as much YAML as it needs to recognize quotes.
type quoteScanner struct {
	src      []byte
	at       int
	limit    int
	flow     int // brackets and braces around
	from, to int // of the string, quotes included
}

func (s *quoteScanner) scan() {
	value := true // a value may begin here
	for s.at < s.limit {
		switch c := s.src[s.at]; {
		case isBreak(c):
			value = true
			s.at++
		case isBlank(c):
			s.at++
		case c == '#' && (s.at == 0 || isSpace(s.src[s.at-1])):
			s.at = lineEnd(s.src, s.at)
		case (c == '"' || c == '\'') && value:
			s.quoted(c)
			value = false
		case (c == '|' || c == '>') && value && s.flow == 0:
			s.block()
			value = true
		case c == '[' || c == '{':
			s.flow += boolToInt(value)
			s.at++
		case (c == ']' || c == '}') && s.flow > 0:
			s.flow--
			s.at++
			value = false
		case c == ',' && s.flow > 0:
			value = true
			s.at++
		case (c == ':' || c == '-' || c == '?') && (s.at+1 >= len(s.src) || isSpace(s.src[s.at+1])):
			value = true
			s.at++
		default:
			value = false
			s.at++
		}
	}
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// quoted goes behind a quoted string.
func (s *quoteScanner) quoted(quote byte) {
	from := s.at
	for s.at++; s.at < len(s.src); s.at++ {
		switch c := s.src[s.at]; {
		case c == '\\' && quote == '"':
			s.at++
		case c == quote && quote == '\'' && s.at+1 < len(s.src) && s.src[s.at+1] == quote:
			s.at++
		case c == quote:
			s.at++
			if bytes.ContainsAny(s.src[from:s.at], "\r\n") {
				s.from, s.to = from, s.at
			}
			return
		}
	}
}

// block goes behind a block scalar: the lines that are indented as its first.
func (s *quoteScanner) block() {
	s.at = lineEnd(s.src, s.at)
	indent := -1
	for s.at < len(s.src) {
		line := s.at
		if isBreak(s.src[line]) {
			line++
		}
		end := lineEnd(s.src, line)
		n := spaces(s.src[line:end])
		switch {
		case len(bytes.TrimSpace(s.src[line:end])) == 0:
		case indent < 0:
			indent = max(n, 1)
		}
		if len(bytes.TrimSpace(s.src[line:end])) > 0 && n < indent {
			return
		}
		s.at = max(end, s.at+1)
	}
}

// findSpaceLookalike describes the first character of a text that looks like a
// space and is none, and returns where it stands; -1 for none.
func findSpaceLookalike(text []byte) (what string, at int) {
	at = bytes.IndexFunc(text, isSpaceLookalike)
	if at >= 0 {
		r, _ := utf8.DecodeRune(text[at:])
		what = fmt.Sprintf("the character U+%04X, which looks like a space", r)
		if r == 0xA0 {
			what = "a no-break space (U+00A0)"
		}
	}
	return what, at
}

func isSpaceLookalike(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.IsSpace(r) || r == 0x200B || r == 0x2060 || r == 0xFEFF)
}
