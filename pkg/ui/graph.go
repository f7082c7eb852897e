package ui

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

type graphJSON struct {
	Tool     string     `json:"tool"`
	Revision string     `json:"revision"` // of the text that spans are in
	Nodes    []nodeJSON `json:"nodes"`
	Edges    []edgeJSON `json:"edges"`
	Bodies   []bodyJSON `json:"bodies"`
}

type nodeJSON struct {
	Key      string   `json:"key"` // TOOL#PATH, the same in records and events; a path is static: "info", "sizes[].info", "both.news.fetch"
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Body     string   `json:"body,omitempty"` // the key of the body that it stands in
	Server   string   `json:"server,omitempty"`
	Tool     string   `json:"tool,omitempty"`
	Calls    string   `json:"calls,omitempty"` // a tool of this file
	Label    string   `json:"label,omitempty"`
	Span     place    `json:"span"`
	Pointer  string   `json:"pointer"` // a JSON pointer in the file
	YAML     string   `json:"yaml"`
	Policies []string `json:"policies,omitempty"` // such as "retry 3", "timeout 5 s", "catch"
}

type edgeJSON struct {
	From  string `json:"from"` // a node, or "TOOL#" or a body in which any node may fail (catch)
	To    string `json:"to"`
	Via   string `json:"via"`             // such as "next", "conditions[0]", "catch[0]"
	Label string `json:"label,omitempty"` // short
	Rule  string `json:"rule,omitempty"`  // whole
	Kind  string `json:"kind" ts:"'next' | 'case' | 'default' | 'catch'"`
}

type bodyJSON struct {
	Key   string `json:"key"`
	Owner string `json:"owner"` // the key of a node, as entry
	Name  string `json:"name"`
	Entry string `json:"entry"`
}

// maxLabel is how many characters of a rule stand at an edge.
const maxLabel = 32

func getGraph(p *Page, w http.ResponseWriter, r *http.Request) error {
	if _, err := p.program(); err != nil {
		return err
	}
	at := p.pointed()
	g, err := at.engine.Graph(r.PathValue("name"))
	if err != nil {
		return notFound("there is no tool %q", r.PathValue("name"))
	}
	d := drawing{page: p, lines: diag.NewLines(at.file.Source), at: at, graph: graphJSON{
		Tool: g.Name, Revision: at.revision, Nodes: []nodeJSON{}, Edges: []edgeJSON{}, Bodies: []bodyJSON{},
	}}
	d.add(g, "")
	respond(w, d.graph)
	return nil
}

// point notes the JSON pointer of each node of a file.
func point(pointers map[*config.Node]string, n *config.Node, at string) {
	if _, seen := pointers[n]; seen || n == nil {
		return // an alias is where its anchor is
	}
	pointers[n] = at
	for _, f := range n.Fields() {
		point(pointers, f.Value, at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(f.Key.String()))
	}
	for i, item := range n.Items() {
		point(pointers, item, at+"/"+strconv.Itoa(i))
	}
}

// drawing makes a picture of a tool.
type drawing struct {
	page  *Page
	lines *diag.Lines
	at    loaded
	graph graphJSON
}

// add draws a graph, which stands in a body unless that is empty.
func (d *drawing) add(g *graph.Graph, body string) {
	for _, n := range g.Nodes {
		entry := nodeJSON{
			Key: n.Key(), ID: n.ID, Type: n.Kind.Name, Body: body, Server: n.Server, Tool: n.Tool, Label: label(n),
			Span: placeOf(n.Pos, n.End()), Pointer: d.at.pointers[n.Source()], YAML: d.page.redact(d.source(n.Pos, n.End())), Policies: policies(n),
		}
		if n.Callee != nil {
			entry.Calls = n.Callee.Name
		}
		d.graph.Nodes = append(d.graph.Nodes, entry)
		for i := range n.Edges {
			d.edge(entry.Key, &n.Edges[i])
		}
		for i, inner := range n.Bodies {
			b := bodyJSON{Key: bodyKey(n, i), Owner: entry.Key, Name: "each item", Entry: inner.Entry.Key()}
			if !n.Spread.Each {
				b.Name = n.Spread.Names[i]
			}
			d.graph.Bodies = append(d.graph.Bodies, b)
			d.add(inner, b.Key)
		}
	}
	for i := range g.Handlers {
		from := body
		if from == "" {
			from = g.Name + "#"
		}
		d.edge(from, &g.Handlers[i])
	}
}

func (d *drawing) edge(from string, e *graph.Edge) {
	entry := edgeJSON{From: from, To: e.To.Key(), Via: e.Field, Kind: "next"}
	switch {
	case e.Catch:
		entry.Kind = "catch"
	case e.Default:
		entry.Kind = "default"
	case e.Label != "":
		entry.Kind = "case"
	}
	if entry.Label = shorten(e.Label); e.Label != "" {
		entry.Rule = e.Label
	}
	d.graph.Edges = append(d.graph.Edges, entry)
}

// shorten returns the beginning of a text on one line.
func shorten(s string) string {
	return textline.Shorten(strings.Join(strings.Fields(s), " "), maxLabel)
}

// source returns the lines of the file from one place up to another, without the
// indentation that they share.
func (d *drawing) source(from, to diag.Pos) string {
	text := string(d.at.file.Source[d.lines.Offset(from):d.lines.Offset(to)])
	lines := strings.Split(strings.TrimRight(text, " \t\r\n"), "\n")
	for i, l := range lines[1:] {
		indent := len(l) - len(strings.TrimLeft(l, " "))
		lines[i+1] = l[min(indent, from.Col-1):]
	}
	return strings.Join(lines, "\n") + "\n"
}

// label is what a node computes or waits for, in short.
func label(n *graph.Node) string {
	src := n.Source()
	for _, name := range []string{"transform", "items", "message", "error", "ms", "until"} {
		v := src.Get(name)
		if inner := v.Get("expr"); inner != nil {
			v = inner
		}
		if text := v.Text().String(); text != "" {
			return shorten(text)
		}
	}
	return ""
}

// policies returns what happens when a node fails or takes too long, in short.
func policies(n *graph.Node) []string {
	var list []string
	if t := n.Policy.Timeout; t > 0 {
		list = append(list, "timeout "+short(t))
	}
	if len(n.Policy.Retry) > 0 {
		list = append(list, fmt.Sprintf("retry %d", n.Policy.Retry[0].MaxAttempts))
	}
	if len(n.Policy.Catch) > 0 {
		list = append(list, "catch")
	}
	if n.Approval != nil {
		list = append(list, "approval")
	}
	return list
}

// short returns a time as people write it: "5 s".
func short(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
	}
	return strconv.FormatFloat(d.Minutes(), 'f', -1, 64) + " min"
}
