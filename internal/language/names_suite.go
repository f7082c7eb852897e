package language

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// testOccurrences returns the names in a test file. The scopes of nodes are those
// of the configuration.
func testOccurrences(d *Document, m *model) []occurrence {
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
