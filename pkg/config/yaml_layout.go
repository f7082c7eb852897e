package config

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// Layout is a YAML value as it was written, for programs that edit the text of a
// file. Aliases and merge keys are not resolved. Its offsets count the bytes of
// the source without a byte order mark. It is immutable.
type Layout struct {
	Kind  Kind
	Style Style
	// Start is the offset of the value with its anchor and tag, Content without
	// them, and End the offset just behind it. An empty value, such as that of
	// "key:", has Start equal to End, behind the colon or the dash.
	Start, Content, End int
	// Text is the string of a scalar, or the name behind the * of an alias.
	Text string
	// Items are the elements of a List. Those of a Map are its keys and values, in
	// turns.
	Items []*Layout
}

// Style is how a value is written.
type Style uint8

// The styles of values.
const (
	PlainStyle   Style = iota // a scalar without quotes
	SingleStyle               // a scalar in single quotes
	DoubleStyle               // a scalar in double quotes
	LiteralStyle              // a block scalar after |
	FoldedStyle               // a block scalar after >
	AliasStyle                // an alias; Kind is Scalar
	BlockStyle                // a map or list with one item on a line
	FlowStyle                 // a map in braces, or a list in brackets
)

// IsEmpty reports whether nothing is written where the value belongs.
func (l *Layout) IsEmpty() bool { return l.Start == l.End }

// IsOrdered reports whether all parts of the value follow one another in the
// text. In rare cases they do not: what the YAML library takes for an anchor or a
// tag then ends elsewhere than by the rules of YAML.
func (l *Layout) IsOrdered() bool {
	at := l.Content
	if l.Start > at || at > l.End {
		return false
	}
	for _, item := range l.Items {
		if item.Start < at || !item.IsOrdered() {
			return false
		}
		at = item.End
	}
	return at <= l.End
}

// HasProperties reports whether the value has an anchor or a tag.
func (l *Layout) HasProperties() bool { return l.Content > l.Start }

// ParseLayout parses a single YAML document like ParseYAML, and also returns how
// it is written. Both are nil if the source is not one YAML document.
func ParseLayout(path string, source []byte) (*Node, *Layout, []diag.Diagnostic) {
	d, n, tree, ds := readTree(path, source, nil, true)
	if n == nil {
		return nil, nil, ds
	}
	b := &layoutBuilder{document: d}
	return n, b.build(tree, 0), ds
}

// layoutBuilder turns the library's tree into Layouts.
type layoutBuilder struct {
	*document
	slab []Layout
}

// build returns the layout of a value. An empty one stands at the offset empty.
func (b *layoutBuilder) build(y *yaml.Node, empty int) *Layout {
	if len(b.slab) == 0 {
		b.slab = make([]Layout, 128)
	}
	l := &b.slab[0]
	b.slab = b.slab[1:]
	l.Start = b.lines.Offset(diag.Pos{Line: y.Line, Col: y.Column})
	switch y.Kind {
	case yaml.AliasNode:
		l.Style, l.Text = AliasStyle, y.Value
		l.Content, l.End = l.Start, l.Start+1+len(y.Value)
	case yaml.MappingNode:
		l.Kind = Map
		b.collection(l, y)
	case yaml.SequenceNode:
		l.Kind = List
		b.collection(l, y)
	default:
		b.scalar(l, y, empty)
	}
	return l
}

func (b *layoutBuilder) scalar(l *Layout, y *yaml.Node, empty int) {
	w := writtenOf(y)
	l.Text, l.Style = w.raw, scalarStyle(w.style())
	plain := l.Style == PlainStyle && w.raw == ""
	if plain && w.properties == nil {
		l.Start, l.Content, l.End = empty, empty, empty
		return
	}
	if plain { // an anchor or a tag of nothing
		l.Content = b.properties(l.Start)
		l.End = l.Content
		return
	}
	l.Content = b.skipProperties(&w)
	if end, ok := b.simpleEnd(l); ok {
		l.End = end
		return
	}
	l.End = b.align(&w).end
	// The blank lines behind a scalar that keeps them belong to it.
	if head := b.source[l.Content:lineEnd(b.source, l.Content)]; w.style()&blockStyles != 0 && keepsBreaks(head) {
		for at := l.End; at < len(b.source); {
			at += len(b.source[at:]) - len(bytes.TrimLeft(b.source[at:], " "))
			if at < len(b.source) && !isBreak(b.source[at]) {
				break
			}
			if bytes.HasPrefix(b.source[at:], []byte("\r\n")) {
				at++
			}
			at = min(at+1, len(b.source))
			l.End = at
		}
	}
}

// keepsBreaks reports whether the first line of a block scalar has the indicator
// +, which keeps the line breaks at its end.
func keepsBreaks(head []byte) bool {
	head, _, _ = bytes.Cut(head, []byte(" "))
	return bytes.IndexByte(head, '+') >= 0
}

// simpleEnd returns the end of a scalar that is written as it is read; ok is
// false for one with escapes or line breaks.
func (b *layoutBuilder) simpleEnd(l *Layout) (end int, ok bool) {
	quote := ""
	switch l.Style {
	case PlainStyle:
	case SingleStyle:
		quote = "'"
	case DoubleStyle:
		quote = `"`
	default:
		return 0, false
	}
	rest := b.source[l.Content:]
	if !bytes.HasPrefix(rest, []byte(quote)) || !bytes.HasPrefix(rest[len(quote):], []byte(l.Text)) ||
		!bytes.HasPrefix(rest[len(quote)+len(l.Text):], []byte(quote)) || quote != "" && strings.ContainsAny(l.Text, quote+`\`) {
		return 0, false
	}
	return l.Content + 2*len(quote) + len(l.Text), true
}

func scalarStyle(s yaml.Style) Style {
	switch {
	case s&yaml.DoubleQuotedStyle != 0:
		return DoubleStyle
	case s&yaml.SingleQuotedStyle != 0:
		return SingleStyle
	case s&yaml.LiteralStyle != 0:
		return LiteralStyle
	case s&yaml.FoldedStyle != 0:
		return FoldedStyle
	}
	return PlainStyle
}

// properties returns the offset behind the anchor and the tag at an offset.
func (b *layoutBuilder) properties(at int) int {
	end := at
	for at < len(b.source) && (b.source[at] == '&' || b.source[at] == '!') {
		for at < len(b.source) && !isSpace(b.source[at]) && strings.IndexByte(",[]{}", b.source[at]) < 0 {
			at++
		}
		end = at
		for at < len(b.source) && isBlank(b.source[at]) {
			at++
		}
	}
	return end
}

func (b *layoutBuilder) collection(l *Layout, y *yaml.Node) {
	w := writtenOf(y)
	l.Content, l.Style = b.skipProperties(&w), BlockStyle
	at := l.Content
	bare := false // a map of one key in a list: [key: value]
	if y.Style&yaml.FlowStyle != 0 {
		l.Style = FlowStyle
		if bare = l.Content >= len(b.source) || b.source[l.Content] != '{' && b.source[l.Content] != '['; !bare {
			at++
		}
	}
	if len(y.Content) > 0 {
		l.Items = make([]*Layout, len(y.Content))
	}
	for i, child := range y.Content {
		// Where an empty value would stand: behind the colon or the dash.
		empty := at
		if l.Style == BlockStyle || l.Kind == Map && i%2 == 1 {
			if next := skipBlank(b.source, at); next < len(b.source) && (b.source[next] == ':' || b.source[next] == '-' || b.source[next] == '?') {
				empty = next + 1
			}
		}
		item := b.build(child, empty)
		l.Items[i] = item
		at = max(at, item.End)
		if l.Style == FlowStyle && !bare && (l.Kind == List || i%2 == 1) {
			at = skipPast(b.source, at, ',')
		}
	}
	l.End = at
	if l.Style == FlowStyle && !bare {
		at = skipBlank(b.source, at)
		l.End = min(at+1, len(b.source))
	}
}

// skipPast returns the offset behind the next character if that is c, else at.
func skipPast(src []byte, at int, c byte) int {
	if next := skipBlank(src, at); next < len(src) && src[next] == c {
		return next + 1
	}
	return at
}
