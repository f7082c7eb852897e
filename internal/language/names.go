package language

import (
	"path/filepath"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// nameKind is what a name in a file stands for.
type nameKind uint8

const (
	nodeName nameKind = iota
	serverEntry
	toolEntry
)

// occurrence is a place at which something is named.
type occurrence struct {
	kind nameKind
	// scope is the index of the unit that a node is in.
	scope int
	name  string
	Span
	definition bool
	quote      byte // of a string in an expression
	unsure     bool // the name is not written in one piece
}

// occurrences returns all names in the file that stand for nodes, servers and
// tools, as they are written.
func (d *Document) occurrences(m *model) []occurrence {
	if m == nil {
		return nil
	}
	if m.suite != nil {
		return testOccurrences(d, m)
	}
	var list []occurrence
	for i := range m.units {
		for _, u := range m.units[i].Uses {
			o := occurrence{kind: nodeName, scope: i, name: u.Node.ID, definition: u.Kind == graph.Definition}
			if u.From < 0 {
				o.unsure = true
				o.Span = d.span(u.Text.Pos(), u.Text.End())
			} else {
				o.Span = d.span(u.Text.At(u.From), u.Text.After(u.To))
			}
			if u.Kind == graph.StringUse && !o.unsure {
				o.quote = u.Text.String()[u.From]
			}
			list = append(list, o)
		}
		for _, n := range m.units[i].Nodes {
			src := n.Source()
			tool := src.Get("tool")
			switch {
			case n.Kind == nil, src.IsGenerated():
			case n.Kind.Name == "mcp":
				list = d.named(list, serverEntry, src.Get("server"), false)
			case tool.IsString():
				list = d.named(list, toolEntry, tool, false)
			}
		}
	}
	if m.set != nil {
		for _, use := range m.set.ToolUses() {
			list = d.named(list, toolEntry, use, false)
		}
	}
	for _, t := range m.file.Tools {
		list = append(list, occurrence{kind: toolEntry, name: t.Name.String(), Span: d.textSpan(t.Name), definition: true})
	}
	for _, key := range []string{"mcpServers", "servers"} {
		for _, f := range m.root.Get(key).Fields() {
			list = append(list, occurrence{kind: serverEntry, name: f.Key.String(), Span: d.textSpan(f.Key), definition: true})
		}
	}
	return list
}

// textSpan returns the bytes of a text without its quotes.
func (d *Document) textSpan(t config.Text) Span {
	return d.span(t.At(0), t.After(len(t.String())))
}

func (d *Document) named(list []occurrence, kind nameKind, n *config.Node, definition bool) []occurrence {
	if !n.IsString() {
		return list
	}
	return append(list, occurrence{kind: kind, name: n.Text().String(), Span: d.textSpan(n.Text()), definition: definition})
}

// at returns the name at an offset, and whether there is one.
func (d *Document) at(offset int) (occurrence, bool) {
	for _, o := range d.occurrences(d.near(findPlace(d.Text, offset))) {
		if o.From <= offset && offset <= o.To && !o.unsure {
			return o, true
		}
	}
	return occurrence{}, false
}

// home returns the document in which the things that this one names are defined.
func (d *Document) home() *Document {
	if m := d.current(); m != nil && m.suite != nil {
		return d.configOf(m)
	}
	return d
}

// Definition returns where the node, server or tool that is named at an offset is
// defined.
func (d *Document) Definition(offset int) []Location {
	o, ok := d.at(offset)
	home := d.home()
	if !ok || home == nil {
		return nil
	}
	m := home.current()
	for _, other := range home.occurrences(m) {
		if other.definition && other.same(o) {
			return []Location{{home.Path, other.Span}}
		}
	}
	if o.kind == serverEntry && m != nil && m.file != nil {
		for _, up := range m.file.Upstreams {
			if up.Name == o.name && up.File != home.Path {
				return d.elsewhere(up)
			}
		}
	}
	return nil
}

// elsewhere returns the place of a server in another file.
func (d *Document) elsewhere(up *config.Upstream) []Location {
	if d.opts.Read == nil {
		return nil
	}
	text, err := d.opts.Read(up.File)
	if err != nil {
		return nil
	}
	other := New(up.File, string(text), Options{}, nil)
	from := other.Offset(up.Pos)
	return []Location{{up.File, Span{from, min(from+len(up.Name)+2, len(other.Text))}}}
}

func (o occurrence) same(other occurrence) bool {
	return o.kind == other.kind && o.name == other.name && (o.kind != nodeName || o.scope == other.scope)
}

// References returns every place in the file, and in the given test files, that
// names what is named at an offset; its definition too, if that is asked for. In a
// test file they are those of its configuration.
func (d *Document) References(offset int, definition bool, tests []*Document) []Location {
	o, ok := d.at(offset)
	if !ok {
		return nil
	}
	var list []Location
	for _, doc := range d.around(tests) {
		for _, other := range doc.occurrences(doc.current()) {
			if other.same(o) && (definition || !other.definition) {
				list = append(list, Location{doc.Path, other.Span})
			}
		}
	}
	return list
}

// around returns the configuration, and those of the test files that are about
// it.
func (d *Document) around(tests []*Document) []*Document {
	home := d.home()
	if home == nil {
		return nil
	}
	docs := []*Document{home}
	for _, t := range tests {
		if t != nil && t.Kind == Test && t.ConfigPath() == filepath.Clean(home.Path) {
			docs = append(docs, t)
		}
	}
	return docs
}

// Highlights returns the places in this file that name what is named at an offset.
func (d *Document) Highlights(offset int) []Span {
	o, ok := d.at(offset)
	if !ok {
		return nil
	}
	var list []Span
	for _, other := range d.occurrences(d.near(findPlace(d.Text, offset))) {
		if other.same(o) {
			list = append(list, other.Span)
		}
	}
	return list
}
