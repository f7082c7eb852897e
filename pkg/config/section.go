package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// section decodes one map of a file by the description of its settings. Its
// methods report what is wrong and return the default, or a zero value.
type section struct {
	environment
	owner    string // how messages call the map
	node     *Node
	settings []Setting
}

// newSection returns the section of a map, after reporting unknown and missing
// fields. Variables in it are not expanded unless they are read with string.
func (d *decoder) newSection(node *Node, owner string, settings []Setting, secrets *[]string) *section {
	s := &section{environment{decoder: d, secrets: secrets}, owner, node, settings}
	d.report(unknownFields(node, owner, names(settings))...)
	for _, field := range settings {
		if field.Required {
			s.reportMissing(field)
		}
	}
	return s
}

// subsection returns the section of a map in this one; nil if there is none.
func (s *section) subsection(name string) *section {
	n := s.optional(name, Map)
	if n == nil {
		return nil
	}
	return s.decoder.newSection(n, fmt.Sprintf("%q of %s", name, s.owner), s.fieldsOf(name), s.secrets)
}

// setting returns the description of a field. Asking for another field than
// those described is a programming error.
func (s *section) setting(name string) *Setting {
	i := slices.IndexFunc(s.settings, func(f Setting) bool { return f.Name == name })
	if i < 0 {
		panic("config: undescribed setting " + name + " of " + s.owner)
	}
	return &s.settings[i]
}

// fieldsOf returns the fields of a map, also if that is another form of the
// setting.
func (s *section) fieldsOf(name string) []Setting {
	field := s.setting(name)
	for _, form := range field.Or {
		if form.Fields != nil {
			return form.Fields
		}
	}
	return field.Fields
}

func (s *section) has(name string) bool { return s.node.Get(name) != nil }

// reportMissing reports a required field that is absent or an empty string.
func (s *section) reportMissing(field Setting) {
	switch f := s.node.Get(field.Name); {
	case f == nil:
		m := s.node.Missing(s.owner, field.Name)
		switch len(field.Values) {
		case 0:
		case 1:
			m.Hint = fmt.Sprintf("write %s: %q", field.Name, field.Values[0])
		default:
			m.Hint = "expected " + diag.List(field.Values)
		}
		s.decoder.report(m)
	case f.IsString() && f.Text().String() == "":
		s.decoder.report(f.Problem(diag.CodeValue, fmt.Sprintf("%q of %s is empty", field.Name, s.owner)))
	}
}

// selectType reports the fields that have no meaning with this "type", and
// this "flow" if it is not empty, and those that are required with them but
// missing.
func (s *section) selectType(kind, flow string) {
	selected := []string{kind, flow}
	for _, field := range s.settings {
		f, present := s.node.Field(field.Name)
		if present && !field.appliesTo(selected) {
			with := "type: " + kind
			if flow != "" && slices.Contains(s.setting("flow").Values, field.For[0]) {
				with = "flow: " + flow
			}
			s.decoder.report(f.Key.Problem(diag.CodeMeaningless, fmt.Sprintf("%q of %s has no effect with %s; it is ignored", field.Name, s.owner, with)))
		}
		if slices.ContainsFunc(field.RequiredFor, func(v string) bool { return slices.Contains(selected, v) }) {
			s.reportMissing(field)
		}
	}
}

// optional returns a field; nil if it is absent or, which it reports, of
// another kind.
func (s *section) optional(name string, kind Kind) *Node {
	s.setting(name)
	return s.decoder.optional(s.node, name, kind)
}

// string returns a string with its variables expanded.
func (s *section) string(name string) string {
	field := s.setting(name)
	if s.decoder.optionalString(s.node, name) == "" {
		return ""
	}
	text := s.node.Get(name).Text()
	var out string
	switch field.Shape {
	case URLShape:
		out = s.expandURL(text)
	case SecureURLShape:
		out = s.secureURL(name, text)
	default:
		out = s.expand(text)
	}
	if field.Secret {
		s.addSecret(out)
	}
	return out
}

// secureURL returns the URL of an authorization server. Tokens must not travel
// unencrypted, except to this machine (OAuth 2.1, 1.5).
func (s *section) secureURL(name string, text Text) string {
	out := s.expandURL(text)
	if out != "" && !strings.Contains(out, "${") && !IsSecureURL(out) {
		p := s.node.Get(name).Problem(diag.CodeValue, fmt.Sprintf("%q of %s is not a secure URL: %s", name, s.owner, quote(text.String())))
		p.Hint = "use an address that begins with https://, or with http:// on localhost"
		s.decoder.report(p)
	}
	return out
}

// literal returns a string as it is written, without expanding variables.
func (s *section) literal(name string) string {
	s.setting(name)
	return s.decoder.optionalString(s.node, name)
}

// choice returns a string that must be one of the setting's values.
func (s *section) choice(name string) string {
	if !s.has(name) {
		return ""
	}
	valid := s.setting(name).Values
	v, f := s.string(name), s.node.Get(name)
	if slices.Contains(valid, v) || !f.IsString() {
		return v
	}
	// The expanded value may be a secret.
	written := f.Text().String()
	p := f.Problem(diag.CodeValue, fmt.Sprintf("%s has the unknown %s %s", s.owner, name, quote(written)))
	p.Hint = cmp.Or(diag.Meant(diag.Nearest(written, valid)), "expected "+diag.List(valid))
	s.decoder.report(p)
	return ""
}

func (s *section) boolean(name string) bool {
	f, absent := s.node.Get(name), s.setting(name).Default == "true"
	if f == nil {
		return absent
	}
	if f.Value().Kind() != value.Bool {
		s.decoder.report(f.Expected(fmt.Sprintf("%q", name), "true or false"))
		return absent
	}
	return f.Value().Bool()
}

// number returns a number in the range of the setting.
func (s *section) number(name string) float64 {
	field := s.setting(name)
	absent := value.FromNumberText("0")
	if field.Default != "" {
		absent = value.FromNumberText(field.Default)
	}
	f := s.node.Get(name)
	if f == nil {
		return absent.Float()
	}
	lowest, highest, _ := field.Range()
	v, want := f.Value(), "a positive whole number"
	if n := v.Float(); v.Kind() == value.Number && n >= float64(lowest) && n <= float64(highest) && (!field.Shape.isWhole() || n == math.Trunc(n)) {
		return n
	}
	switch {
	case !field.Shape.isWhole() || field.Shape == PortShape:
		want = fmt.Sprintf("a number from %d to %d", lowest, highest)
	case v.Kind() == value.Number && v.Float() > float64(highest):
		want = fmt.Sprintf("at most %d", highest)
	case lowest == 0:
		want = "0 or a positive whole number"
	}
	s.decoder.report(f.Problem(diag.CodeLimit, fmt.Sprintf("%q must be %s, found %s", name, want, f.Describe())))
	return absent.Float()
}

func (s *section) count(name string) int { return int(s.number(name)) }

func (s *section) duration(name string) time.Duration {
	return time.Duration(s.number(name)) * time.Millisecond
}

// text returns a string with its variables expanded, or a number or boolean as
// it is written: processes and HTTP requests get text in any case.
func (s *section) text(n *Node, what string) string {
	switch n.Value().Kind() {
	case value.String:
		return s.expand(n.Text())
	case value.Number, value.Bool:
		return n.Text().String()
	}
	s.decoder.report(n.Expected(what, "a string"))
	return ""
}

// texts returns a list of values that text accepts.
func (s *section) texts(name string) []string {
	list := s.optional(name, List)
	if list == nil {
		return nil
	}
	out := make([]string, len(list.Items()))
	for i, n := range list.Items() {
		out[i] = s.text(n, fmt.Sprintf("an element of %q", name))
	}
	return out
}

// words returns a list of strings, which may be written as one string with
// white space between the words.
func (s *section) words(name string) []string {
	f := s.node.Get(name)
	switch {
	case f == nil:
		s.setting(name)
		return nil
	case f.IsString():
		return strings.Fields(s.string(name))
	case f.Kind() == List:
		return s.texts(name)
	}
	s.decoder.report(f.Expected(fmt.Sprintf("%q", name), "a string or a list of strings"))
	return nil
}

// strings returns a list of strings without expanding variables; nil if the
// field is absent.
func (s *section) strings(name string) []string {
	if list := s.optional(name, List); list != nil {
		return s.decoder.strings(list, name)
	}
	return nil
}

type nameValue struct{ Name, Value string }

// textMap returns a map of values that text accepts.
func (s *section) textMap(name string) []nameValue {
	var out []nameValue
	for _, f := range s.optional(name, Map).Fields() {
		out = append(out, nameValue{f.Key.String(), s.text(f.Value, fmt.Sprintf("%q of %q", f.Key.String(), name))})
	}
	return out
}

// reportConflict reports at the key that it excludes another field.
func (s *section) reportConflict(key Text, message, other string) {
	p := key.Problem(diag.CodeConflict, message)
	p.Hint = "remove one of the two"
	if f, ok := s.node.Field(other); ok {
		p.Related = []diag.Related{{File: f.Key.File(), Pos: f.Key.Pos(), Message: fmt.Sprintf("%q is here", other)}}
	}
	s.decoder.report(p)
}

var kindNames = map[Kind]string{Map: "a map", List: "a list"}

// optional returns a field of a map; nil if it is absent or, which it reports,
// of another kind.
func (d *decoder) optional(n *Node, name string, kind Kind) *Node {
	f := n.Get(name)
	if f != nil && f.Kind() != kind {
		d.report(f.Expected(fmt.Sprintf("%q", name), kindNames[kind]))
		return nil
	}
	return f
}

// requiredItems returns the elements of a node that must be a list: nil if it
// is not, which it reports; an empty list is not nil.
func (d *decoder) requiredItems(n *Node, what string) []*Node {
	if n.Kind() != List {
		d.report(n.Expected(what, "a list"))
		return nil
	}
	if items := n.Items(); items != nil {
		return items
	}
	return []*Node{}
}

// optionalString returns a field that must be a string; empty if it is absent.
func (d *decoder) optionalString(n *Node, name string) string {
	f := n.Get(name)
	if f == nil {
		return ""
	}
	if !f.IsString() {
		d.report(d.notAString(f, name))
		return ""
	}
	return f.Text().String()
}

// notAString returns the diagnostic for a field that must be a string.
func (d *decoder) notAString(n *Node, name string) diag.Diagnostic {
	e := n.Expected(fmt.Sprintf("%q", name), "a string")
	if k := n.Value().Kind(); k == value.Number || k == value.Bool {
		e.Hint = fmt.Sprintf("put quotes around it: %s: %q", name, n.Text().String())
	}
	return e
}

// strings returns the elements of a list that must be strings.
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
