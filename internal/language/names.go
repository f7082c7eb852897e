package language

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

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
		return d.testOccurrences(m)
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

// testOccurrences returns the names in a test file. The scopes of nodes are those
// of the configuration.
func (d *Document) testOccurrences(m *model) []occurrence {
	cfg := d.configOf(m)
	if cfg == nil || cfg.current() == nil {
		return nil
	}
	t := &testNames{doc: d, cfg: cfg.current()}
	t.mocks(m.root.Get("mocks"))
	for _, test := range m.root.Get("tests").Items() {
		tool := test.Get("tool").Text().String()
		t.test(test, tool)
		for _, c := range test.Get("cases").Items() {
			if own := c.Get("tool"); own.IsString() {
				tool = own.Text().String()
			}
			t.test(c, tool)
		}
	}
	return t.list
}

// testNames collects the names in a test file.
type testNames struct {
	doc  *Document
	cfg  *model
	list []occurrence
}

func (t *testNames) mocks(list *config.Node) {
	for _, mock := range list.Items() {
		t.list = t.doc.named(t.list, serverEntry, mock.Get("server"), false)
	}
}

func (t *testNames) test(n *config.Node, tool string) {
	t.list = t.doc.named(t.list, toolEntry, n.Get("tool"), false)
	t.mocks(n.Get("mocks"))
	expect := n.Get("expect")
	for _, keyed := range []*config.Node{n.Get("answers"), expect.Get("outputs"), expect.Get("attempts")} {
		for _, f := range keyed.Fields() {
			t.node(tool, f.Key)
		}
	}
	if id := expect.Get("error").Get("node"); id.IsString() {
		t.node(tool, id.Text())
	}
	t.path(tool, expect.Get("path"), 0)
}

// path collects the ids in an expected path. Keys of its maps are ids at even
// depths, and names of branches below them.
func (t *testNames) path(tool string, n *config.Node, depth int) {
	if depth > 100 {
		return
	}
	if n.IsString() {
		t.node(tool, n.Text())
	}
	for _, item := range n.Items() {
		t.path(tool, item, depth+1)
	}
	for _, f := range n.Fields() {
		t.node(tool, f.Key)
		t.path(tool, f.Value, depth+1)
	}
}

// node adds a name, if a node has it.
func (t *testNames) node(tool string, text config.Text) {
	for i := range t.cfg.units {
		u := &t.cfg.units[i]
		if u.Node(text.String()) == nil || !slices.ContainsFunc(u.Graphs, func(g *graph.Graph) bool { return g.Name == tool }) {
			continue
		}
		t.list = append(t.list, occurrence{kind: nodeName, scope: i, name: text.String(), Span: t.doc.textSpan(text)})
		return
	}
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

// Edit replaces a range of bytes of a file by a text.
type Edit struct {
	Location
	New string
}

// ErrNoName is the error of a rename where no id of a node is.
var ErrNoName = errors.New("there is no id of a node here")

// Renamed returns the id of a node at an offset, and where it is written.
func (d *Document) Renamed(offset int) (Span, string, error) {
	o, ok := d.at(offset)
	if !ok || o.kind != nodeName {
		return Span{}, "", ErrNoName
	}
	if home := d.home(); home == nil || home.model == nil || d.model == nil {
		return Span{}, "", errors.New("the file has a YAML error; correct it before you rename")
	}
	return o.word(d.Text), o.name, nil
}

// word returns the bytes of the name without quotes of an expression.
func (o occurrence) word(text string) Span {
	s := o.Span
	if s.To-s.From >= 2 && s.To <= len(text) && (o.quote != 0 || text[s.From] == '`') {
		s.From, s.To = s.From+1, s.To-1
	}
	return s
}

// Rename returns the edits that give the node whose id is at an offset another id:
// in the file, its expressions, and the given test files. The error says why that
// cannot be done.
func (d *Document) Rename(offset int, id string, tests []*Document) ([]Edit, error) {
	_, old, err := d.Renamed(offset)
	if err != nil {
		return nil, err
	}
	o, _ := d.at(offset)
	return d.renameAll(o, old, id, tests)
}

// RenameNode returns the edits that give a node of a tool another id, in the file
// and its expressions. The error says why that cannot be done.
func (d *Document) RenameNode(tool, old, id string) ([]Edit, error) {
	if d.model == nil || d.Kind != Config {
		return nil, errors.New("the file has a YAML error; correct it before you rename")
	}
	for i := range d.model.units {
		u := &d.model.units[i]
		if u.Node(old) != nil && slices.ContainsFunc(u.Graphs, func(g *graph.Graph) bool { return g.Name == tool }) {
			return d.renameAll(occurrence{kind: nodeName, scope: i, name: old}, old, id, nil)
		}
	}
	return nil, fmt.Errorf("tool %q has no node %q", tool, old)
}

// renameAll returns the edits that replace the id of a node wherever it is named.
func (d *Document) renameAll(o occurrence, old, id string, tests []*Document) ([]Edit, error) {
	home := d.home()
	unit := &home.model.units[o.scope]
	switch {
	case !isID(id):
		return nil, fmt.Errorf("%q cannot be an id: use letters, digits and _, and begin with a letter", id)
	case id == old:
		return nil, nil
	case unit.Node(id) != nil:
		return nil, fmt.Errorf("node %q already exists", id)
	}
	var edits []Edit
	for _, doc := range d.around(tests) {
		if doc.model == nil {
			return nil, fmt.Errorf("%s has a YAML error; correct it before you rename", filepath.Base(doc.Path))
		}
		for _, other := range doc.occurrences(doc.model) {
			if !other.same(o) {
				continue
			}
			if other.unsure {
				return nil, fmt.Errorf("an expression in line %d of %s names node %q in a way that cannot be changed", doc.Pos(other.From).Line, filepath.Base(doc.Path), old)
			}
			span := other.Span
			if other.quote != 0 {
				span = other.word(doc.Text)
			}
			edits = append(edits, Edit{Location{doc.Path, span}, id})
		}
	}
	return unique(edits), nil
}

// unique drops edits of the same place, which aliases lead to.
func unique(edits []Edit) []Edit {
	seen := map[Location]bool{}
	return slices.DeleteFunc(edits, func(e Edit) bool {
		was := seen[e.Location]
		seen[e.Location] = true
		return was
	})
}

// isID reports whether a name can be written as an id everywhere without quotes.
func isID(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	switch strings.ToLower(s) {
	case "", "true", "false", "null", "function", "and", "or", "in", "_":
		return false
	}
	return true
}
