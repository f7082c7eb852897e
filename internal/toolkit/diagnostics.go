package toolkit

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/internal/language"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxDiagnostics is how many problems one answer has.
const maxDiagnostics = 50

// maxFix is how many bytes of JSON the value of a fix may have.
const maxFix = 20_000

const diagnosticsSchema = `{"type":"array","items":{"type":"object","properties":{"severity":{"type":"string"},"code":{"type":"string"},"message":{"type":"string"},"hint":{"type":"string"},"tool":{"type":"string"},"node":{"type":"string"},"pointer":{"type":"string"},"line":{"type":"integer"},"fix":{"type":"object"}}}}`

// count returns how many errors there are.
func count(ds []diag.Diagnostic) int {
	n := 0
	for _, d := range ds {
		if d.Severity == diag.Error {
			n++
		}
	}
	return n
}

// diagnosed is a text with what is needed to say where its problems are.
type diagnosed struct {
	toolkit *Toolkit
	text    []byte
	root    *config.Node       // nil if the text is not YAML
	doc     *language.Document // made when it is needed
	fixes   bool               // whether the edits that mend problems are wanted
}

func diagnose(t *Toolkit, text []byte, fixes bool) *diagnosed {
	root, _ := config.ParseYAML(t.opts.Path, text)
	return &diagnosed{toolkit: t, text: text, root: root, fixes: fixes}
}

// list returns problems as JSON, of only one tool if that is not empty.
func (d *diagnosed) list(ds []diag.Diagnostic, tool string) value.Value {
	items := []value.Value{}
	own := d.of(ds, tool)
	if len(own) > maxDiagnostics {
		slices.SortStableFunc(own, func(a, b diag.Diagnostic) int { return int(a.Severity) - int(b.Severity) })
		own = own[:maxDiagnostics]
	}
	for _, one := range own {
		at := d.place(one.Pos)
		b := value.ObjectOf("severity", one.Severity.String(), "code", one.Code, "message", one.Message, "hint", optional(one.Hint))
		if one.File != d.toolkit.opts.Path {
			items = append(items, with(b, "file", one.File, "line", one.Pos.Line))
			continue
		}
		items = append(items, with(b, "tool", optional(at.tool), "node", optional(at.node), "pointer", optional(at.pointer),
			"line", one.Pos.Line, "fix", d.fix(one, at)))
	}
	return value.FromArray(items)
}

// of returns the diagnostics of a tool; all if that is empty.
func (d *diagnosed) of(ds []diag.Diagnostic, tool string) []diag.Diagnostic {
	if tool == "" {
		return slices.Clone(ds)
	}
	var own []diag.Diagnostic
	for _, key := range []string{"tools", config.Prompts, config.Resources} {
		before := ""
		if key != "tools" {
			before, key = key, strings.TrimSuffix(key, "/")
		}
		for _, item := range d.root.Get(key).Items() {
			if before+item.Get("name").Text().String() != tool {
				continue
			}
			from, to := item.Pos(), item.End()
			for _, one := range ds {
				if one.File == d.toolkit.opts.Path && !one.Pos.Before(from) && one.Pos.Before(to) {
					own = append(own, one)
				}
			}
		}
	}
	return own
}

// spot is a place in the file as an agent names it.
type spot struct {
	tool, node string
	// pointer leads to the place: from the tool if there is one, else from the root.
	pointer string
	whole   string // from the root
}

// place returns what stands at a position.
func (d *diagnosed) place(at diag.Pos) spot {
	var s spot
	flat := d.root.Get("nodes") != nil
	n := d.root
	for n != nil {
		var next *config.Node
		step := ""
		for _, f := range n.Fields() {
			if !at.Before(f.Key.Pos()) && at.Before(f.Value.End()) || f.Key.Pos() == at {
				next, step = f.Value, f.Key.String()
			}
		}
		for i, item := range n.Items() {
			if !at.Before(item.Pos()) && at.Before(item.End()) {
				next, step = item, strconv.Itoa(i)
			}
		}
		if next == nil {
			break
		}
		s.whole += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step)
		s.pointer += s.whole[strings.LastIndexByte(s.whole, '/'):]
		switch steps := strings.Split(s.whole, "/"); {
		case len(steps) == 3 && steps[1] == "tools":
			s.tool, s.pointer = next.Get("name").Text().String(), ""
		case len(steps) == 3 && (steps[1]+"/" == config.Prompts || steps[1]+"/" == config.Resources):
			s.tool, s.pointer = steps[1]+"/"+next.Get("name").Text().String(), ""
		case flat && len(steps) == 3 && steps[1] == "nodes":
			if id := next.Get("id").Text().String(); id != "" {
				s.pointer = "/nodes/" + id
			}
		}
		if id := next.Get("id"); id.IsString() && next.Get("type") != nil {
			s.node = id.Text().String()
		}
		if !next.Pos().Before(at) && next.Kind() != config.Map && next.Kind() != config.List {
			break
		}
		n = next
	}
	return s
}

// fix returns the operation of patchGraphTool that mends a problem; undefined if none
// is known.
func (d *diagnosed) fix(p diag.Diagnostic, at spot) value.Value {
	if !d.fixes || p.Hint == "" || at.tool == "" {
		return value.Undef
	}
	if d.doc == nil {
		// If there is no memory for it, it knows no fixes.
		d.doc, _ = language.NewContext(context.Background(), d.toolkit.opts.Path, string(d.text), language.Options{
			Memory: d.toolkit.opts.Memory, Getenv: d.toolkit.opts.Getenv, Inputs: d.toolkit.opts.Inputs, MCPFiles: d.toolkit.opts.MCPFiles, Read: boundedfile.Read, Config: true,
		}, nil)
	}
	for _, a := range language.Actions(d.doc, language.DiagnosticSpan(d.doc, p)) {
		found := d.doc.Diagnostics[a.Diagnostic]
		if found.Pos != p.Pos || found.Code != p.Code || len(a.Edits) != 1 {
			continue
		}
		mark := len(d.text) - len(d.doc.Text)
		e := a.Edits[0]
		before, err := edit.Parse(d.toolkit.opts.Path, d.text)
		if err != nil {
			return value.Undef
		}
		after, err := edit.Parse(d.toolkit.opts.Path, edit.Apply(d.text, []edit.TextEdit{{Start: mark + e.From, End: mark + e.To, Text: e.New}}))
		if err != nil {
			return value.Undef
		}
		old, _ := follow(before.Value(), at.whole)
		now, ok := follow(after.Value(), at.whole)
		if ok && now.LongerThan(maxFix) {
			return value.Undef
		}
		if ok && !value.Equal(old, now) {
			return value.ObjectOf("op", "set", "path", at.pointer, "value", now)
		}
		if i := strings.LastIndexByte(at.pointer, '/'); i > 0 { // a key
			if now, ok := follow(after.Value(), at.whole[:strings.LastIndexByte(at.whole, '/')]); ok && !now.LongerThan(maxFix) {
				return value.ObjectOf("op", "set", "path", at.pointer[:i], "value", now)
			}
		}
	}
	return value.Undef
}

// follow returns what a JSON pointer leads to.
func follow(v value.Value, pointer string) (value.Value, bool) {
	if pointer == "" {
		return v, true
	}
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v.Kind() {
		case value.Array:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= v.Len() {
				return value.Undef, false
			}
			v = v.Elems()[i]
		case value.Object:
			if !v.Has(step) {
				return value.Undef, false
			}
			v = v.Get(step)
		default:
			return value.Undef, false
		}
	}
	return v, true
}
