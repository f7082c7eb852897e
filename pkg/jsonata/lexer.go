package jsonata

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// tokenKind is the class of a token.
type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokName
	tokQuotedName
	tokVariable
	tokString
	tokNumber
	tokLiteral // true, false, null
	tokRegex
	tokOperator
)

// token is one word of the source. For a regular expression text is the
// pattern and flags its flags; for every other kind text is what the token
// means (a string without quotes and escapes, a variable without its $).
type token struct {
	kind     tokenKind
	text     string
	flags    string
	num      float64
	off, end int
}

// lexer cuts a source into tokens, on demand: whether a slash begins a
// regular expression depends on what stands before it.
type lexer struct {
	src string
	pos int
	// slashes is where the first regular expression begins that stands behind
	// a slash, which is how other languages begin a comment; 0 for none.
	slashes int
}

const operatorBytes = ".[]{}(),@#;:?+-*/%|=<>^&!~"

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v'
}

func (l *lexer) fail(code string, off int, tok string) *Error {
	return newError(code, off, details{token: tok})
}

// skipSpace moves behind white space and comments.
func (l *lexer) skipSpace() *Error {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		if isSpace(c) {
			l.pos++
			continue
		}
		if c == '/' && strings.HasPrefix(l.src[l.pos:], "/*") {
			n := strings.Index(l.src[l.pos+2:], "*/")
			if n < 0 {
				return l.fail("S0106", l.pos, "/*")
			}
			l.pos += n + 4
			continue
		}
		break
	}
	return nil
}

// next returns the token at the position. operand means that a value is
// expected, so that a slash begins a regular expression.
func (l *lexer) next(operand bool) (token, *Error) {
	if err := l.skipSpace(); err != nil {
		return token{}, err
	}
	start := l.pos
	if start >= len(l.src) {
		return token{kind: tokEnd, text: "(end)", off: start, end: start}, nil
	}
	c := l.src[start]
	switch {
	case c == '/' && operand:
		return l.regex()
	case c == '"' || c == '\'':
		return l.quoted(c)
	case c >= '0' && c <= '9':
		return l.number()
	case c == '`':
		n := strings.IndexByte(l.src[start+1:], '`')
		if n < 0 {
			l.pos = len(l.src)
			return token{}, l.fail("S0105", start, l.src[start:])
		}
		l.pos = start + n + 2
		return token{kind: tokQuotedName, text: l.src[start+1 : l.pos-1], off: start, end: l.pos}, nil
	}
	if len(l.src)-start >= 2 {
		switch two := l.src[start : start+2]; two {
		case "..", ":=", "!=", ">=", "<=", "**", "~>", "?:", "??":
			l.pos += 2
			return token{kind: tokOperator, text: two, off: start, end: l.pos}, nil
		}
	}
	if strings.IndexByte(operatorBytes, c) >= 0 {
		l.pos++
		if c == '!' || c == '~' {
			return token{}, l.fail("S0204", start, l.src[start:l.pos])
		}
		return token{kind: tokOperator, text: l.src[start:l.pos], off: start, end: l.pos}, nil
	}
	for l.pos < len(l.src) && !isSpace(l.src[l.pos]) && strings.IndexByte(operatorBytes, l.src[l.pos]) < 0 {
		l.pos++
	}
	word := l.src[start:l.pos]
	t := token{kind: tokName, text: word, off: start, end: l.pos}
	switch word {
	case "and", "or", "in":
		t.kind = tokOperator
	case "true", "false", "null":
		t.kind = tokLiteral
	default:
		if word[0] == '$' {
			t.kind = tokVariable
			t.text = word[1:]
		}
	}
	return t, nil
}

func (l *lexer) number() (token, *Error) {
	start := l.pos
	i := start
	digits := func() bool {
		from := i
		for i < len(l.src) && l.src[i] >= '0' && l.src[i] <= '9' {
			i++
		}
		return i > from
	}
	if l.src[i] == '0' {
		i++
	} else {
		digits()
	}
	if whole := i; i < len(l.src) && l.src[i] == '.' {
		i++
		if !digits() {
			i = whole
		}
	}
	if mantissa := i; i < len(l.src) && (l.src[i] == 'e' || l.src[i] == 'E') {
		i++
		if i < len(l.src) && (l.src[i] == '+' || l.src[i] == '-') {
			i++
		}
		if !digits() {
			i = mantissa
		}
	}
	l.pos = i
	text := l.src[start:i]
	f, _ := strconv.ParseFloat(text, 64)
	if math.IsInf(f, 0) {
		return token{}, l.fail("S0102", start, text)
	}
	return token{kind: tokNumber, text: text, num: f, off: start, end: i}, nil
}

func (l *lexer) quoted(quote byte) (token, *Error) {
	start := l.pos
	var out []byte
	plain := start + 1
	for i := start + 1; i < len(l.src); {
		c := l.src[i]
		if c == quote {
			l.pos = i + 1
			text := l.src[plain:i]
			if out != nil {
				text = value.JoinSurrogates(string(append(out, text...)))
			}
			return token{kind: tokString, text: text, off: start, end: l.pos}, nil
		}
		if c != '\\' {
			i++
			continue
		}
		out = append(out, l.src[plain:i]...)
		if i+1 >= len(l.src) {
			// The backslash would escape what follows it.
			return token{}, newError("S0103", i, details{shown: " that the expression ends with"})
		}
		switch e := l.src[i+1]; e {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			out = append(out, value.Unescape(e))
		case 'u':
			if i+6 > len(l.src) {
				if strings.Trim(l.src[i+2:], "0123456789abcdefABCDEF") == "" && i+2 < len(l.src) {
					i = len(l.src) - 2 // the closing quote is what is missing
					break
				}
				return token{}, l.fail("S0104", i, "")
			}
			n, err := strconv.ParseUint(l.src[i+2:i+6], 16, 16)
			if err != nil {
				return token{}, l.fail("S0104", i, "")
			}
			out = value.AppendRune(out, rune(n))
			i += 4
		default:
			r, _ := utf8.DecodeRuneInString(l.src[i+1:])
			return token{}, l.fail("S0103", i, string(r))
		}
		if out == nil {
			out = []byte{}
		}
		i += 2
		plain = i
	}
	l.pos = len(l.src)
	return token{}, l.fail("S0101", start, l.src[start:min(start+20, len(l.src))])
}

// regex reads /pattern/flags; slashes inside brackets do not end it.
func (l *lexer) regex() (token, *Error) {
	start := l.pos
	if l.slashes == 0 && start > 0 && l.src[start-1] == '/' {
		l.slashes = start
	}
	depth := 0
	for i := start + 1; i < len(l.src); i++ {
		switch c := l.src[i]; c {
		case '\\':
			i++
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '/':
			if depth != 0 {
				continue
			}
			pattern := l.src[start+1 : i]
			if pattern == "" {
				return token{}, l.fail("S0301", start, "//")
			}
			i++
			from := i
			for i < len(l.src) && (l.src[i] == 'i' || l.src[i] == 'm') {
				i++
			}
			l.pos = i
			return token{kind: tokRegex, text: pattern, flags: l.src[from:i], off: start, end: i}, nil
		}
	}
	l.pos = len(l.src)
	return token{}, l.fail("S0302", start, l.src[start:min(start+20, len(l.src))])
}
