package config

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

const (
	quotedStyles = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle
	blockStyles  = yaml.LiteralStyle | yaml.FoldedStyle
)

// align finds where in the file each byte of a scalar was written. It walks
// value and source in step by the rules of YAML 1.2.2, chapters 7 and 8, rather
// than parse again: what was read is known, so that indentation and the end of
// plain scalars follow from it.
func (d *document) align(w *written) *alignment {
	a := &aligner{src: d.source, value: w.raw}
	a.at = d.skipProperties(w)
	switch {
	case w.style()&quotedStyles != 0:
		a.quoted(w.style()&yaml.DoubleQuotedStyle != 0)
	case w.style()&blockStyles != 0:
		a.block(w.style()&yaml.FoldedStyle != 0)
	default:
		a.plain()
	}
	return &alignment{pieces: a.pieces, tail: a.tail, end: a.end}
}

// skipProperties returns the offset of a node's content, behind its tag and
// anchor, which the YAML library counts as part of the node.
func (d *document) skipProperties(w *written) int {
	at := d.lines.Offset(w.pos())
	if w.properties == nil {
		return at
	}
	if w.scalar && w.raw == "" && w.style()&(quotedStyles|blockStyles) == 0 {
		return at
	}
	src := d.source
	for at < len(src) && (src[at] == '&' || src[at] == '!') {
		// A name need not end at white space: the library lets "&a::" be the
		// anchor "a:" and the text ":".
		if name := "&" + w.anchor(); name != "&" && bytes.HasPrefix(src[at:], []byte(name)) {
			at = skipBlank(src, at+len(name))
			continue
		}
		for at < len(src) && !isSpace(src[at]) {
			at++
		}
		at = skipBlank(src, at)
	}
	return at
}

// skipBlank goes on to the next character that is neither white space nor part
// of a comment.
func skipBlank(src []byte, at int) int {
	for at < len(src) {
		switch {
		case isSpace(src[at]):
			at++
		case src[at] == '#' && (at == 0 || isSpace(src[at-1])):
			at = lineEnd(src, at)
		default:
			return at
		}
	}
	return at
}

func isSpace(c byte) bool { return isBlank(c) || isBreak(c) }
func isBlank(c byte) bool { return c == ' ' || c == '\t' }
func isBreak(c byte) bool { return c == '\n' || c == '\r' }

func lineEnd(src []byte, at int) int {
	if i := bytes.IndexAny(src[at:], "\r\n"); i >= 0 {
		return at + i
	}
	return len(src)
}

// aligner is one scalar on its way. done counts the bytes of value that have a
// piece.
type aligner struct {
	src    []byte
	at     int
	value  string
	done   int
	pieces []piece
	tail   int
	end    int
}

// addUnchanged records that the next n bytes of the value were written as they
// are at offset from.
func (a *aligner) addUnchanged(from, n int) {
	if n <= 0 {
		return
	}
	if last := len(a.pieces) - 1; last < 0 || a.pieces[last].width > 0 ||
		a.pieces[last].source-a.pieces[last].value != from-a.done {
		a.pieces = append(a.pieces, piece{value: a.done, source: from})
	}
	a.done += n
}

// addReplaced records that the width bytes at offset from were read as the next
// n bytes of the value.
func (a *aligner) addReplaced(from, width, n int) {
	a.pieces = append(a.pieces, piece{value: a.done, source: from, width: max(1, width)})
	a.done += n
}

// breakWidth is the length of the line break at an offset, 0 if there is none.
func (a *aligner) breakWidth(at int) int {
	switch {
	case at >= len(a.src) || !isBreak(a.src[at]):
		return 0
	case a.src[at] == '\r' && at+1 < len(a.src) && a.src[at+1] == '\n':
		return 2
	default:
		return 1
	}
}

// fold reads the white space at the current place. Without a line break it is
// content. With one, the white space around the break goes, the break becomes a
// space, and each further break a line feed (YAML 1.2.2, 6.5). escaped is set
// behind a break that an escape took out of the value.
func (a *aligner) fold(escaped bool) {
	first, further := -1, false
	from := a.at
	for a.at < len(a.src) && isSpace(a.src[a.at]) {
		w := a.breakWidth(a.at)
		switch {
		case w == 0:
			a.at++
			continue
		case first < 0 && !escaped:
			first = a.at
		default:
			a.addReplaced(a.at, w, 1)
			further = true
		}
		a.at += w
	}
	switch {
	case escaped || further:
	case first >= 0:
		a.addReplaced(first, a.breakWidth(first), 1)
	default:
		a.addUnchanged(from, a.at-from)
	}
}

func (a *aligner) plain() {
	for a.done < len(a.value) && a.at < len(a.src) {
		if isSpace(a.src[a.at]) {
			a.fold(false)
			continue
		}
		a.addUnchanged(a.at, 1)
		a.at++
	}
	a.tail, a.end = a.at, a.at
}

func (a *aligner) quoted(double bool) {
	quote := byte('\'')
	if double {
		quote = '"'
	}
	a.at++
	for a.at < len(a.src) {
		c := a.src[a.at]
		switch {
		case isSpace(c):
			a.fold(false)
		case c == '\'' && !double && a.at+1 < len(a.src) && a.src[a.at+1] == '\'':
			a.addReplaced(a.at, 2, 1)
			a.at += 2
		case c == quote:
			a.tail, a.end = a.at, a.at+1
			return
		case c == '\\' && double:
			if w := a.breakWidth(a.at + 1); w > 0 {
				a.at += 1 + w
				a.fold(true)
				continue
			}
			width := a.escapeWidth()
			_, size := utf8.DecodeRuneInString(a.value[min(a.done, len(a.value)):])
			if isSurrogate(a.value, a.done) {
				size = 3
			}
			a.addReplaced(a.at, width, size)
			a.at += width
		default:
			a.addUnchanged(a.at, 1)
			a.at++
		}
	}
	a.tail, a.end = a.at, a.at
}

// escapeWidth is the length of the escape at the current place; two escapes of
// UTF-16 surrogates that were read as one character count as one.
func (a *aligner) escapeWidth() int {
	if a.at+1 >= len(a.src) {
		return 1
	}
	switch a.src[a.at+1] {
	case 'x':
		return 4
	case 'u':
		if r, _ := utf8.DecodeRuneInString(a.value[min(a.done, len(a.value)):]); r > 0xFFFF {
			return 12
		}
		return 6
	case 'U':
		return 10
	default:
		return 2
	}
}

// isSurrogate reports whether the generalised UTF-8 form of a lone UTF-16
// surrogate stands at a place of a string.
func isSurrogate(s string, at int) bool {
	return at+2 < len(s) && s[at] == 0xED && s[at+1] >= 0xA0
}

// block aligns a literal or folded block scalar (YAML 1.2.2, 8.1).
func (a *aligner) block(folded bool) {
	a.at = lineEnd(a.src, a.at)
	a.tail, a.end = a.at, a.at
	a.at += a.breakWidth(a.at)
	indent := a.blockIndent()
	var breaks []int // offsets of the line breaks that are not yet in the value
	content, spaced := false, false
	for a.done < len(a.value) && a.at < len(a.src) {
		from := a.at
		for a.at < len(a.src) && a.at-from < indent && a.src[a.at] == ' ' {
			a.at++
		}
		end := lineEnd(a.src, a.at)
		if a.at == end {
			breaks = append(breaks, a.at)
			a.at += a.breakWidth(a.at)
			continue
		}
		if a.at-from < indent {
			break
		}
		nowSpaced := isBlank(a.src[a.at])
		if content && folded && !spaced && !nowSpaced && len(breaks) > 1 {
			breaks = breaks[1:] // the first break goes where empty lines follow it
		}
		for _, b := range breaks {
			a.addReplaced(b, a.breakWidth(b), 1)
		}
		breaks = breaks[:0]
		a.addUnchanged(a.at, end-a.at)
		content, spaced = true, nowSpaced
		a.tail, a.end = end, end
		breaks = append(breaks, end)
		a.at = end + a.breakWidth(end)
	}
	// What chomping left of the line breaks at the end.
	for _, b := range breaks {
		if a.done < len(a.value) {
			a.addReplaced(b, a.breakWidth(b), 1)
		}
	}
	for a.done < len(a.value) {
		a.addReplaced(len(a.src), 0, 1)
	}
}

// blockIndent returns the indentation of a block scalar, from its first line
// with content: what the file has before it and the value has not.
func (a *aligner) blockIndent() int {
	text := strings.TrimLeft(a.value, "\n")
	if text == "" {
		return math.MaxInt
	}
	at := a.at
	for range len(a.value) - len(text) {
		at = lineEnd(a.src, at)
		at += a.breakWidth(at)
	}
	return spaces(a.src[at:]) - spaces(text)
}

func spaces[S string | []byte](s S) int {
	n := 0
	for n < len(s) && s[n] == ' ' {
		n++
	}
	return n
}
