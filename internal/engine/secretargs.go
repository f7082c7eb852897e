package engine

import (
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of the secrets among the arguments of a call. A secret that is not within them is
// redacted in its own place alone.
const (
	minSecretArgument  = 8        // bytes; shorter ones may be words of other texts
	maxSecretArgument  = 16 << 10 // bytes; all that the run says is searched for it
	maxSecretArguments = 32
	maxSecretMembers   = 10_000   // of the arguments that are looked at
	maxSecretSchemas   = 64       // that apply to one argument
	maxShortArguments  = 64 << 10 // bytes; of longer ones of an upstream tool, only the first level is looked at
)

// redactedText stands in the place of an argument that holds a secret.
const redactedText = "[redacted]"

// secretSchemas returns the input schema of each tool that declares arguments as secrets
// with writeOnly or the format password.
func secretSchemas(graphs []*graph.Graph) map[*graph.Graph]value.Value {
	found := map[*graph.Graph]value.Value{}
	for _, g := range graphs {
		if g.Input == nil {
			continue
		}
		if raw := g.Input.Raw(); declaresSecrets(raw) {
			if schema, err := value.Parse(raw); err == nil {
				found[g] = schema
			}
		}
	}
	return found
}

// noteArguments lets what is written of a call with these arguments be without the secrets
// among them: arguments with the name of a secret, and those that the tool declares as
// secrets, and those that are known beside them.
func (p *Program) noteArguments(info *callinfo.Info, g *graph.Graph, args value.Value, known []string) {
	w := &secretWalk{root: p.secretSchemas[g], levels: maxSecretMembers}
	w.arguments(args)
	info.SecretArguments = slices.Concat(w.found, known)
	p.learnArguments(info)
}

// learnArguments lets what is written of a call be without info.SecretArguments.
func (p *Program) learnArguments(info *callinfo.Info) {
	unknown := slices.DeleteFunc(slices.Clone(info.SecretArguments), func(s string) bool { return info.Secrets != nil && info.Secrets.Text(s) != s })
	switch pool := p.upstreams.pool; {
	case len(unknown) == 0:
	case pool != nil:
		pool.AddSecrets(info, unknown)
	default:
		info.Secrets = upstream.NewSecrets(slices.Concat(secretsOf(p.set.File), unknown))
	}
}

// SecretArguments returns the values among arguments that are secrets: of a tool of the
// file if server is empty, else those that the schema of an upstream tool declares, if it
// is known. info may be nil.
func (p *Program) SecretArguments(info *callinfo.Info, server, tool string, args value.Value) []string {
	if server != "" {
		if pool := p.upstreams.pool; pool != nil {
			if in := pool.Input(info, server, tool); in != nil {
				return in.Secrets(args)
			}
		}
		return nil
	}
	w := &secretWalk{levels: maxSecretMembers}
	if g, err := p.Graph(tool); err == nil {
		w.root = p.secretSchemas[g]
	}
	w.arguments(args)
	return w.found
}

// masking lets errors and questions of a run show no secrets among arguments.
func (p *Program) masking(run *executor.Run) *executor.Run {
	run.Mask(p.MaskArguments)
	return run
}

// MaskArguments returns arguments without the secrets among them, whatever their length:
// those of a tool of the file if server is empty, else of an upstream tool. A secret is
// what has the name of one, or is one by the schema of the tool, if that is known. It is
// an [executor.MaskFunc].
func (p *Program) MaskArguments(server, tool string, args value.Value) value.Value {
	w := &secretWalk{levels: maxSecretMembers}
	if g, err := p.Graph(tool); server == "" && err == nil {
		w.root = p.secretSchemas[g]
		return w.arguments(args)
	}
	if pool := p.upstreams.pool; pool != nil && server != "" {
		if in, ok := pool.Input(nil, server, tool).(*toolInput); ok {
			w.root = in.secretSchema()
		}
	}
	if args.LongerThan(maxShortArguments) {
		w.levels = 1
	}
	return w.arguments(args)
}

// secretWalk looks for the secrets among arguments.
type secretWalk struct {
	root    value.Value // the schema; undefined if it declares no secrets
	found   []string
	levels  int // of objects and arrays
	visited int
}

func (w *secretWalk) arguments(args value.Value) value.Value {
	if args.Kind() != value.Object {
		return args
	}
	var schemas []value.Value
	if !w.root.IsUndefined() {
		schemas = w.expanded(nil, w.root, 0)
	}
	return w.masked(schemas, args, false, 0)
}

// masked returns v without its secrets. secret is set if v is one as a whole.
func (w *secretWalk) masked(schemas []value.Value, v value.Value, secret bool, level int) value.Value {
	if w.visited++; w.visited > maxSecretMembers {
		return v
	}
	switch v.Kind() {
	case value.Object:
		if level >= w.levels {
			return v
		}
		var changed []value.Entry
		for i, e := range v.Entries() {
			inner := w.members(schemas, e.Key)
			clean := w.masked(inner, e.Value, secret || config.NamesSecret(e.Key) || slices.ContainsFunc(inner, declaresSecret), level+1)
			if changed == nil && !value.Same(clean, e.Value) {
				changed = slices.Clone(v.Entries())
			}
			if changed != nil {
				changed[i].Value = clean
			}
		}
		if changed != nil {
			return value.FromEntries(changed)
		}
	case value.Array:
		if level >= w.levels {
			return v
		}
		inner := w.elements(schemas)
		secret = secret || slices.ContainsFunc(inner, declaresSecret)
		var changed []value.Value
		for i, e := range v.Elems() {
			clean := w.masked(inner, e, secret, level+1)
			if changed == nil && !value.Same(clean, e) {
				changed = slices.Clone(v.Elems())
			}
			if changed != nil {
				changed[i] = clean
			}
		}
		if changed != nil {
			return value.FromArray(changed)
		}
	case value.String, value.Number:
		if !secret {
			return v
		}
		text := v.Str()
		if v.Kind() == value.Number {
			text = v.JSON()
		}
		if len(text) >= minSecretArgument && len(text) <= maxSecretArgument && len(w.found) < maxSecretArguments {
			w.found = append(w.found, strings.Clone(text)) // not a part of the message of the client
		}
		return value.FromString(redactedText)
	}
	return v
}

// declaresSecret reports whether a schema says that its value is a secret (JSON Schema
// 2020-12, Validation, 9.4; OpenAPI 3.1, Format Registry).
func declaresSecret(schema value.Value) bool {
	return schema.Get("writeOnly").Bool() || schema.Get("format").Str() == "password"
}

// members returns the schemas of a member of an object.
func (w *secretWalk) members(schemas []value.Value, key string) (inner []value.Value) {
	for _, s := range schemas {
		if named := s.Get("properties").Get(key); named.Kind() == value.Object {
			inner = w.expanded(inner, named, 0)
		} else if others := s.Get("additionalProperties"); others.Kind() == value.Object {
			inner = w.expanded(inner, others, 0)
		}
	}
	return inner
}

// elements returns the schemas of the elements of a list.
func (w *secretWalk) elements(schemas []value.Value) (inner []value.Value) {
	for _, s := range schemas {
		if items := s.Get("items"); items.Kind() == value.Object {
			inner = w.expanded(inner, items, 0)
		}
		for _, one := range s.Get("prefixItems").Elems() {
			inner = w.expanded(inner, one, 0)
		}
	}
	return inner
}

// expanded adds a schema to a list, and those that apply to the same value.
func (w *secretWalk) expanded(all []value.Value, schema value.Value, depth int) []value.Value {
	if len(all) >= maxSecretSchemas || depth > maxSecretSchemas || schema.Kind() != value.Object {
		return all
	}
	all = append(all, schema)
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		for _, one := range schema.Get(keyword).Elems() {
			all = w.expanded(all, one, depth+1)
		}
	}
	for _, keyword := range []string{"if", "then", "else"} {
		all = w.expanded(all, schema.Get(keyword), depth+1)
	}
	if path, ok := strings.CutPrefix(schema.Get("$ref").Str(), "#/"); ok {
		to := w.root
		for part := range strings.SplitSeq(path, "/") {
			to = to.Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
		}
		all = w.expanded(all, to, depth+1)
	}
	return all
}
