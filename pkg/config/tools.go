package config

import (
	"fmt"
	"regexp"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var (
	toolFields       = names(toolSettings)
	annotationFields = names(annotationSettings)
	iconFields       = names(iconSettings)
)

func (d *decoder) tools(list, root *Node) {
	first := map[string]Text{}
	for i, n := range list.Items() {
		if n.Kind() != Map {
			d.report(n.Expected(fmt.Sprintf("tool %d", i+1), "a map"))
			continue
		}
		t := d.tool(n, i, root)
		name := t.Name.String()
		if name != "" {
			if f, ok := first[name]; ok {
				p := t.Name.Problem(diag.CodeDuplicateTool, fmt.Sprintf("a second tool has the name %q", name))
				p.Related = []diag.Related{{File: f.File(), Pos: f.Pos(), Message: "the first is here"}}
				d.report(p)
				// In the flat layout nodes know their tool by its name.
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

func (d *decoder) tool(n *Node, index int, root *Node) *Tool {
	owner := fmt.Sprintf("tool %d", index+1)
	t := &Tool{Pos: n.Pos(), Name: d.name(n, owner, "name")}
	if name := t.Name.String(); name != "" {
		owner = fmt.Sprintf("tool %q", name)
		if !toolName.MatchString(name) {
			p := t.Name.Problem(diag.CodeToolName, "clients may refuse the name of "+owner)
			p.Hint = "a name has at most 128 ASCII letters, digits, _, - and ."
			d.report(p)
		}
	}
	d.report(unknownFields(n, owner, toolFields)...)
	t.Title = d.str(n, "title")
	t.Description = d.str(n, "description")
	if f := n.Get("description"); f == nil || f.IsString() && t.Description == "" {
		d.report(d.noDescription(n, t, owner))
	}
	t.InputSchema = d.required(n, owner, "inputSchema", Map)
	if s := n.Get("outputSchema"); s != nil && s.Value().Kind() == value.Bool {
		t.OutputSchema = s
	} else {
		t.OutputSchema = d.optional(n, "outputSchema", Map)
	}
	if a := d.optional(n, "annotations", Map); a != nil {
		d.annotations(a, owner)
		t.Annotations = a.Value()
	}
	if icons := d.optional(n, "icons", List); icons != nil {
		d.icons(icons, owner)
		t.Icons = icons.Value()
	}
	t.RequiredScopes = d.requiredScopes(n, owner)
	d.toolNodes(n, t, owner, root)
	return t
}

// toolName is what the name of a tool should look like (MCP 2025-11-25, Tools,
// Tool Names).
var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

func (d *decoder) noDescription(n *Node, t *Tool, owner string) diag.Diagnostic {
	p := n.Problem(diag.CodeNoDescription, owner+" has no description")
	p.End = diag.Pos{}
	if t.Name.String() != "" {
		p.Pos, p.End = t.Name.Pos(), t.Name.End()
	}
	p.Hint = "clients choose a tool by its description"
	return p
}

// toolNodes takes the nodes of a tool, which it has in one of the two layouts
// only.
func (d *decoder) toolNodes(n *Node, t *Tool, owner string, root *Node) {
	own, hasOwn := n.Field("nodes")
	shared, flat := root.Field("nodes")
	switch {
	case hasOwn && flat:
		p := own.Key.Problem(diag.CodeConflict, owner+` has "nodes", and so has the configuration itself`)
		p.Hint = "nodes stand either at the top level, for all tools, or inside each tool"
		p.Related = []diag.Related{{File: shared.Key.File(), Pos: shared.Key.Pos(), Message: "the other list is here"}}
		d.report(p)
	case hasOwn:
		t.Nodes = d.list(own.Value, `"nodes"`)
	case !flat:
		d.report(n.Missing(owner, "nodes"))
	}
}

func (d *decoder) annotations(n *Node, owner string) {
	owner = "the annotations of " + owner
	d.report(unknownFields(n, owner, annotationFields)...)
	d.str(n, "title")
	for _, s := range annotationSettings {
		if s.Shape == BoolShape {
			d.boolean(n, s.Name, false)
		}
	}
}

func (d *decoder) icons(list *Node, owner string) {
	for i, n := range list.Items() {
		owner := fmt.Sprintf("icon %d of %s", i+1, owner)
		if n.Kind() != Map {
			d.report(n.Expected(owner, "a map"))
			continue
		}
		d.report(unknownFields(n, owner, iconFields)...)
		d.name(n, owner, "src")
		d.str(n, "mimeType")
		d.str(n, "theme")
		if sizes := d.optional(n, "sizes", List); sizes != nil {
			d.strings(sizes, "sizes")
		}
	}
}

// strings gives the elements of a list that have to be strings.
func (d *decoder) strings(n *Node, name string) []string {
	out := make([]string, 0, len(n.Items()))
	for _, item := range n.Items() {
		if !item.IsString() {
			d.report(item.Expected(fmt.Sprintf("an element of %q", name), "a string"))
			continue
		}
		out = append(out, item.Text().String())
	}
	return out
}
