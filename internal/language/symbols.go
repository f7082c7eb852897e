package language

import (
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// Symbol is an entry of the outline.
type Symbol struct {
	Name, Detail string
	Kind         ItemKind // KeyItem, NodeItem, ServerItem or ToolItem
	// Span is all of it, Selection its name.
	Span, Selection Span
	Children        []Symbol
}

// Symbols returns the outline of the file: servers, tools with their nodes, tests.
func Symbols(d *Document) []Symbol {
	m := d.model
	switch {
	case m == nil:
		return nil
	case m.suite != nil:
		return testSymbols(d, m)
	}
	var list []Symbol
	for _, f := range m.root.Fields() {
		s := fieldSymbol(d, f, KeyItem, "")
		switch f.Key.String() {
		case "mcpServers", "servers":
			for _, entry := range f.Value.Fields() {
				detail := entry.Value.Get("command").Text().String()
				if detail == "" {
					detail = entry.Value.Get("url").Text().String()
				}
				s.Children = append(s.Children, fieldSymbol(d, entry, ServerItem, detail))
			}
		case "tools":
			for _, t := range m.file.Tools {
				tool := elementSymbol(d, t.Node, t.Name, ToolItem, t.Description)
				tool.Children = nodeSymbols(d, m, t.Nodes, 0)
				s.Children = append(s.Children, tool)
			}
		case "prompts":
			for _, p := range m.file.Prompts {
				s.Children = append(s.Children, offerSymbol(d, m, &p.Offer))
			}
		case "resources":
			for _, r := range m.file.Resources {
				s.Children = append(s.Children, offerSymbol(d, m, &r.Offer))
			}
		case "nodes":
			s.Children = nodeSymbols(d, m, m.file.Nodes, 0)
		default:
			continue
		}
		list = append(list, s)
	}
	return list
}

// offerSymbol returns the symbol of a prompt or resource.
func offerSymbol(d *Document, m *model, o *config.Offer) Symbol {
	s := elementSymbol(d, o.Node, o.Name, ToolItem, o.Description)
	s.Children = nodeSymbols(d, m, o.Nodes, 0)
	return s
}

func fieldSymbol(d *Document, f config.Field, kind ItemKind, detail string) Symbol {
	name := f.Key.String()
	return Symbol{
		Name: orUnnamed(name), Detail: detail, Kind: kind,
		Span: within(d.span(f.Key.Pos(), f.Value.End()), d.span(f.Key.Pos(), f.Key.End())), Selection: d.span(f.Key.Pos(), f.Key.End()),
	}
}

func elementSymbol(d *Document, n *config.Node, name config.Text, kind ItemKind, detail string) Symbol {
	s := Symbol{Name: orUnnamed(name.String()), Detail: detail, Kind: kind, Span: d.span(n.Pos(), n.End())}
	s.Selection = Span{s.Span.From, s.Span.From}
	if name.String() != "" {
		s.Selection = d.span(name.Pos(), name.End())
	}
	s.Span = within(s.Span, s.Selection)
	return s
}

// within returns a span that holds another one.
func within(s, inner Span) Span {
	return Span{min(s.From, inner.From), max(s.To, inner.To)}
}

// orUnnamed returns a name that clients accept: one that is not empty.
func orUnnamed(name string) string {
	if name == "" {
		return "(no name)"
	}
	return name
}

// nodeSymbols returns the outline of a list of nodes.
func nodeSymbols(d *Document, m *model, list []*config.Node, depth int) []Symbol {
	var symbols []Symbol
	for _, src := range list {
		n := m.byNode[src]
		if n == nil || depth > 100 {
			continue
		}
		s := elementSymbol(d, src, src.Get("id").Text(), NodeItem, nodeDetail(n))
		for _, body := range n.Bodies {
			s.Children = append(s.Children, nodeSymbols(d, m, sources(body), depth+1)...)
		}
		symbols = append(symbols, s)
	}
	return symbols
}

func sources(g *graph.Graph) []*config.Node {
	var list []*config.Node
	for _, n := range g.Nodes {
		list = append(list, n.Source())
	}
	return list
}

func testSymbols(d *Document, m *model) []Symbol {
	var list []Symbol
	for _, t := range m.root.Get("tests").Items() {
		s := elementSymbol(d, t, t.Get("name").Text(), ToolItem, t.Get("tool").Text().String())
		for _, c := range t.Get("cases").Items() {
			s.Children = append(s.Children, elementSymbol(d, c, c.Get("name").Text(), KeyItem, ""))
		}
		list = append(list, s)
	}
	return list
}
