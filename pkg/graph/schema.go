package graph

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Schema is a compiled JSON Schema, by default of draft 2020-12; "$schema"
// chooses another. It is immutable and safe for concurrent use.
type Schema struct {
	raw      string
	compiled *jsonschema.Schema
	quick    *quick
	src      *config.Node
}

// Raw gives the schema as compact JSON, its keys in the order of the file.
func (s *Schema) Raw() string { return s.raw }

// IsObject reports whether the schema itself says that a value must be an
// object: its "type" is "object" and nothing else.
func (s *Schema) IsObject() bool {
	return s.src.Get("type").Value().Str() == "object"
}

// Validate checks a value. The error is a *SchemaError with everything that is
// wrong.
func (s *Schema) Validate(v value.Value) error {
	if s.quick != nil && s.quick.accepts(v) {
		return nil
	}
	err := s.compiled.Validate(v.Any())
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return &SchemaError{Problems: []SchemaProblem{{Expected: err.Error(), Found: Describe(v)}}}
	}
	return &SchemaError{Problems: problemsOf(invalid, v)}
}

// schemaBase is what relative references in a schema are relative to. It only
// names the document: nothing is ever loaded.
const schemaBase = "mcpgraph:///schema"

// closedLoader keeps references inside the document.
type closedLoader struct{}

var errOutside = errors.New("only references inside the schema are followed")

func (closedLoader) Load(string) (any, error) { return nil, errOutside }

// schema compiles what is written at src, which what names; nil where there is
// none.
func (b *builder) schema(src *config.Node, what string) *Schema {
	if src == nil {
		return nil
	}
	v := src.Value()
	if v.Kind() != value.Object && v.Kind() != value.Bool {
		b.report(src.Expected(what, "a JSON Schema: a map or a boolean"))
		return nil
	}
	doc := v.Any()
	compiled, err := compileSchema(doc)
	if err == nil {
		s := &Schema{raw: v.JSON(), compiled: compiled, quick: newQuick(v), src: src}
		b.defaults(s, what)
		return s
	}
	for _, w := range wrongParts(src, err) {
		n := src
		if at := follow(src, w.path); at != nil {
			n = at
		}
		b.report(n.Problem(diag.CodeSchema, fmt.Sprintf("%s does not compile: %s", what, w.message)))
	}
	return nil
}

func compileSchema(doc any) (compiled *jsonschema.Schema, err error) {
	// What the library does not foresee is still only a schema that is wrong.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it is not understood: %v", p)
		}
	}()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(closedLoader{})
	c.UseRegexpEngine(compilePattern)
	if err := c.AddResource(schemaBase, doc); err != nil {
		return nil, err
	}
	return c.Compile(schemaBase)
}

// wrongPart is one reason why a schema does not compile.
type wrongPart struct {
	path    []string
	message string
}

// wrongParts says what is wrong with a schema, and where, as exactly as the
// error has it.
func wrongParts(src *config.Node, err error) []wrongPart {
	var (
		invalid *jsonschema.SchemaValidationError
		details *jsonschema.ValidationError
		regex   *jsonschema.InvalidRegexError
		load    *jsonschema.LoadURLError
		pointer *jsonschema.JSONPointerNotFoundError
		anchor  *jsonschema.AnchorNotFoundError
	)
	switch {
	case errors.As(err, &invalid) && errors.As(invalid.Err, &details):
		base := fragment(invalid.URL)
		var parts []wrongPart
		for _, p := range problemsOf(details, src.Value()) {
			tokens := append(append([]string(nil), base...), p.tokens...)
			parts = append(parts, wrongPart{tokens, strings.TrimPrefix(p.sentence(strings.Join(tokens, "/")), " ")})
		}
		return parts
	case errors.As(err, &regex):
		return []wrongPart{{fragment(regex.URL), fmt.Sprintf("%q is not a regular expression: %v", regex.Regex, regex.Err)}}
	case errors.As(err, &load):
		return []wrongPart{{findReference(src, load.URL), fmt.Sprintf("%q is not in the schema; %v", load.URL, errOutside)}}
	case errors.As(err, &pointer):
		return []wrongPart{{findReference(src, pointer.URL), fmt.Sprintf("there is nothing at %q", "#"+after(pointer.URL))}}
	case errors.As(err, &anchor):
		return []wrongPart{{findReference(src, anchor.Reference), fmt.Sprintf("there is nothing at %q", "#"+after(anchor.Reference))}}
	}
	return []wrongPart{{nil, strings.ReplaceAll(err.Error(), schemaBase, "")}}
}

func after(u string) string {
	_, frag, _ := strings.Cut(u, "#")
	return frag
}

// fragment gives the steps of the JSON Pointer (RFC 6901) in a URL's fragment.
func fragment(u string) []string {
	frag := after(u)
	if un, err := url.PathUnescape(frag); err == nil {
		frag = un
	}
	if !strings.HasPrefix(frag, "/") {
		return nil
	}
	steps := strings.Split(frag[1:], "/")
	for i, s := range steps {
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
	}
	return steps
}

// follow walks along the steps of a JSON Pointer.
func follow(n *config.Node, path []string) *config.Node {
	for _, step := range path {
		if n.Kind() != config.List {
			n = n.Get(step)
			continue
		}
		var i int
		if _, err := fmt.Sscanf(step, "%d", &i); err != nil {
			return nil
		}
		n = n.At(i)
	}
	return n
}

// findReference finds where a schema refers to u. References are written
// relative to the schema's own address or whole.
func findReference(n *config.Node, u string) []string {
	for _, f := range n.Fields() {
		key := f.Key.String()
		if key == "$ref" || key == "$dynamicRef" || key == "$schema" {
			if s := f.Value.Value().Str(); s != "" && (s == u || strings.HasSuffix(u, s)) {
				return []string{key}
			}
		}
		if path := findReference(f.Value, u); path != nil {
			return append([]string{key}, path...)
		}
	}
	for i, item := range n.Items() {
		if path := findReference(item, u); path != nil {
			return append([]string{fmt.Sprint(i)}, path...)
		}
	}
	return nil
}
