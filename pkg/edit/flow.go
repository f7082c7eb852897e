package edit

import (
	"bytes"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// flow returns the text of a map or list in flow style, or of what is in one,
// with its keys in order. Everything between the keys stays where it is.
func (p *printer) flow(l *config.Layout, kind part) string {
	if len(l.Items) == 0 {
		return string(p.src[l.Start:l.End])
	}
	var order []int
	if l.Kind == config.Map && p.isBare(l) {
		order = p.grammar.order(l, kind)
	}
	var b strings.Builder
	at := l.Start
	copyTo := func(to int) {
		b.Write(p.src[at:to])
		at = to
	}
	if l.Kind == config.List {
		for _, item := range l.Items {
			copyTo(item.Start)
			b.WriteString(p.flow(item, p.grammar.item(kind)))
			at = item.End
		}
		copyTo(l.End)
		return b.String()
	}
	texts := make([]string, len(l.Items)/2)
	for i := range texts {
		key, v := l.Items[2*i], l.Items[2*i+1]
		texts[i] = string(p.src[key.Start:max(key.End, v.Start)])
		if !v.IsEmpty() {
			texts[i] += p.flow(v, p.grammar.child(kind, l, key.Text))
		}
	}
	for i := range texts {
		copyTo(l.Items[2*i].Start)
		from := i
		if order != nil {
			from = order[i]
		}
		b.WriteString(texts[from])
		at = max(l.Items[2*i].End, l.Items[2*i+1].End)
	}
	copyTo(l.End)
	return b.String()
}

// isBare reports whether a flow map has simple keys with values and no comments
// between them, so that they can change places.
func (p *printer) isBare(l *config.Layout) bool {
	at := l.Content
	if p.src[at] != '{' {
		return false
	}
	plain := func(from, to int) bool { return !bytes.ContainsAny(p.src[from:to], "#?") }
	for i := 0; i < len(l.Items); i += 2 {
		key, v := l.Items[i], l.Items[i+1]
		if key.Kind != config.Scalar || key.Start < at || v.IsEmpty() || v.Start < key.End ||
			!plain(at, key.Start) || !plain(key.End, v.Start) {
			return false
		}
		at = v.End
	}
	return plain(at, l.End)
}

// asBlock writes a value as a block that is not one yet: a long expression, or a
// map or list in flow style with one in it. It reports whether it did.
func (p *printer) asBlock(v *config.Layout, at place) bool {
	comment := p.gap(v.End, lineEnd(p.src, v.End))
	if comment.odd || v.HasProperties() {
		return false
	}
	switch {
	case at.kind == expression && v.Kind == config.Scalar && p.isLong(v, at.kind, at.col):
		p.write(" ")
		longExpression(p, v, at.col+indentation, comment.inline)
	case v.Style == config.FlowStyle && p.isLong(v, at.kind, at.col) && p.canExpand(v, at.kind):
		if at.item {
			p.write(" ")
		}
		p.write(comment.inline)
		p.expand(v, at.kind, at.col+indentation, at.item && comment.inline == "")
	default:
		return false
	}
	p.pos = lineEnd(p.src, v.End)
	return true
}

// isLong reports whether an expression in a value is too long for one line, if
// the value stands in a map or list in a column.
func (p *printer) isLong(v *config.Layout, kind part, col int) bool {
	if v.Kind == config.Scalar {
		if kind != expression || v.Style == config.AliasStyle || isBlockScalar(v) || !canBeLiteral(v.Text) {
			return false
		}
		text := p.src[v.Start:v.End]
		return strings.Contains(v.Text, "\n") || bytes.IndexByte(text, '\n') >= 0 ||
			col+len("expr: ")+runeCount(text) > width
	}
	if v.Style != config.FlowStyle {
		return false
	}
	for i, item := range v.Items {
		k := p.grammar.item(kind)
		if v.Kind == config.Map {
			if i%2 == 0 {
				continue
			}
			k = p.grammar.child(kind, v, v.Items[i-1].Text)
		}
		if p.isLong(item, k, col+indentation) {
			return true
		}
	}
	return false
}

// canExpand reports whether a value in flow style with a long expression can be
// written as a block.
func (p *printer) canExpand(v *config.Layout, kind part) bool {
	if v.HasProperties() || v.Kind == config.Map && !p.isBare(v) {
		return false
	}
	if v.Kind == config.List {
		at := v.Content
		for _, item := range v.Items {
			if item.IsEmpty() || bytes.IndexByte(p.src[at:item.Start], '#') >= 0 || p.src[item.Content] != '{' && item.Kind == config.Map {
				return false
			}
			at = item.End
		}
		if bytes.IndexByte(p.src[at:v.End], '#') >= 0 {
			return false
		}
	}
	for i, item := range v.Items {
		k := p.grammar.item(kind)
		if v.Kind == config.Map {
			if i%2 == 0 {
				if bytes.IndexByte(p.src[item.Start:item.End], '\n') >= 0 {
					return false
				}
				continue
			}
			k = p.grammar.child(kind, v, v.Items[i-1].Text)
		}
		if item.Style == config.FlowStyle && p.isLong(item, k, 0) && !p.canExpand(item, k) {
			return false
		}
	}
	return true
}

// expand writes a value in flow style as a block.
func (p *printer) expand(v *config.Layout, kind part, col int, inline bool) {
	begin := func() {
		if inline {
			inline = false
			return
		}
		p.line(col)
	}
	if v.Kind == config.List {
		for _, item := range v.Items {
			begin()
			p.write("-")
			p.expandValue(item, p.grammar.item(kind), col, true)
		}
		return
	}
	order := p.grammar.order(v, kind)
	for i := range len(v.Items) / 2 {
		if order != nil {
			i = order[i]
		}
		key, value := v.Items[2*i], v.Items[2*i+1]
		begin()
		p.write(string(p.src[key.Start:key.End]) + ":")
		p.expandValue(value, p.grammar.child(kind, v, key.Text), col, false)
	}
}

func (p *printer) expandValue(v *config.Layout, kind part, col int, item bool) {
	switch {
	case !v.HasProperties() && p.isLong(v, kind, col) && v.Style == config.FlowStyle:
		if item {
			p.write(" ")
		}
		p.expand(v, kind, col+indentation, item)
	case !v.HasProperties() && p.isLong(v, kind, col):
		p.write(" ")
		longExpression(p, v, col+indentation, "")
	case v.Style == config.FlowStyle:
		p.write(" " + shift(p.flow(v, kind), col-indentOf(p.src, v.Start), 0))
	default:
		p.write(" " + continued(string(p.src[v.Start:v.End]), col+indentation))
	}
}
