package jsonata

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// explain adds to an error of syntax what was probably meant: how other
// languages write it, or which quotation mark is missing.
func explain(p *parser, err *Error) *Error {
	if err.Code[0] != 'S' || err.Offset < 0 || err.Offset > len(p.src) {
		return err
	}
	if before := p.last; p.tok.off == err.Offset && before.kind == tokString && before.end == err.Offset && p.tok.isOperand() {
		text := p.src[before.off:before.end]
		if lines := strings.Count(text, "\n"); lines > 0 {
			first, _, _ := strings.Cut(text, "\n")
			e := p.fail("S0101", before.off, first)
			e.Hint = "close it on its line"
			if lines > 1 {
				e.Hint = fmt.Sprintf("close it on its line; the next quotation mark is %d lines below", lines)
			}
			return e
		}
		err.Hint = "a quotation mark is missing, or an operator behind the string that ends here"
		return err
	}
	err.Hint = meantBy(p, err)
	return err
}

// isOperand reports whether a token can only be a value.
func (t token) isOperand() bool {
	switch t.kind {
	case tokName, tokQuotedName, tokVariable, tokString, tokNumber, tokLiteral:
		return true
	}
	return false
}

const commentHint = "comments are written /* … */"

// meantBy returns what was probably meant where an error of syntax stands; ""
// where that is not clear.
func meantBy(p *parser, err *Error) string {
	rest, before := p.src[err.Offset:], p.src[:err.Offset]
	switch {
	case p.slashes > 0 && p.slashes <= err.Offset, err.Code == "S0301" && strings.HasPrefix(rest, "//"):
		return commentHint
	case strings.HasPrefix(rest, "#") && strings.Trim(before[strings.LastIndexByte(before, '\n')+1:], " \t") == "":
		return commentHint
	case err.Code == "S0214" && strings.HasSuffix(strings.TrimRight(before, " \t"), "#"):
		return commentHint
	case strings.HasPrefix(strings.TrimSpace(p.src), "{{"):
		return "an expression stands without {{ and }}"
	case strings.HasPrefix(strings.TrimSpace(p.src), "${"):
		return "an expression stands without ${ and }"
	case strings.HasPrefix(rest, ";"):
		return "several expressions stand in parentheses: (…; …)"
	}
	if f := foreignSyntaxAt(before, rest); f != nil {
		return f.Hint()
	}
	if odd := oddAround(before, rest); odd != "" {
		return odd
	}
	missing := err.Code == "S0203" || err.Code == "S0202" && !p.tok.isOperand()
	switch last := len(p.open) - 1; {
	case last >= 0 && missing && p.tok.off == err.Offset:
		around := aroundToken(p, p.open[last])
		if around == p.open[last].text {
			return "nothing closes the " + around
		}
		return fmt.Sprintf("nothing closes the %s of %s", p.open[last].text, around)
	case last < 0 && rest != "" && strings.Contains(")]}", rest[:1]):
		return "nothing opens this " + rest[:1]
	}
	if (err.Code == "S0201" || err.Code == "S0202") && p.tok.off == err.Offset && p.tok.isOperand() {
		return "an operator or a comma is missing before it"
	}
	return ""
}

// oddAround returns which character in the word at a place, or just before it,
// looks like another one.
func oddAround(before, rest string) string {
	space := func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' }
	before = strings.TrimRightFunc(before, space)
	from := strings.LastIndexFunc(before, space) + 1
	to := strings.IndexFunc(rest, space)
	if to < 0 {
		to = len(rest)
	}
	for _, r := range before[from:] + " " + rest[:to] {
		if what := oddCharacters[r]; r >= utf8.RuneSelf && what != "" {
			return fmt.Sprintf("found %s (U+%04X); write it in plain ASCII", what, r)
		}
	}
	return ""
}

// aroundToken returns the word that a bracket stands behind, with the bracket and
// what follows it on its line.
func aroundToken(p *parser, bracket token) string {
	const runes = 24
	before := p.src[:bracket.off]
	from := strings.LastIndexFunc(before, func(r rune) bool {
		return strings.ContainsRune(operatorBytes, r) || r < utf8.RuneSelf && isSpace(byte(r))
	}) + 1
	line, _, more := strings.Cut(p.src[from:], "\n")
	text := []rune(strings.TrimRight(line, " \t\r"))
	if len(text) > runes {
		text, more = text[:runes], true
	}
	if more {
		return string(text) + "…"
	}
	return string(text)
}
