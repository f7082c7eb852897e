package config

import (
	"fmt"
	"regexp"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func decodeTools(d *decoder, list, root *Node) {
	first := map[string]Text{}
	for i, n := range list.Items() {
		if n.Kind() != Map {
			d.report(n.Expected(fmt.Sprintf("tool %d", i+1), "a map"))
			continue
		}
		t := decodeTool(d, n, i, root)
		if name := t.Name.String(); name != "" {
			if f, ok := first[name]; ok {
				p := t.Name.Problem(diag.CodeDuplicateTool, fmt.Sprintf("duplicate tool name %q", name))
				p.Related = []diag.Related{{File: f.File(), Pos: f.Pos(), Message: "first used here"}}
				d.report(p)
				// In the flat layout, nodes name their tool.
				if d.file.Flat {
					continue
				}
			} else {
				first[name] = t.Name
			}
		}
		d.file.Tools = append(d.file.Tools, t)
	}
}

func decodeTool(d *decoder, n *Node, index int, root *Node) *Tool {
	t, owner := &Tool{Node: n, Pos: n.Pos()}, fmt.Sprintf("tool %d", index+1)
	if name := n.Get("name"); name.IsString() && name.Text().String() != "" {
		t.Name, owner = name.Text(), "tool "+diag.Quote(name.Text().String())
		if !isToolName(t.Name.String()) {
			p := t.Name.Problem(diag.CodeToolName, "clients may reject the name of "+owner)
			p.Hint = "use at most 128 ASCII letters, digits, _, - and ."
			d.report(p)
		}
	}
	s := d.newSection(n, owner, toolSettings, nil)
	s.literal("name")
	t.Title, t.Description = s.literal("title"), s.literal("description")
	if f := n.Get("description"); f == nil || f.IsString() && t.Description == "" {
		d.report(noDescription(n, t, owner))
	}
	t.InputSchema = s.optional("inputSchema", Map)
	if o := n.Get("outputSchema"); o != nil && o.Value().Kind() == value.Bool {
		t.OutputSchema = o
	} else {
		t.OutputSchema = s.optional("outputSchema", Map)
	}
	if a := s.optional("annotations", Map); a != nil {
		decodeAnnotations(d, a, owner)
		t.Annotations = a.Value()
	}
	if icons := s.optional("icons", List); icons != nil {
		decodeIcons(d, icons, owner)
		t.Icons = icons.Value()
	}
	t.RequiredScopes = decodeRequiredScopes(s)
	t.Private, t.Task = s.boolean("private"), s.choice("task")
	if f, ok := n.Field("requiredScopes"); ok && t.Private {
		p := f.Key.Problem(diag.CodeMeaningless, fmt.Sprintf(`"requiredScopes" of %s has no effect: the tool is private, and call nodes need no scopes`, owner))
		p.Hint = "set requiredScopes on the tools that call it"
		d.report(p)
	}
	if f, ok := n.Field("task"); ok && t.Private {
		p := f.Key.Problem(diag.CodeMeaningless, fmt.Sprintf(`"task" of %s has no effect: the tool is private, and call nodes wait for it`, owner))
		p.Hint = "set task on the tools that call it"
		d.report(p)
	}
	decodeNodes(s, t, root)
	return t
}

// isToolName reports whether clients accept a name (MCP 2025-11-25, Tools, Tool
// Names).
func isToolName(s string) bool { return len(s) <= 128 && toolName.MatchString(s) }

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

func noDescription(n *Node, t *Tool, owner string) diag.Diagnostic {
	p := n.Problem(diag.CodeNoDescription, owner+" has no description")
	p.End = diag.Pos{}
	if t.Name.String() != "" {
		p.Pos, p.End = t.Name.Pos(), t.Name.End()
	}
	p.Hint = "add a description: models choose tools by it"
	return p
}

// decodeNodes sets the nodes of a tool, which are in the tool or, in the flat layout,
// at the top level.
func decodeNodes(s *section, t *Tool, root *Node) {
	own, hasOwn := s.node.Field("nodes")
	shared, flat := root.Field("nodes")
	switch {
	case hasOwn && flat:
		p := own.Key.Problem(diag.CodeConflict, s.owner+` has "nodes", but there are "nodes" at the top level too`)
		p.Hint = "put nodes either at the top level, for all tools, or into each tool"
		p.Related = []diag.Related{{File: shared.Key.File(), Pos: shared.Key.Pos(), Message: "the other list is here"}}
		s.decoder.report(p)
	case hasOwn:
		t.Nodes = s.decoder.requiredItems(own.Value, `"nodes"`)
	case !flat:
		s.decoder.report(s.node.Missing(s.owner, "nodes"))
	}
}

func decodeAnnotations(d *decoder, n *Node, owner string) {
	s := d.newSection(n, "the annotations of "+owner, annotationSettings, nil)
	for _, field := range s.settings {
		if field.Shape == BoolShape {
			s.boolean(field.Name)
		} else {
			s.literal(field.Name)
		}
	}
}

func decodeIcons(d *decoder, list *Node, owner string) {
	for i, n := range list.Items() {
		owner := fmt.Sprintf("icon %d of %s", i+1, owner)
		if n.Kind() != Map {
			d.report(n.Expected(owner, "a map"))
			continue
		}
		s := d.newSection(n, owner, iconSettings, nil)
		for _, field := range s.settings {
			if field.Shape == StringsShape {
				s.strings(field.Name)
			} else {
				s.literal(field.Name)
			}
		}
	}
}
