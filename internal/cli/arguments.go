package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/schematext"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// arguments are those of a tool call as the command line gave them.
type arguments struct {
	all   value.Value // --args, an object
	pairs [][2]string // --arg, in order
}

func readArguments(ctx context.Context, a *app, all string, pairs []string) (arguments, error) {
	given := arguments{all: value.FromEntries(nil)}
	for _, p := range pairs {
		name, text, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return given, usagef("--arg %q has no value; expected NAME=VALUE", p)
		}
		given.pairs = append(given.pairs, [2]string{name, text})
	}
	if all == "" {
		return given, nil
	}
	text, from := all, "--args"
	path, isFile := strings.CutPrefix(all, "@")
	if isFile || all == "-" {
		var err error
		if text, from, err = a.readInput(ctx, "--args", path); err != nil {
			return given, err
		}
	}
	v, err := value.ParseStrict(text)
	switch {
	case err != nil:
		return given, usagef("%s: %w", from, err)
	case v.Kind() != value.Object:
		return given, usagef("%s: the arguments must be a JSON object, found %s", from, v.Kind())
	}
	given.all = v
	return given, nil
}

// typed returns the arguments as one object, each --arg parsed as its type in
// the tool's schema.
func (g arguments) typed(input *graph.Schema) (value.Value, error) {
	schema, err := value.Parse(input.Raw())
	if err != nil {
		return value.Undef, failed(err)
	}
	return g.typedBy(schema)
}

// typedBy is typed for a schema that may not compile.
func (g arguments) typedBy(schema value.Value) (value.Value, error) {
	b := value.NewBuilder(g.all.Len() + len(g.pairs))
	for _, e := range g.all.Entries() {
		b.Set(e.Key, e.Value)
	}
	for _, p := range g.pairs {
		name, text := p[0], p[1]
		types := schematext.Types(schema, schema.Get("properties").Get(name))
		v, err := readAs(types, text)
		if err != nil {
			return value.Undef, usagef("--arg %s=%s: expected %s: %w", name, text, strings.Join(types, " or "), err)
		}
		b.Set(name, v)
	}
	return b.Value(), nil
}

// readAs reads text as one of some JSON types. A string is the text itself; so
// is what is not JSON, where a string is possible. Where no type is known, what
// is JSON is read as JSON.
func readAs(types []string, text string) (value.Value, error) {
	if len(types) == 1 && types[0] == "string" {
		return value.FromString(text), nil
	}
	v, err := value.ParseStrict(text)
	stringAllowed := len(types) == 0 || slices.Contains(types, "string")
	if err != nil && stringAllowed {
		return value.FromString(text), nil
	}
	if err == nil && len(types) > 0 && stringAllowed && !fits(types, v) {
		return value.FromString(text), nil
	}
	return v, err
}

func fits(types []string, v value.Value) bool {
	return slices.ContainsFunc(types, func(t string) bool {
		switch v.Kind() {
		case value.Number:
			return t == "number" || t == "integer"
		case value.Bool:
			return t == "boolean"
		}
		return t == v.Kind().String()
	})
}
