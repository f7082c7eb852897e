package config

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// lookalike reports a character that looks like a space where YAML would take a space
// as none of the text: at an end of text without quotes, or behind the colon of a key.
func (b *builder) lookalike(n *Node) {
	text := n.raw
	if n.style()&(quotedStyles|blockStyles) != 0 || strings.IndexFunc(text, isSpaceLookalike) < 0 {
		return
	}
	at := -1
	for i, r := range text {
		if !isSpaceLookalike(r) || r == 0x2028 || r == 0x2029 || r == 0x85 { // those end lines
			continue
		}
		if i == 0 || i+utf8.RuneLen(r) == len(text) || text[i-1] == ':' {
			at = i
			break
		}
	}
	if at < 0 {
		return
	}
	what, _ := findSpaceLookalike([]byte(text[at:]))
	_, size := utf8.DecodeRuneInString(text[at:])
	message := fmt.Sprintf("YAML reads %s as part of the text %q", what, text)
	if at > 0 && text[at-1] == ':' {
		message = fmt.Sprintf("YAML reads %s as part of the text, so there is no key %q", what, text[strings.LastIndexAny(text[:at-1], " \t")+1:at-1])
	}
	d := Text{n}.ProblemAt(at, at+size, diag.CodeOddCharacter, message)
	d.Hint = "write a plain space, or put quotes around the text"
	b.report(d)
}

// lookalikeLines is how many lines before an error of syntax are searched.
const lookalikeLines = 20

// spaceLookalikeBefore describes the character nearest to an error of syntax, at most
// so many lines before it, that looks like a space where a space would have another
// meaning: in an indentation, behind a colon, or before what ends a value.
func spaceLookalikeBefore(d *document, pos diag.Pos) string {
	for line := pos.Line; line > max(0, pos.Line-lookalikeLines); line-- {
		text := d.lines.Line(line)
		for i, r := range string(text) {
			if !isSpaceLookalike(r) {
				continue
			}
			before, rest := bytes.TrimRightFunc(text[:i], isAnySpace), bytes.TrimLeftFunc(text[i:], isAnySpace)
			if line != pos.Line && len(before) > 0 && len(rest) > 0 && before[len(before)-1] != ':' && !strings.ContainsAny(string(rest[:1]), ",]}") {
				continue
			}
			what, _ := findSpaceLookalike(text[i:])
			place := fmt.Sprintf("column %d", utf8.RuneCount(text[:i])+1)
			if line != pos.Line {
				place += fmt.Sprintf(" of line %d", line)
			}
			return fmt.Sprintf("%s contains %s: use a plain space", place, what)
		}
	}
	return ""
}

func isAnySpace(r rune) bool { return r == ' ' || r == '\t' || isSpaceLookalike(r) }
