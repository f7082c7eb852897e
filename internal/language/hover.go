package language

import (
	"fmt"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/schematext"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// Hover returns what is known about the word at an offset, as Markdown, and the
// bytes of the word. ok is false if nothing is.
func Hover(d *Document, offset int) (text string, span Span, ok bool) {
	if d.Kind == Other || d.Kind == Blank || len(d.Text) > MaxBytes || offset < 0 || offset > len(d.Text) {
		return "", Span{}, false
	}
	p := findPlace(d.Text, offset)
	m := d.near(p)
	if m == nil || !p.isKey && !p.isValue {
		return "", Span{}, false
	}
	c := &cursor{d, p, offset, m}
	at, k := shapeOf(d).find(p.path, m.root)
	if at == nil {
		return "", Span{}, false
	}
	if at.role == expression && p.isValue {
		if text, span, ok := c.hoverExpression(); ok {
			return text, span, true
		}
	}
	if o, ok := d.at(offset); ok {
		if text := c.hoverName(o); text != "" {
			return text, o.Span, true
		}
	}
	word := strings.TrimSpace(d.Text[p.from:min(p.to, len(d.Text))])
	if p.isKey && p.colon && at.keys != nil {
		for _, k := range at.keys(m.root.At(p.path...)) {
			if k.name == word {
				return hoverKey(&k), Span{p.from, p.to}, true
			}
		}
	}
	if doc := c.valueDoc(word); doc != "" && p.isValue {
		return fmt.Sprintf("**%s**\n\n%s", word, doc), Span{p.from, p.to}, true
	}
	if at.role == failureName && p.isValue {
		for _, f := range failureNames() {
			if f[0] == word {
				return fmt.Sprintf("**%s**\n\n%s", f[0], f[1]), Span{p.from, p.to}, true
			}
		}
	}
	if at.role == upstreamTool && p.isValue {
		server := m.root.At(p.path[:len(p.path)-1]...).Get("server").Text().String()
		if home := d.home(); home != nil {
			if text := describeUpstreamTool(home, server, word); text != "" {
				return text, Span{p.from, p.to}, true
			}
		}
	}
	if p.isValue && k != nil && !p.block && word != "" {
		return hoverKey(k), Span{p.from, p.to}, true
	}
	return "", Span{}, false
}

func hoverKey(k *key) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**", k.name)
	if detail := k.detail(); detail != "" {
		fmt.Fprintf(&b, " (%s)", detail)
	}
	b.WriteString("\n\n" + k.doc)
	if len(k.of.values) > 0 {
		b.WriteString("\n\nOne of `" + strings.Join(k.of.values, "`, `") + "`")
	}
	return b.String()
}

// hoverName returns what is known about a node, server or tool.
func (c *cursor) hoverName(o occurrence) string {
	m := c.configModel()
	if m == nil || m.file == nil {
		return ""
	}
	switch o.kind {
	case nodeName:
		if o.scope < len(m.units) {
			if n := m.units[o.scope].Node(o.name); n != nil {
				return describeNode(c.doc.home(), m, n)
			}
		}
	case serverEntry:
		for _, up := range m.file.Upstreams {
			if up.Name == o.name {
				target := up.URL
				if up.Command != "" {
					target = up.Command
				}
				return fmt.Sprintf("**%s** (server, %s)\n\n`%s`", up.Name, up.Transport, inlineCode(target))
			}
		}
	case toolEntry:
		for _, t := range m.file.Tools {
			if t.Name.String() == o.name {
				return fmt.Sprintf("**%s** (tool)\n\n%s%s", o.name, t.Description, list("Arguments", schematext.Fields(t.InputSchema.Value())))
			}
		}
	}
	return ""
}

// inlineCode returns text that can stand between two back-quotes.
func inlineCode(s string) string {
	return strings.NewReplacer("`", "'", "\n", " ").Replace(s[:min(len(s), 200)])
}

// describeNode returns what is known about a node.
func describeNode(d *Document, m *model, n *graph.Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**", n.ID)
	if n.Kind != nil {
		fmt.Fprintf(&b, " (%s node)\n\n%s", n.Kind.Name, n.Kind.Doc)
	}
	if n.Server != "" {
		fmt.Fprintf(&b, "\n\nCalls tool `%s` of server `%s`", inlineCode(n.Tool), inlineCode(n.Server))
	}
	for i := range n.Edges {
		if i == 0 {
			b.WriteString("\n\nGoes to ")
		} else {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "`%s`", inlineCode(n.Edges[i].Target))
		if i == 20 {
			b.WriteString(", …")
			break
		}
	}
	b.WriteString(list("Output", properties(d, m, n, nil)))
	return b.String()
}

// list returns fields as a Markdown list under a heading.
func list(heading string, fields []schematext.Field) string {
	if len(fields) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\n" + heading + ":\n")
	for i, f := range fields {
		if i == 50 {
			b.WriteString("\n- …")
			break
		}
		b.WriteString("\n- `" + inlineCode(f.Name) + "`")
		if text := described(f); text != "" {
			b.WriteString(": " + text)
		}
	}
	return b.String()
}

// described returns what is known about a field in one line.
func described(f schematext.Field) string {
	var words []string
	if f.Type != "" {
		words = append(words, f.Type)
	}
	if f.Required {
		words = append(words, "required")
	}
	if !f.Default.IsUndefined() {
		words = append(words, "default "+inlineCode(f.Default.JSON()))
	}
	if f.Description != "" {
		words = append(words, f.Description)
	}
	return strings.Join(words, "; ")
}

// hoverExpression returns what is known about a name in an expression.
func (c *cursor) hoverExpression() (string, Span, bool) {
	text, from, to := c.doc.Text, c.offset, c.offset
	for from > c.place.from && isNameByte(text[from-1]) {
		from--
	}
	for to < c.place.to && isNameByte(text[to]) {
		to++
	}
	word := text[from:to]
	if name, ok := strings.CutPrefix(word, "$"); ok {
		if f := functionOf(name); f != nil {
			return fmt.Sprintf("```jsonata\n%s\n```\n\n%s", f.call, f.doc), Span{from, to}, true
		}
		return "", Span{}, false
	}
	p := readExpr(text[c.place.from:to])
	if !p.rooted || len(p.path) == 0 || word == "" {
		return "", Span{}, false
	}
	for _, n := range c.readable() {
		if n.ID != p.path[0] {
			continue
		}
		for _, k := range properties(c.doc, c.model, n, p.path[1:]) {
			if k.Name == word {
				return fmt.Sprintf("**%s**%s", word, strings.TrimPrefix(list("", []schematext.Field{k}), "\n\n:\n")), Span{from, to}, true
			}
		}
	}
	return "", Span{}, false
}
