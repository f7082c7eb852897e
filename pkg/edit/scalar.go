package edit

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

func isBlockScalar(l *config.Layout) bool {
	return l.Style == config.LiteralStyle || l.Style == config.FoldedStyle
}

func runeCount(text []byte) int { return utf8.RuneCount(text) }

// blockScalar writes a block scalar behind its key or dash. Its lines keep their
// indentation relative to each other.
func blockScalar(p *printer, v *config.Layout, at place) {
	headEnd := lineEnd(p.src, v.Content)
	head := strings.TrimRight(string(p.src[v.Content:headEnd]), " \t")
	head, comment := head[:indicators(head)], head[indicators(head):]
	style, digit, chomp := head[:1], 0, ""
	for _, c := range head[1:] {
		if c == '-' || c == '+' {
			chomp = string(c)
		} else {
			digit = int(c - '0')
		}
	}
	var lines []string
	if headEnd < v.End {
		lines = strings.Split(strings.TrimSuffix(string(p.src[headEnd+1:v.End]), "\n"), "\n")
	}
	old := blockIndent(lines)
	if digit > 0 {
		old = at.oldCol + digit
		if at.oldCol < 0 {
			old = digit
		}
	}
	if v.End == len(p.src) && !p.isLineStart(v.End) && !strings.HasSuffix(v.Text, "\n") {
		chomp = "-" // the value has no line break, because the file ends without one
	}
	for i, line := range lines {
		lines[i] = line[min(old, len(line)-len(strings.TrimLeft(line, " "))):]
	}
	keep := chomp == "+"
	if at.kind == expression && v.Style == config.LiteralStyle && !keep {
		if text, ok := indentExpression(strings.Join(lines, "\n")); ok {
			lines = strings.Split(text, "\n")
		}
	}
	explicit := ""
	if digit > 0 && needsIndicator(lines) {
		explicit = string(rune('0' + indentation))
	}
	p.write(string(p.src[v.Start:v.Content]) + style + explicit + chomp + comment)
	literalLines(p, lines, at.col+indentation)
	if p.isLineStart(v.End) && v.End > headEnd {
		p.out, p.fresh = append(p.out, '\n'), true
	}
}

// indicators returns the length of the head of a block scalar without a comment.
func indicators(head string) int {
	n := 1
	for n < len(head) && strings.IndexByte("+-123456789", head[n]) >= 0 {
		n++
	}
	return n
}

// blockIndent returns the indentation of the first line that is not blank.
func blockIndent(lines []string) int {
	for _, line := range lines {
		if content := strings.TrimLeft(line, " "); content != "" {
			return len(line) - len(content)
		}
	}
	return 0
}

// needsIndicator reports whether the indentation of a block cannot be seen in its
// first line.
func needsIndicator(lines []string) bool {
	for _, line := range lines {
		if line != "" {
			return line[0] == ' ' || line[0] == '\t'
		}
	}
	return false
}

// literalLines writes the lines of a block scalar.
func literalLines(p *printer, lines []string, col int) {
	for _, line := range lines {
		p.newline()
		if line != "" {
			p.indent(col)
			p.write(line)
		}
	}
}

// canBeLiteral reports whether a string can be written as a literal block scalar.
func canBeLiteral(s string) bool {
	if s == "" || strings.HasSuffix(s, "\n\n") || s == "\n" || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t':
		case r == '\u0085' || r == '\u2028' || r == '\u2029' || r == '\ufeff' || !unicode.IsPrint(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r):
			return false
		case r < ' ' || r == 0x7f:
			return false
		}
	}
	return true
}

// longExpression writes an expression as a block scalar. Where its source breaks
// a line, so does the block.
func longExpression(p *printer, v *config.Layout, col int, comment string) {
	text := v.Text
	if broken, ok := brokenText(p, v); ok {
		text = broken
	}
	chomp := "-"
	if strings.HasSuffix(text, "\n") {
		chomp, text = "", strings.TrimSuffix(text, "\n")
	}
	if again, ok := indentExpression(text); ok {
		text = again
	}
	lines := strings.Split(text, "\n")
	explicit := ""
	if needsIndicator(lines) {
		explicit = string(rune('0' + indentation))
	}
	p.write("|" + explicit + chomp + comment)
	literalLines(p, lines, col)
}

// brokenText returns the text of an expression with line breaks where its source
// has them, if it still means the same.
func brokenText(p *printer, v *config.Layout) (string, bool) {
	source := p.src[v.Content:v.End]
	if bytes.IndexByte(source, '\n') < 0 || strings.Contains(v.Text, "\n") {
		return "", false
	}
	text := string(source)
	switch v.Style {
	case config.SingleStyle:
		text = strings.ReplaceAll(text[1:len(text)-1], "''", "'")
	case config.DoubleStyle:
		text = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(text[1 : len(text)-1])
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		if i > 0 {
			lines[i] = strings.TrimLeft(lines[i], " \t")
		}
		if i < len(lines)-1 {
			lines[i] = strings.TrimRight(lines[i], " \t")
		}
	}
	if strings.Join(lines, " ") != v.Text {
		return "", false
	}
	text = strings.TrimSpace(strings.Join(lines, "\n"))
	return text, sameExpression(text, v.Text)
}
