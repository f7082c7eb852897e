package suite

import (
	"context"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Comparison is what came of comparing a value with a pattern.
type Comparison struct {
	Equal bool
	// Expected and Found are the two to show side by side: of Found what the pattern
	// is about, of Expected what matched by a rule in the form in which it was found.
	// Either may be undefined.
	Expected, Found value.Value
	// At is where the pattern says what does not match: the first such place.
	At *config.Node
	// Reasons are what predicates said that do not hold.
	Reasons []string
}

// Compare compares a value with the expectation's pattern. Ctx bounds predicates.
func (x Expectation) Compare(ctx context.Context, options Evaluation, v value.Value) Comparison {
	c := comparer{ctx: ctx, options: options}
	equal, expected, found := c.compare(x.Pattern, v, x.mode)
	if c.at == nil {
		c.at = x.Pattern.Node
	}
	return Comparison{equal, expected, found, c.at, c.reasons}
}

type comparer struct {
	ctx     context.Context
	options Evaluation
	reasons []string
	at      *config.Node
}

// differs notes the first place that does not match.
func (c *comparer) differs(p *Pattern) {
	if c.at == nil {
		c.at = p.Node
	}
}

// compare returns the pattern and the value as they are to be shown.
func (c *comparer) compare(p *Pattern, v value.Value, m mode) (equal bool, expected, found value.Value) {
	switch p.form {
	case matchForm:
		if v.Kind() == value.String && p.regexp.MatchString(v.Str()) {
			return true, v, v
		}
		c.differs(p)
		return false, p.shown(), v
	case exprForm:
		ok, reason := p.expr.Holds(c.ctx, c.options, v)
		if ok {
			return true, v, v
		}
		c.reasons = append(c.reasons, reason)
		c.differs(p)
		return false, p.shown(), v
	case objectForm:
		if v.Kind() == value.Object {
			return c.object(p, v, m)
		}
	case listForm:
		if v.Kind() == value.Array {
			return c.list(p, v, m)
		}
	default:
		if m == asPath && p.literal.Kind() == value.String && isStep(v, p.literal.Str()) {
			return true, v, v
		}
		if value.Equal(p.literal, v) {
			return true, v, v
		}
	}
	c.differs(p)
	return false, p.shown(), v
}

// isStep reports whether a step of a walk is that of a node with bodies.
func isStep(v value.Value, id string) bool {
	return v.Kind() == value.Object && v.Len() == 1 && v.Has(id)
}

func (c *comparer) object(p *Pattern, v value.Value, m mode) (equal bool, expected, found value.Value) {
	inner := m
	if m == byKey {
		inner = exactly
	}
	equal = true
	x, f := value.NewBuilder(len(p.entries)), value.NewBuilder(len(p.entries))
	for _, e := range p.entries {
		member := v.Get(e.key)
		ok, a, b := c.compare(e.pattern, member, inner)
		equal = equal && ok
		x.Set(e.key, a)
		if !member.IsUndefined() {
			f.Set(e.key, b)
		}
	}
	if m == exactly || m == asPath {
		for _, e := range v.Entries() {
			if x.Get(e.Key).IsUndefined() && !slices.ContainsFunc(p.entries, func(o patternEntry) bool { return o.key == e.Key }) {
				equal = false
				f.Set(e.Key, e.Value)
			}
		}
	}
	return equal, x.Value(), f.Value()
}

func (c *comparer) list(p *Pattern, v value.Value, m mode) (equal bool, expected, found value.Value) {
	inner := m
	if m == inItems {
		inner = partly
	}
	elems := v.Elems()
	equal = len(elems) == len(p.items)
	var x, f []value.Value
	for i, item := range p.items {
		if i >= len(elems) {
			x = append(x, item.shown())
			continue
		}
		ok, a, b := c.compare(item, elems[i], inner)
		equal = equal && ok
		x, f = append(x, a), append(f, b)
	}
	f = append(f, elems[min(len(p.items), len(elems)):]...)
	return equal, value.FromArray(x), value.FromArray(f)
}

// shown returns the pattern as it is written.
func (p *Pattern) shown() value.Value {
	switch p.form {
	case matchForm:
		return value.ObjectOf(matchKey, value.FromString(p.regexp.String()[len(reFlags):]))
	case exprForm:
		return value.ObjectOf(exprKey, value.FromString(p.expr.Node.Text().String()))
	case objectForm:
		b := value.NewBuilder(len(p.entries))
		for _, e := range p.entries {
			b.Set(e.key, e.pattern.shown())
		}
		return b.Value()
	case listForm:
		list := make([]value.Value, len(p.items))
		for i, item := range p.items {
			list[i] = item.shown()
		}
		return value.FromArray(list)
	}
	return p.literal
}
