package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// syntaxMessages maps errors of the YAML library to our messages and hints.
var syntaxMessages = map[string][2]string{
	"mapping values are not allowed in this context": {
		"unexpected key", "check the indentation of this line; put quotes around text that contains \": \""},
	"could not find expected ':'": {
		"missing \":\" after a key", "write \"key: value\", or check the indentation"},
	"did not find expected key": {
		"expected a key", "check the indentation, and the quotes and brackets above"},
	"did not find expected '-' indicator": {
		"expected a list item (\"- …\")", "check the indentation: all items of a list begin in the same column"},
	"did not find expected ',' or ']'": {
		"expected \",\" or \"]\"", "the list is not closed, or a comma is missing"},
	"did not find expected ',' or '}'": {
		"expected \",\" or \"}\"", "the map is not closed, or a comma is missing"},
	"found character that cannot start any token": {
		"a value cannot begin with this character", "put quotes around the text"},
	tabMessage: {"tabs are not allowed for indentation", "indent with spaces"},
	"found a tab character where an indentation space is expected": {"tabs are not allowed for indentation", "indent with spaces"},
	"found unexpected end of stream":                               {"missing closing quote", "add the closing quote"},
	"found unexpected document indicator":                          {"missing closing quote before the end of the document", "add the closing quote"},
	"found unknown escape character": {
		"unknown escape sequence", "write a backslash as \"\\\\\", or use single quotes, which have no escapes"},
	"did not find expected hexadecimal number":    {"a \\x, \\u or \\U escape needs 2, 4 or 8 hexadecimal digits", ""},
	"found invalid Unicode character escape code": {"this escape is not a valid character", ""},
	"block sequence entries are not allowed in this context": {
		"unexpected list item", "begin the list on a new line"},
	"did not find expected node content": {
		"expected a value", "put quotes around text that begins with a bracket, a brace or a comma"},
	"did not find expected alphabetic or numeric character": {
		"missing name of an anchor or alias", "put quotes around text that begins with & or *"},
	"did not find expected <document start>": {
		"unexpected text after the end of the document", "check the indentation"},
}

const tabMessage = "found a tab character that violates indentation"

// reportedAtStart holds the errors whose place is where the construct begins,
// not where the library stopped.
var reportedAtStart = map[string]bool{
	"could not find expected ':'":         true,
	"found unexpected end of stream":      true,
	"found unexpected document indicator": true,
}

var constructNames = map[string]string{
	"while parsing a flow sequence":    "the list",
	"while parsing a flow mapping":     "the map",
	"while parsing a block collection": "the list",
	"while parsing a block mapping":    "the map",
	"while scanning a quoted scalar":   "the string",
	"while scanning a block scalar":    "the block",
	"while scanning a plain scalar":    "the text",
}

// syntaxProblem returns the diagnostic for an error of the YAML library.
func syntaxProblem(d *document, err error) *diag.Diagnostic {
	var e *yaml.LoadError
	if !errors.As(err, &e) {
		return d.problem(diag.Pos{Line: 1, Col: 1}, diag.CodeSyntax, err.Error(), "")
	}
	pos := diag.Pos{Line: e.Mark.Line, Col: e.Mark.Column}
	if pos.IsZero() {
		pos = diag.Pos{Line: 1, Col: 1}
	}
	switch {
	case e.Message == errDepth.Error():
		return d.problem(pos, diag.CodeDepth, fmt.Sprintf("the file is nested more than %d levels deep", maxDepth), "")
	case strings.HasPrefix(e.Message, "unknown anchor "):
		return unknownAlias(d, pos)
	}
	message, hint := e.Message, ""
	if at := d.lines.Offset(pos); at < len(d.source) && d.source[at] == '\t' {
		message = tabMessage
	}
	if s, ok := syntaxMessages[message]; ok {
		message, hint = s[0], s[1]
	}
	lookalike := spaceLookalikeBefore(d, pos)
	begin := diag.Pos{Line: e.ContextMark.Line, Col: e.ContextMark.Column}
	if reportedAtStart[e.Message] && !begin.IsZero() {
		if lookalike = spaceLookalikeBefore(d, begin); lookalike != "" {
			hint = lookalike
		}
		return d.problem(begin, diag.CodeSyntax, message, hint)
	}
	if unclosed := unclosedQuote(d, pos); unclosed != nil {
		return unclosed
	}
	if lookalike != "" {
		hint = lookalike
	} else if bareExpression().Match(d.lines.Line(pos.Line)) {
		hint = "YAML reads braces and brackets as a map or list: put quotes around the expression, or write it below \"|\""
	}
	p := d.problem(pos, diag.CodeSyntax, message, hint)
	if what, ok := constructNames[e.ContextMsg]; ok && begin.Line != pos.Line {
		p.Related = []diag.Related{{File: d.path, Pos: begin, Message: what + " starts here"}}
	}
	return p
}

// bareExpression matches a line on which an expression begins with a bracket
// and is not in quotes.
var bareExpression = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bexpr["']?[ \t]*:[ \t]+[{\[]`)
})

// unknownAlias names the alias at pos and the anchors that could be meant.
func unknownAlias(d *document, pos diag.Pos) *diag.Diagnostic {
	at := d.lines.Offset(pos)
	name := anchorName(d.source[min(at+1, len(d.source)):])
	p := d.problem(pos, diag.CodeAlias, fmt.Sprintf("unknown alias *%s: there is no anchor &%s before it", name, name),
		"put quotes around text that begins with *")
	p.End = d.lines.Pos(at + 1 + len(name))
	return p
}

func anchorName(src []byte) string {
	n := 0
	for n < len(src) && !isSpace(src[n]) && !strings.ContainsRune(",[]{}", rune(src[n])) {
		n++
	}
	return string(src[:n])
}
