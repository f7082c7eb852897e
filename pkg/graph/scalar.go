package graph

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Value asks for any value, in which each map whose only key is `expr` is a
// JSONata expression. It returns nil where the field is absent.
func (f *Fields) Value(name, doc string, opts ...Option) *Template {
	n := f.get(ValueField, name, doc, opts)
	if n == nil {
		return nil
	}
	t, _ := f.template(n, name, 0)
	return t
}

// Scalar asks for a value of some types of JSON ("string", "number"), or for a
// map whose only key is `expr`. It returns nil if there is none of them.
func (f *Fields) Scalar(name, doc string, types []string, opts ...Option) *Template {
	n := f.get(ScalarField, name, doc, append(slices.Clone(opts), func(field *Field) { field.Types = types }))
	if n == nil {
		return nil
	}
	_, expression := n.Field(exprKey)
	if !expression && !slices.ContainsFunc(types, func(t string) bool { return hasType(n.Value(), t) }) {
		d := n.Expected(f.what(name), "a "+strings.Join(types, ", a ")+" or {expr: …}")
		if slices.Contains(types, "string") && n.Kind() == config.Scalar {
			d.Hint = "put quotes around it"
		}
		f.report(d)
		return nil
	}
	t, _ := f.template(n, name, 0)
	return t
}

// Check reports a literal that is not accepted; want is what would be.
func (f *Fields) Check(name string, t *Template, want string, accepted func(value.Value) bool) {
	if t == nil {
		return
	}
	if _, expression := t.src.Field(exprKey); !expression && t.parts == nil && !accepted(t.literal) {
		f.report(t.src.Problem(diag.CodeValue, fmt.Sprintf("%s is %s; expected %s", f.what(name), t.src.Describe(), want)))
	}
}

// Either asks that one of two optional fields is there, and only one. Both were
// asked for before.
func (f *Fields) Either(one, other string) {
	for _, field := range f.asked {
		if field.Name == one {
			field.Instead = other
		}
	}
	switch {
	case f.src == nil:
	case f.Has(one) && f.Has(other):
		f.Problem(other, diag.CodeConflict, fmt.Sprintf("has both %q and %q", one, other), "remove one of the two")
	case !f.Has(one) && !f.Has(other):
		d := f.src.Missing(f.owner, f.path+one)
		d.Message = fmt.Sprintf("%s has neither %q nor %q", f.owner, one, other)
		f.report(d)
	}
}

// Count asks for a whole number, 0 or more. absent is what it is where the node
// leaves it out.
func (f *Fields) Count(name, doc string, absent int) int {
	return int(f.count(config.Setting{Name: name, Doc: doc, Shape: config.BoundShape, Default: strconv.Itoa(absent)}))
}

// sharePattern is what a percentage looks like.
const sharePattern = `^[0-9]{1,3}([.][0-9]{1,4})?%$`

var sharePart = regexp.MustCompile(sharePattern)

// Tolerance asks for a number of failures, or for a percentage, which is given in
// millionths.
func (f *Fields) Tolerance(name, doc string) (count, millionths int) {
	n := f.setting(config.Setting{Name: name, Doc: doc, Shape: config.ShareShape, Default: "0"})
	switch {
	case n == nil:
		return 0, 0
	case !n.IsString():
		c, ds := config.DecodeNumber(f.src, config.Setting{Name: name, Shape: config.BoundShape})
		f.reportAll(ds)
		return int(c), 0
	}
	if text := n.Text().String(); sharePart.MatchString(text) {
		whole, part, _ := strings.Cut(strings.TrimSuffix(text, "%"), ".")
		digits := whole + part + strings.Repeat("0", 4-len(part))
		if m, err := strconv.Atoi(digits); err == nil && m <= million {
			return 0, m
		}
	}
	d := n.Problem(diag.CodeValue, fmt.Sprintf("%s is %s; expected a whole number or a percentage from 0%% to 100%%", f.what(name), n.Describe()))
	d.Hint = `write 3 for three failures, or "10%" for a tenth of the items`
	f.report(d)
	return 0, 0
}

const million = 1_000_000
