package suite

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// decoder turns nodes into tests. Its methods report what is wrong and go on.
type decoder struct {
	diagnostics []diag.Diagnostic
	// reported has what was reported, because each case reads its test again.
	reported map[problem]bool
	// vars are those of the case; substitutes reports whether the file has any ${vars.…}.
	vars        map[string]*config.Node
	known       *diag.Names // names of vars, once they are needed
	substitutes bool
}

// problem identifies a diagnostic.
type problem struct {
	pos           diag.Pos
	code, message string
}

func (d *decoder) report(ds ...diag.Diagnostic) {
	for _, one := range ds {
		p := problem{one.Pos, one.Code, one.Message}
		if !d.reported[p] {
			d.reported[p] = true
			d.diagnostics = append(d.diagnostics, one)
		}
	}
}

// fields decodes a map by the description of its keys. Of several maps the first
// that has a key counts.
type fields struct {
	*decoder
	owner    string // how messages call the map
	nodes    []*config.Node
	settings []config.Setting
}

// fieldsOf returns the fields of a map, after reporting unknown and missing ones;
// nil if the node is no map, which it reports.
func (d *decoder) fieldsOf(n *config.Node, owner string, settings []config.Setting) *fields {
	if n = d.resolve(n); n.Kind() != config.Map {
		d.report(n.Expected(owner, "a map"))
		return nil
	}
	f := &fields{d, owner, []*config.Node{n}, settings}
	f.reportUnknown(n)
	for _, s := range settings {
		if s.Required && n.Get(s.Name) == nil {
			d.report(n.Missing(owner, s.Name))
		}
	}
	return f
}

func (f *fields) reportUnknown(n *config.Node) {
	var valid []string
	for _, field := range n.Fields() {
		key := field.Key.String()
		if config.IsFree(key) || slices.ContainsFunc(f.settings, func(s config.Setting) bool { return s.Name == key }) {
			continue
		}
		if valid == nil {
			for _, s := range f.settings {
				valid = append(valid, s.Name)
			}
		}
		f.report(field.Key.Unknown(f.owner, valid))
	}
}

// setting returns the description of a key. Asking for another key than those
// described is a programming error.
func (f *fields) setting(name string) *config.Setting {
	i := slices.IndexFunc(f.settings, func(s config.Setting) bool { return s.Name == name })
	if i < 0 {
		panic("suite: undescribed key " + name + " of " + f.owner)
	}
	return &f.settings[i]
}

// get returns the value of a key, with its variables; nil if it is absent.
func (f *fields) get(name string) *config.Node {
	f.setting(name)
	for _, n := range f.nodes {
		if v := n.Get(name); v != nil {
			return f.resolve(v)
		}
	}
	return nil
}

// sub returns the fields of a map in this one; nil if it is absent.
func (f *fields) sub(name string) *fields {
	n := f.get(name)
	if n == nil {
		return nil
	}
	s := f.setting(name)
	keys := s.Fields
	for _, form := range s.Or {
		if keys == nil {
			keys = form.Fields
		}
	}
	return f.fieldsOf(n, fmt.Sprintf("%q of %s", name, f.owner), keys)
}

// items returns the elements of a list; nil if it is absent.
func (f *fields) items(name string) []*config.Node {
	n := f.get(name)
	switch {
	case n == nil:
		return nil
	case n.Kind() != config.List:
		f.report(n.Expected(fmt.Sprintf("%q", name), "a list"))
		return nil
	}
	return n.Items()
}

// string returns a text; numbers and booleans are texts only of a TextShape.
func (f *fields) string(name string) string {
	n := f.get(name)
	switch {
	case n == nil:
		return ""
	case !n.IsString() && f.setting(name).Shape != config.TextShape, n.Kind() != config.Scalar, n.IsNull():
		e := n.Expected(fmt.Sprintf("%q", name), "a string")
		if k := n.Value().Kind(); k == value.Number || k == value.Bool {
			e.Hint = fmt.Sprintf("put quotes around it: %s: %q", name, n.Text().String())
		}
		f.report(e)
		return ""
	}
	return f.text(n)
}

// required is string that reports an empty one.
func (f *fields) required(name string) string {
	text, n := f.string(name), f.get(name)
	if n != nil && n.IsString() && text == "" {
		f.report(n.Problem(diag.CodeValue, fmt.Sprintf("%q of %s is empty", name, f.owner)))
	}
	return text
}

// strings returns a list of texts; nil if it is absent.
func (f *fields) strings(name string) []string {
	var list []string
	for _, n := range f.items(name) {
		if n = f.resolve(n); !n.IsString() {
			f.report(n.Expected(fmt.Sprintf("an element of %q", name), "a string"))
			continue
		}
		list = append(list, f.text(n))
	}
	return list
}

// number returns a whole number; absent if the key is.
func (f *fields) number(name string, absent int64) int64 {
	n, s := f.get(name), f.setting(name)
	if n == nil {
		return absent
	}
	lowest, highest, _ := s.Range()
	v := n.Value()
	if x := v.Float(); v.Kind() == value.Number && x == math.Trunc(x) && x >= float64(lowest) && x <= float64(highest) {
		return int64(x)
	}
	want := fmt.Sprintf("a whole number from %d to %d", lowest, highest)
	f.report(n.Problem(diag.CodeLimit, fmt.Sprintf("%q must be %s, found %s", name, want, n.Describe())))
	return absent
}

func (f *fields) milliseconds(name string, absent time.Duration) time.Duration {
	return time.Duration(f.number(name, absent.Milliseconds())) * time.Millisecond
}

func (f *fields) boolean(name string) bool {
	n := f.get(name)
	if n != nil && n.Value().Kind() != value.Bool {
		f.report(n.Expected(fmt.Sprintf("%q", name), "true or false"))
	}
	return n.Value().Bool()
}

// object returns a map of any keys and values; undefined if it is absent.
func (f *fields) object(name string) value.Value {
	n := f.get(name)
	switch {
	case n == nil:
		return value.Undef
	case n.Kind() != config.Map:
		f.report(n.Expected(fmt.Sprintf("%q", name), "a map"))
		return value.Undef
	}
	return f.value(n)
}

// variable is ${vars.NAME}; a second $ before it takes its meaning away.
var variable = regexp.MustCompile(`\$?\$\{vars\.([^{}]*)\}`)

// resolve returns the node of the variable if all of a string is one, else n.
func (d *decoder) resolve(n *config.Node) *config.Node {
	if !d.substitutes || !n.IsString() {
		return n
	}
	text := n.Text().String()
	if m := variable.FindStringSubmatchIndex(text); m != nil && m[0] == 0 && m[1] == len(text) && !strings.HasPrefix(text, "$$") {
		if v := d.variable(n, m[2], m[3]); v != nil {
			return v
		}
	}
	return n
}

// variable returns the value of the variable whose name stands from from to to in a
// string, or nil if there is none, which it reports.
func (d *decoder) variable(n *config.Node, from, to int) *config.Node {
	name := n.Text().String()[from:to]
	if v := d.vars[name]; v != nil {
		return v
	}
	if d.known == nil {
		d.known = diag.NewNames(slices.Collect(maps.Keys(d.vars)))
	}
	p := n.Text().ProblemAt(from, to, diag.CodeSubstitution, fmt.Sprintf("there is no variable %q", name))
	if p.Hint = d.known.Expected(name, "expected "); p.Hint == "" {
		p.Hint = fmt.Sprintf("add it to the test or to each of its cases: vars: {%s: …}", name)
	}
	d.report(p)
	return nil
}

// text returns a scalar as a string, with its variables.
func (d *decoder) text(n *config.Node) string {
	text := n.Text().String()
	if !d.substitutes || !strings.Contains(text, "${vars.") {
		return text
	}
	var out strings.Builder
	at := 0
	for _, m := range variable.FindAllStringSubmatchIndex(text, -1) {
		out.WriteString(text[at:m[0]])
		at = m[1]
		if strings.HasPrefix(text[m[0]:], "$$") {
			out.WriteString(text[m[0]+1 : m[1]])
		} else if v := d.variable(n, m[2], m[3]); v.Kind() == config.Scalar {
			out.WriteString(v.Text().String())
		} else {
			out.WriteString(v.Value().JSON())
		}
	}
	out.WriteString(text[at:])
	return out.String()
}

// value returns a node as JSON, with its variables.
func (d *decoder) value(n *config.Node) value.Value {
	if !d.substitutes {
		return n.Value()
	}
	switch n = d.resolve(n); n.Kind() {
	case config.Map:
		b := value.NewBuilder(len(n.Fields()))
		for _, f := range n.Fields() {
			b.Set(f.Key.String(), d.value(f.Value))
		}
		return b.Value()
	case config.List:
		list := make([]value.Value, len(n.Items()))
		for i, item := range n.Items() {
			list[i] = d.value(item)
		}
		return value.FromArray(list)
	}
	if n.IsString() {
		return value.FromString(d.text(n))
	}
	return n.Value()
}
