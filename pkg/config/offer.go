package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Offer is what prompts and resources have in common.
type Offer struct {
	Name               Text
	Title, Description string
	Icons              value.Value // undefined if there are none
	RequiredScopes     []string    // that a caller over HTTP needs; may be empty
	Nodes              []*Node     // nil if the file has no list there
	Pos                diag.Pos
	// Node is the offer as it is written.
	Node *Node
}

// Prompts and Resources are what stands before the names of prompts and resources
// where tools are named, too.
const (
	Prompts   = "prompts/"
	Resources = "resources/"
)

// Completion is the values that clients suggest: those of a list, or those that an
// expression returns.
type Completion struct {
	Values []string
	Expr   *Node // the map with the expression; nil for a list
	Pos    diag.Pos
}

// decodeOffers decodes prompts, resources and passthrough.
func decodeOffers(d *decoder, top *section) {
	names := map[string]Text{}
	for i, n := range listedMaps(d, top.optional("prompts", List), "prompt", "") {
		if n != nil {
			d.file.Prompts = append(d.file.Prompts, decodePrompt(d, n, i, names))
		}
	}
	names = map[string]Text{}
	uris := map[string]Text{}
	for i, n := range listedMaps(d, top.optional("resources", List), "resource", "") {
		if n != nil {
			d.file.Resources = append(d.file.Resources, decodeResource(d, n, i, names, uris))
		}
	}
	for i, n := range listedMaps(d, top.optional("passthrough", List), "passthrough", "") {
		if n != nil {
			d.file.Passthrough = append(d.file.Passthrough, decodePassthrough(d, n, i))
		}
	}
}

// listedMaps returns the elements of a list, nil for those that are no maps, which it
// reports as what, their number, and of.
func listedMaps(d *decoder, list *Node, what, of string) []*Node {
	items := slices.Clone(list.Items())
	for i, n := range items {
		if n.Kind() != Map {
			d.report(n.Expected(fmt.Sprintf("%s %d%s", what, i+1, of), "a map"))
			items[i] = nil
		}
	}
	return items
}

// ownerOf returns how messages call a map: by its name, or by its place.
func ownerOf(n *Node, what string, index int) string {
	if name := n.Get("name"); name.IsString() && name.Text().String() != "" {
		return what + " " + diag.Quote(name.Text().String())
	}
	return fmt.Sprintf("%s %d", what, index+1)
}

// checkUnique reports a second use of a text.
func checkUnique(d *decoder, t Text, what string, first map[string]Text) {
	name := t.String()
	if name == "" {
		return
	}
	if f, ok := first[name]; ok {
		p := t.Problem(diag.CodeDuplicateOffer, fmt.Sprintf("duplicate %s %q", what, name))
		p.Related = []diag.Related{{File: f.File(), Pos: f.Pos(), Message: "first used here"}}
		d.report(p)
		return
	}
	first[name] = t
}

// decodeOffer decodes what prompts and resources have in common. prefix is what stands
// before the name where tools are named, too.
func decodeOffer(s *section, prefix string) Offer {
	o := Offer{Node: s.node, Pos: s.node.Pos()}
	if s.literal("name") != "" {
		o.Name = s.node.Get("name").Text()
	}
	for _, t := range namesOfOffers(s.decoder)[prefix+o.Name.String()] {
		if t.String() != prefix {
			p := t.Problem(diag.CodeDuplicateTool, fmt.Sprintf("duplicate tool name %q: it is the name of a prompt or resource here", t.String()))
			p.Related = []diag.Related{{File: o.Name.File(), Pos: o.Name.Pos(), Message: "which is here"}}
			s.decoder.report(p)
		}
	}
	o.Title, o.Description = s.literal("title"), s.literal("description")
	if icons := s.optional("icons", List); icons != nil {
		decodeIcons(s.decoder, icons, s.owner)
		o.Icons = icons.Value()
	}
	o.RequiredScopes = decodeRequiredScopes(s)
	if f := s.node.Get("nodes"); f != nil {
		o.Nodes = s.decoder.requiredItems(f, `"nodes"`)
	}
	return o
}

// namesOfOffers returns the names of tools that begin as those of prompts and resources do
// where tools are named, too. The tools are decoded before.
func namesOfOffers(d *decoder) map[string][]Text {
	if d.offerNames == nil {
		d.offerNames = map[string][]Text{}
		for _, t := range d.file.Tools {
			if name := t.Name.String(); strings.HasPrefix(name, Prompts) || strings.HasPrefix(name, Resources) {
				d.offerNames[name] = append(d.offerNames[name], t.Name)
			}
		}
	}
	return d.offerNames
}

// decodeCompletion decodes the values to suggest for something; nil if there are none.
func decodeCompletion(d *decoder, n *Node, what string) *Completion {
	switch {
	case n == nil:
		return nil
	case n.Kind() == List:
		return &Completion{Values: d.strings(n, "complete"), Pos: n.Pos()}
	case n.Kind() == Map && n.Get("expr") != nil:
		return &Completion{Expr: n, Pos: n.Pos()}
	}
	p := n.Expected(what, "a list of strings or {expr: …}")
	d.report(p)
	return nil
}

// decodeEvery decodes "subscribe".
func decodeEvery(s *section) time.Duration {
	sub := s.subsection("subscribe")
	if sub == nil || !sub.has("everyMs") {
		return 0
	}
	return sub.duration("everyMs")
}
