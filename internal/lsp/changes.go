package lsp

import (
	"slices"
	"strings"
)

// maxChangeBytes is how many bytes the changes of one message may move within lines. A
// line that gets another number counts as lineBytes of them.
const maxChangeBytes, lineBytes = 256 << 20, 4

// changedText is a text that is being changed. A change costs the lines that it
// concerns, and little for those below it if it adds or removes lines.
type changedText struct {
	lines    []string // with their breaks; the last one has none
	encoding string
	moved    int // bytes
}

func newChangedText(text, encoding string) *changedText {
	return &changedText{lines: splitLines(text), encoding: encoding}
}

func (c *changedText) String() string { return strings.Join(c.lines, "") }

// splitLines returns the lines of a text as [newLineIndex] finds them.
func splitLines(text string) []string {
	starts := newLineIndex(text, utf8Units).starts
	lines := make([]string, len(starts))
	for i, from := range starts {
		to := len(text)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		lines[i] = text[from:to]
	}
	return lines
}

// place returns the line of a position and the byte in it.
func (c *changedText) place(p Position) (line, at int) {
	if int64(p.Line) >= int64(len(c.lines)) {
		line = len(c.lines) - 1
		return line, len(c.lines[line])
	}
	line = int(p.Line)
	c.moved += len(c.lines[line])
	return line, newLineIndex(c.lines[line], c.encoding).offset(Position{Character: p.Character})
}

// replace replaces a range. It reports false if the changes have become too much.
func (c *changedText) replace(r Range, text string) bool {
	first, from := c.place(r.Start)
	last, to := c.place(r.End)
	if last < first || last == first && to < from {
		first, from, last, to = last, to, first, from
	}
	changed := c.lines[first][:from] + text + c.lines[last][to:]
	// A break of two characters may begin or end beside the range.
	if first > 0 && strings.HasPrefix(changed, "\n") && strings.HasSuffix(c.lines[first-1], "\r") {
		first--
		changed = c.lines[first] + changed
	}
	if last+1 < len(c.lines) && strings.HasSuffix(changed, "\r") && strings.HasPrefix(c.lines[last+1], "\n") {
		last++
		changed += c.lines[last]
	}
	lines := splitLines(changed)
	if last+1 < len(c.lines) && len(lines) > 1 {
		lines = lines[:len(lines)-1] // what stands behind the last break is the next line
	}
	if len(lines) != last+1-first {
		c.moved += lineBytes * (len(c.lines) - last - 1)
	}
	c.lines = slices.Replace(c.lines, first, last+1, lines...)
	c.moved += len(changed)
	return c.moved <= maxChangeBytes
}
