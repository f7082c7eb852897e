package graph

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// sentText is a text that is sent as it is written, and how messages name it.
type sentText struct {
	src  *config.Node
	what string
}

// templatePath matches the templates of other programs, with the path in them:
// {{entry.dir}}, ${{ steps.list.outputs.files }}, ${entry.dir}, $.entry.dir and
// $entry.dir.
var templatePath = sync.OnceValue(func() *regexp.Regexp {
	const path = `(?:\$\.|\$)?([\pL_][\pL\pN_-]*(?:\.[\pL_][\pL\pN_]*)*)`
	return regexp.MustCompile(`\$?\{\{-?\s*` + path + `\s*(?:\|[^{}]*)?-?\}\}|\$\{\s*` + path + `\s*\}|\$\.?([\pL_][\pL\pN_]*(?:\.[\pL_][\pL\pN_]*)+)`)
})

// maxTemplateText is how long a text may be that is looked at, in bytes.
const maxTemplateText = 10_000

// checkTexts reports texts that are sent as they are and have a template of another
// program in them, which names a node.
func checkTexts(b *reporter, top *Graph) {
	for n := range b.each(top) {
		for _, t := range n.texts {
			text := t.src.Text().String()
			if len(text) > maxTemplateText || isJSON(text) {
				continue
			}
			meant := meantBy(n.Graph, text)
			if meant == "" {
				continue
			}
			d := t.src.Problem(diag.CodeLiteral, fmt.Sprintf("%s looks like an expression, but is sent as text", t.what))
			d.Hint = fmt.Sprintf("to evaluate it, write {expr: %s}", yamlQuoted(meant))
			if len(text) <= maxShownText {
				d.Hint += fmt.Sprintf("; to send the text, write {expr: %s}", yamlQuoted(jsonText(text)))
			}
			b.report(d)
		}
	}
}

// maxShownText is how long a text may be that a hint repeats, in bytes.
const maxShownText = 100

// isJSON reports whether a text is a JSON object or list, in which $ is data.
func isJSON(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' && text[0] != '[' {
		return false
	}
	_, err := value.Parse(text)
	return err == nil
}

// yamlQuoted writes a text in single quotes, as it stands in a flow map.
func yamlQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// meantBy returns the expression that a text with templates of another program means,
// or "" if it has none that names a node.
func meantBy(g *Graph, text string) string {
	var parts []string
	from := 0
	// A leading = begins an expression in other programs.
	rest, formula := strings.CutPrefix(text, "=")
	if formula {
		from = len(text) - len(strings.TrimLeft(rest, " "))
	}
	found := false
	for _, m := range templatePath().FindAllStringSubmatchIndex(text, -1) {
		path := ""
		for i := 2; i+1 < len(m); i += 2 {
			if m[i] >= 0 {
				path = text[m[i]:m[i+1]]
			}
		}
		own := ownPath(g, path)
		escaped := m[0] > 0 && (text[m[0]-1] == '\\' || text[m[0]-1] == '$')
		if own == "" || m[0] < from || escaped {
			continue
		}
		found = true
		if before := text[from:m[0]]; before != "" {
			parts = append(parts, jsonText(before))
		}
		parts = append(parts, own)
		from = m[1]
	}
	if !found {
		return ""
	}
	if from < len(text) {
		parts = append(parts, jsonText(text[from:]))
	}
	return strings.Join(parts, " & ")
}

// ownPath returns how an expression reads what a template of another program names, or
// "" if that is no node.
func ownPath(g *Graph, path string) string {
	names := strings.Split(path, ".")
	var steps []expr.Step
	for _, name := range names[1:] {
		steps = append(steps, expr.Step{Name: name})
	}
	switch {
	case g.visible(names[0]) != nil && (len(steps) > 0):
		if len(steps) > 1 && slices.Contains(outputNames, steps[0].Name) && g.visible(names[0]).shape == nil {
			steps = steps[1:]
		}
		return pathText(names[0], steps)
	case len(steps) == 0:
		return ""
	case slices.Contains(nodesNames, names[0]) && g.visible(steps[0].Name) != nil:
		below := steps[1:]
		if len(below) > 1 && slices.Contains(outputNames, below[0].Name) {
			below = below[1:]
		}
		return pathText(steps[0].Name, below)
	case slices.Contains(inputNames, names[0]) && g.top().Entry != nil && g.top().Entry.ID != "":
		return pathText(g.top().Entry.ID, steps)
	case names[0] == "json":
		return "$previousNode()." + strings.Join(names[1:], ".")
	}
	return ""
}
