package edit

import (
	"strings"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
)

// sameExpression reports whether two expressions differ in white space only:
// they have the same words, string literals included, and the same comments.
func sameExpression(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := jsonata.Tokens(a)
	y, errY := jsonata.Tokens(b)
	if errX != nil || errY != nil || len(x) != len(y) {
		return false
	}
	atX, atY := 0, 0
	for i := range x {
		if !x[i].Same(y[i]) || !sameWords(a[atX:x[i].Off], b[atY:y[i].Off]) {
			return false
		}
		atX, atY = x[i].End, y[i].End
	}
	return sameWords(a[atX:], b[atY:])
}

// sameWords compares what stands between two tokens: white space and comments.
func sameWords(a, b string) bool {
	return a == b || strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}

// bracket is an open bracket on the way through an expression.
type bracket struct {
	indent int // of the line on which it stands
	// oldCol and newCol are the columns of the token behind it, if that is on the
	// same line; else oldCol is -1.
	oldCol, newCol int
}

// indentExpression indents the lines of an expression by their brackets. Lines
// that go on with what the line before them began, and lines that are aligned
// with the first item in their bracket, keep their alignment. Lines that begin in
// a string literal or in a comment are left alone. ok is false if the text is not
// an expression of several lines, or stays as it is.
func indentExpression(text string) (indented string, ok bool) {
	if !strings.Contains(text, "\n") {
		return "", false
	}
	tokens, err := jsonata.Tokens(text)
	if err != nil || len(tokens) == 0 {
		return "", false
	}
	in := &indenter{text: text, tokens: tokens}
	out := in.run()
	if out == text || !sameExpression(out, text) {
		return "", false
	}
	return out, true
}

type indenter struct {
	text   string
	tokens []jsonata.Token
	next   int // the first token that is not passed
	open   []bracket
	out    strings.Builder
	// oldStart and newStart are the indentations of the line that began the
	// current item.
	oldStart, newStart int
}

func (in *indenter) run() string {
	at := 0
	for number := 0; at <= len(in.text); number++ {
		end := len(in.text)
		if i := strings.IndexByte(in.text[at:], '\n'); i >= 0 {
			end = at + i
		}
		if number > 0 {
			in.out.WriteByte('\n')
		}
		in.line(at, end, number == 0)
		at = end + 1
	}
	return in.out.String()
}

// line writes one line.
func (in *indenter) line(from, to int, first bool) {
	line := in.text[from:to]
	content := strings.TrimLeft(line, " \t")
	start := to - len(content)
	if in.isInside(from) {
		in.out.WriteString(line)
		in.pass(from, from, 0, to)
		return
	}
	if !in.isInside(to) {
		content = strings.TrimRight(content, " \t")
	}
	if content == "" {
		return
	}
	old := len(line) - len(strings.TrimLeft(line, " \t"))
	indent := in.indent(start, old, first)
	in.out.WriteString(strings.Repeat(" ", indent) + content)
	in.pass(start, start-old, indent-old, to)
}

// isInside reports whether an offset lies in a token or in a comment.
func (in *indenter) isInside(at int) bool {
	if in.next > 0 && at < in.tokens[in.next-1].End {
		return true
	}
	from := 0
	if in.next > 0 {
		from = in.tokens[in.next-1].End
	}
	to := len(in.text)
	if in.next < len(in.tokens) {
		to = in.tokens[in.next].Off
	}
	if at > to || at < from {
		return at > to && at < in.tokens[in.next].End
	}
	before := in.text[from:at]
	for {
		i := strings.Index(before, "/*")
		if i < 0 {
			return false
		}
		j := strings.Index(before[i+2:], "*/")
		if j < 0 {
			return true
		}
		before = before[i+2+j+2:]
	}
}

// indent returns the indentation of a line whose text begins at an offset, with
// the indentation old.
func (in *indenter) indent(start, old int, first bool) int {
	if first {
		in.oldStart, in.newStart = old, old
		return old
	}
	base := 0
	if n := len(in.open); n > 0 {
		base = in.open[n-1].indent + indentation
	}
	isToken := in.next < len(in.tokens) && in.tokens[in.next].Off == start
	if isToken && in.tokens[in.next].Operator {
		switch in.tokens[in.next].Text {
		case ")", "]", "}":
			if n := len(in.open); n > 0 {
				if b := in.open[n-1]; b.oldCol >= 0 && old >= b.oldCol-indentation {
					return max(b.indent, b.newCol+old-b.oldCol) // aligned with what it closes
				}
				return in.open[n-1].indent
			}
			return 0
		}
	}
	if in.continues(isToken) {
		return max(base+indentation, in.newStart+old-in.oldStart)
	}
	if n := len(in.open); n > 0 {
		if b := in.open[n-1]; b.oldCol >= 0 && old == b.oldCol {
			base = b.newCol
		}
	}
	in.oldStart, in.newStart = old, base
	return base
}

// continues reports whether the line goes on with what the one before it began:
// with an operator in front of it, or at its own beginning.
func (in *indenter) continues(isToken bool) bool {
	if in.next == 0 {
		return false
	}
	if last := in.tokens[in.next-1]; last.Operator {
		switch last.Text {
		case "(", "[", "{", ",", ";":
			return false
		case ")", "]", "}":
		default:
			return true
		}
	}
	return isToken && in.tokens[in.next].Operator || isToken && !in.tokens[in.next-1].Operator
}

// pass goes through the tokens of a line: it was at lineStart and moved by delta
// columns.
func (in *indenter) pass(from, lineStart, delta, to int) {
	indent := 0
	written := in.out.String()
	written = written[strings.LastIndexByte(written, '\n')+1:]
	indent = len(written) - len(strings.TrimLeft(written, " "))
	for ; in.next < len(in.tokens) && in.tokens[in.next].Off < to; in.next++ {
		t := in.tokens[in.next]
		if !t.Operator {
			continue
		}
		switch t.Text {
		case "(", "[", "{":
			b := bracket{indent: indent, oldCol: -1}
			if in.next+1 < len(in.tokens) && in.tokens[in.next+1].Off < to {
				b.oldCol = utf8.RuneCountInString(in.text[lineStart:in.tokens[in.next+1].Off])
				b.newCol = b.oldCol + delta
			}
			in.open = append(in.open, b)
		case ")", "]", "}":
			if n := len(in.open); n > 0 {
				in.open = in.open[:n-1]
			}
		}
	}
}
