package graph

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/mcpgraph/mcpgraph/internal/jsonschema"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// partial is a schema for values of which parts are not known yet. It finds
// only what is wrong whatever they turn out to be.
type partial struct{ compiled *jsonschema.Schema }

func newPartial(schema value.Value) (*partial, error) {
	if schema.IsUndefined() {
		schema = value.True
	}
	compiled, err := compileValue(schema)
	if err != nil {
		return nil, err
	}
	return &partial{compiled}, nil
}

// compileValue compiles a schema that is no part of a file. The error names what
// is wrong with it, if that is known, as a *[SchemaError].
func compileValue(schema value.Value) (*jsonschema.Schema, error) {
	compiled, err := compileSchema(schema.Any())
	var invalid *jsonschema.SchemaValidationError
	var details *jsonschema.ValidationError
	if errors.As(err, &invalid) && errors.As(invalid.Err, &details) {
		_, at := locate(schema, fragment(invalid.URL))
		return nil, &SchemaError{Problems: problemsOf(details, at)}
	}
	return compiled, err
}

// misfit is one thing that does not fit: a key that is missing in the object
// at a path, a key that must not be there, or a value.
type misfit struct {
	at               []string
	missing, unknown string
	problem          SchemaProblem
}

// check finds what does not fit in the arguments that t yields, or nil if all
// fit.
func (p *partial) check(t *Template) []misfit {
	known, holes := value.FromEntries(nil), [][]string(nil)
	if t != nil {
		known, holes = t.known(nil)
	}
	var invalid *jsonschema.ValidationError
	if err := p.compiled.Validate(known.Any()); !errors.As(err, &invalid) {
		return nil
	}
	c := &certain{known: known, holes: map[string]bool{}, around: map[string]bool{}, seen: map[string]bool{}}
	for _, hole := range holes {
		c.holes[joinedPath(hole)] = true
		for i := range len(hole) + 1 {
			c.around[joinedPath(hole[:i])] = true
		}
	}
	c.add(invalid)
	return c.misfits
}

// known returns what the template is before any run, with null at the paths
// that are known only at run time.
func (t *Template) known(at []string) (v value.Value, holes [][]string) {
	switch {
	case t.program != nil:
		return value.NullValue, [][]string{at}
	case t.parts == nil:
		return t.literal, nil
	}
	parts := make([]value.Value, len(t.parts))
	for i, part := range t.parts {
		step := strconv.Itoa(i)
		if t.keys != nil {
			step = t.keys[i]
		}
		var inner [][]string
		parts[i], inner = part.known(append(slices.Clone(at), step))
		holes = append(holes, inner...)
	}
	if t.keys == nil {
		return value.FromArray(parts), holes
	}
	entries := make([]value.Entry, len(parts))
	for i, part := range parts {
		entries[i] = value.Entry{Key: t.keys[i], Value: part}
	}
	return value.FromEntries(entries), holes
}

// certain collects the errors that no value at the holes can undo.
type certain struct {
	known   value.Value
	holes   map[string]bool // paths, see joinedPath
	around  map[string]bool // paths that lead to holes, or towards them
	seen    map[string]bool // misfits
	misfits []misfit
}

// joinedPath returns a path as the key of a map.
func joinedPath(path []string) string {
	var b strings.Builder
	for _, step := range path {
		b.WriteString(strconv.Quote(step))
	}
	return b.String()
}

// inHole reports whether a path leads to a hole or into it.
func (c *certain) inHole(path []string) bool {
	if len(c.holes) == 0 {
		return false
	}
	for i := range len(path) + 1 {
		if c.holes[joinedPath(path[:i])] {
			return true
		}
	}
	return false
}

func (c *certain) add(err *jsonschema.ValidationError) {
	at := err.InstanceLocation
	if c.inHole(at) {
		return
	}
	around := c.around[joinedPath(at)]
	switch k := err.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			c.put(misfit{at: at, missing: name})
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			c.put(misfit{at: at, unknown: name})
		}
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range err.Causes {
			if !around || !conditional(cause.SchemaURL) {
				c.add(cause)
			}
		}
	default:
		if _, ok := k.(*kind.Type); around && !ok {
			return // a value at the hole may be what makes it fit
		}
		inner := &collector{root: c.known}
		inner.add(err)
		for _, p := range inner.problems {
			c.put(misfit{at: p.tokens, problem: p})
		}
	}
}

func (c *certain) put(m misfit) {
	key := joinedPath(m.at) + " " + joinedPath([]string{m.missing, m.unknown, m.problem.Expected})
	if !c.seen[key] {
		c.seen[key] = true
		c.misfits = append(c.misfits, m)
	}
}

// conditional reports whether a schema holds only where another one does.
func conditional(schemaURL string) bool {
	return slices.ContainsFunc(fragment(schemaURL), func(step string) bool {
		return step == "then" || step == "else" || strings.HasPrefix(step, "dependent") || step == "dependencies"
	})
}
