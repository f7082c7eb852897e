package expr

import (
	"strings"
	"unicode"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// jsonataVar is a var outside the bodies of operators over lists, whose name
// is an expression.
type jsonataVar struct {
	prog *jsonata.Expr
	path []any
}

func (n *jsonataVar) eval(st *state) (value.Value, error) {
	v, err := n.prog.Eval(st.ctx, st.env.document(), st.options())
	if err != nil {
		return value.Undef, jsonataError(err, n.prog.String(), n.path)
	}
	return v, nil
}

// rootVar is a var without a name: everything that the scope shows.
type rootVar struct{}

func (rootVar) eval(st *state) (value.Value, error) { return st.root(), nil }

// pathVar is a var with JSON Logic's meaning.
type pathVar struct{ path []string }

func (n *pathVar) eval(st *state) (value.Value, error) {
	return st.lookup(n.path), nil
}

// computedVar is a var whose name is itself a rule. What that yields is data,
// so it is a path, never an expression.
type computedVar struct {
	name node
	path []any
}

func (n *computedVar) eval(st *state) (value.Value, error) {
	name, err := n.name.eval(st)
	if err != nil {
		return value.Undef, err
	}
	v, err := st.variable(name)
	return v, at(err, n.path)
}

// variable looks up a name of any kind.
func (st *state) variable(name value.Value) (value.Value, error) {
	if nullish(name) {
		return st.root(), nil
	}
	s, err := st.text(name)
	if err != nil {
		return value.Undef, err
	}
	if s == "" && name.Kind() == value.String {
		return st.root(), nil
	}
	if err := st.charge(len(s)); err != nil {
		return value.Undef, err
	}
	return st.lookup(strings.Split(s, ".")), nil
}

// defaultVar is a var with a default, which as everywhere is evaluated whether
// needed or not, or one in a body, which is null if there is nothing: the
// standard's null. A reference to the run stays undefined.
type defaultVar struct {
	variable node
	rest     []node // the first is the default
	nothing  value.Value
}

func (n *defaultVar) eval(st *state) (value.Value, error) {
	v, err := n.variable.eval(st)
	if err != nil {
		return value.Undef, err
	}
	for i, r := range n.rest {
		d, err := r.eval(st)
		if err != nil {
			return value.Undef, err
		}
		if i == 0 && v.IsUndefined() {
			v = d
		}
	}
	if v.IsUndefined() {
		return n.nothing, nil
	}
	return v, nil
}

// numbered splits a path of names and whole numbers at its dots and reports
// whether it is one with a number in it. JSONata has no such steps, so this
// distinguishes JSON Logic's "items.0.name" from an expression; a path of names
// alone means the same in both, and JSONata also takes it through lists.
func numbered(s string) ([]string, bool) {
	steps := strings.Split(s, ".")
	number := false
	for _, step := range steps {
		if step == "" {
			return nil, false
		}
		if digits(step) == len(step) {
			number = true
			continue
		}
		for i, r := range step {
			if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
				return nil, false
			}
		}
	}
	return steps, number
}

// missing returns those of its keys under which the scope has nothing, null or
// "". A list as first argument holds the keys.
func missing(st *state, args []value.Value) (value.Value, error) {
	keys := args
	if len(args) > 0 && args[0].Kind() == value.Array {
		keys = args[0].Elems()
	}
	out, err := st.missing(keys)
	return value.FromArray(out), err
}

func (st *state) missing(keys []value.Value) ([]value.Value, error) {
	var out []value.Value
	for _, key := range keys {
		if err := st.spend(8); err != nil {
			return nil, err
		}
		name, standIn := key, value.Undef
		if key.Kind() == value.Array {
			name, standIn = arg(key.Elems(), 0), arg(key.Elems(), 1)
		}
		v, err := st.variable(name)
		if err != nil {
			return nil, err
		}
		if v.IsUndefined() {
			v = standIn
		}
		if nullish(v) || v.Kind() == value.String && v.Str() == "" {
			if err := st.charge(valueSize); err != nil {
				return nil, err
			}
			out = append(out, key)
		}
	}
	return out, nil
}

// missingSome returns the missing of its second argument's keys, or none where
// at least as many are there as the first argument asks for.
func missingSome(st *state, args []value.Value) (value.Value, error) {
	need, options := arg(args, 0), arg(args, 1)
	if nullish(options) {
		return value.Undef, failed(`"missing_some" needs a number and a list of keys`)
	}
	keys, count := []value.Value{options}, st.property(options, "length")
	if options.Kind() == value.Array {
		keys = options.Elems()
		if len(keys) > 0 && keys[0].Kind() == value.Array {
			keys = keys[0].Elems()
		}
	}
	out, err := st.missing(keys)
	if err != nil {
		return value.Undef, err
	}
	present := count.Float() - float64(len(out))
	if enough, err := weakly(st, need, value.FromFloat(present)); enough || err != nil {
		return value.FromArray(nil), err
	}
	return value.FromArray(out), nil
}
