package graph

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpgraph/mcpgraph/internal/jsonschema"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Schema is a JSON Schema that is known to compile, by default of draft 2020-12;
// "$schema" chooses another. It is immutable and safe for concurrent use.
type Schema struct {
	raw   string
	quick *quick
	src   *config.Node

	compiling sync.Once
	compiled  *jsonschema.Schema // once library was called, which returns it
	wrong     error
}

// newSchema returns a schema; compiled is nil if it is plain.
func newSchema(doc value.Value, raw string, compiled *jsonschema.Schema) *Schema {
	return &Schema{raw: raw, quick: newQuick(doc), compiled: compiled}
}

// library returns the schema as the library has it. A plain one is compiled now.
func (s *Schema) library() (*jsonschema.Schema, error) {
	s.compiling.Do(func() {
		if s.compiled != nil {
			return
		}
		doc, err := value.Parse(s.raw)
		if err == nil {
			s.compiled, err = compileSchema(doc.Any())
		}
		s.wrong = err
	})
	return s.compiled, s.wrong
}

// NewSchema compiles a schema that is no part of a file, such as that of a tool of
// an upstream server.
func NewSchema(schema value.Value) (*Schema, error) {
	raw := schema.JSON()
	if len(raw) <= maxPlainText && isPlainSchema(schema, 0) {
		return newSchema(schema, raw, nil), nil
	}
	compiled, err := compileValue(schema)
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), schemaBase, ""))
	}
	return newSchema(schema, raw, compiled), nil
}

// Properties returns the names of the properties that a schema of an object lists; none
// for a nil Schema.
func (s *Schema) Properties() []string {
	if s == nil {
		return nil
	}
	var names []string
	for _, e := range s.src.Value().Get("properties").Entries() {
		names = append(names, e.Key)
	}
	return names
}

// Raw returns the schema as compact JSON, its keys in the order of the file.
func (s *Schema) Raw() string { return s.raw }

// Validate checks a value. The error is a *SchemaError with everything that is
// wrong.
func (s *Schema) Validate(v value.Value) error { return s.validate(context.Background(), v) }

// smallCheck is the length up to which what a check takes is not counted.
const smallCheck = 4 << 10

func (s *Schema) validate(ctx context.Context, v value.Value) error {
	if s.quick != nil && s.quick.accepts(v) {
		return nil
	}
	if held := memory.AccountOf(ctx); held != nil && v.LongerThan(smallCheck) {
		n := v.AnySize()
		if err := held.Grow(n); err != nil {
			return err
		}
		defer held.Shrink(n)
	}
	compiled, err := s.library()
	if err == nil {
		err = compiled.Validate(v.Any())
	}
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

var errOutside = errors.New("references to other documents are not supported")

func (closedLoader) Load(string) (any, error) { return nil, errOutside }

// readSchema compiles what is written at src, which what names, or nil if there is
// none.
func readSchema(b *reporter, src *config.Node, what string) *Schema {
	if src == nil {
		return nil
	}
	v := src.Value()
	if v.Kind() != value.Object && v.Kind() != value.Bool {
		b.report(src.Expected(what, "a JSON Schema: a map or a boolean"))
		return nil
	}
	text := v.JSON()
	if b.stopped(schemaBytes + schemaShare*len(text)) {
		return nil
	}
	checkKeywords(b, src, what, true)
	if len(text) <= maxPlainText && isPlainSchema(v, 0) && acceptsItsValues(v) {
		s := newSchema(v, text, nil)
		s.src = src
		return s
	}
	doc := v.Any()
	compiled, err := compileSchema(doc)
	if err == nil {
		s := newSchema(v, text, compiled)
		s.src = src
		checkDefaults(b, s, what)
		return s
	}
	// The library stops at the first bad reference that it comes to, and goes
	// through maps in no order. Without that reference it comes to the next.
	for range maxBadReferences {
		parts := wrongParts(src, doc, err)
		for _, w := range parts {
			n := src
			if at := follow(src, w.path); at != nil {
				n = at
			}
			d := n.Problem(diag.CodeSchema, fmt.Sprintf("%s does not compile: %s", what, w.message))
			d.Hint = shorthand(n, w.path)
			if near, ok := diag.Nearest(n.Text().String(), schemaTypes); ok && d.Hint == "" && len(w.path) > 0 && w.path[len(w.path)-1] == "type" {
				d.Hint = fmt.Sprintf("did you mean %q?", near)
			}
			b.report(d)
		}
		if len(parts) != 1 || !removeReference(doc, parts[0].path) {
			break
		}
		if _, err = compileSchema(doc); err == nil {
			break
		}
	}
	return nil
}

// readInputSchema compiles the schema of a tool's arguments, which are always an
// object (MCP, "Tool": inputSchema.type is "object").
func readInputSchema(b *reporter, src *config.Node, what string) *Schema {
	s := readSchema(b, src, what)
	if src == nil {
		return s
	}
	checkFlatSchema(b, src, what)
	t := src.Get("type")
	allows := t == nil || t.Text().String() == "object"
	for _, one := range t.Items() {
		allows = allows || one.Text().String() == "object"
	}
	if s != nil && !allows {
		d := t.Problem(diag.CodeSchema, what+" matches no call: the arguments of a tool are always an object")
		d.Hint = "write type: object"
		b.report(d)
	}
	return s
}

// checkFlatSchema reports a schema that names arguments in the place of keywords.
func checkFlatSchema(b *reporter, src *config.Node, what string) {
	fields := src.Fields()
	for _, f := range fields {
		names := f.Value.IsString() && slices.Contains(schemaTypes, f.Value.Text().String()) || f.Value.Get("type") != nil || f.Value.Get("description") != nil
		if key := f.Key.String(); config.IsFree(key) || slices.Contains(keywords, key) || !names {
			return
		}
	}
	if len(fields) == 0 {
		return
	}
	d := fields[0].Key.Problem(diag.CodeKeyword, fmt.Sprintf("%s names arguments where JSON Schema has keywords: it describes none", what))
	d.Hint = fmt.Sprintf("write inputSchema: {type: object, properties: {%s: …}}", fields[0].Key.String())
	b.report(d)
}

// maxBadReferences is how many references are looked for that lead nowhere.
const maxBadReferences = 100

// Bounds of schemas. The library keeps the path to each part of a schema, so its
// memory grows with the number of parts times their depth.
const (
	// maxSchemaDepth is how deeply the lists and maps of a schema may be nested.
	maxSchemaDepth = 200
	// maxSchemaPaths is how many bytes the paths to all of its lists and maps may have.
	maxSchemaPaths = 32 << 20
)

// checkSchemaSize returns an error for a schema that is beyond the bounds.
func checkSchemaSize(doc any) error {
	paths := 0
	var walk func(part any, depth, path int) error
	enter := func(depth, path int) error {
		if depth > maxSchemaDepth {
			return fmt.Errorf("it is nested more than %d levels deep", maxSchemaDepth)
		}
		if paths += path; paths > maxSchemaPaths {
			return fmt.Errorf("it is too large: the paths to its parts take more than %d MiB", maxSchemaPaths>>20)
		}
		return nil
	}
	walk = func(part any, depth, path int) error {
		switch part := part.(type) {
		case map[string]any:
			if err := enter(depth, path); err != nil {
				return err
			}
			for key, inner := range part {
				if err := walk(inner, depth+1, path+1+len(key)); err != nil {
					return err
				}
			}
		case []any:
			if err := enter(depth, path); err != nil {
				return err
			}
			for _, inner := range part {
				if err := walk(inner, depth+1, path+2); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return walk(doc, 1, 0)
}

func compileSchema(doc any) (compiled *jsonschema.Schema, err error) {
	if err := checkSchemaSize(doc); err != nil {
		return nil, err
	}
	// What the library does not foresee is still only a schema that is wrong.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the schema cannot be compiled: %v", p)
		}
	}()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(closedLoader{})
	c.UseRegexpEngine(compilePattern)
	if err := c.AddResource(schemaBase, doc); err != nil {
		return nil, err
	}
	if compiled, err = c.Compile(schemaBase); err != nil {
		return nil, err
	}
	if err := checkApplied(compiled); err != nil {
		return nil, err
	}
	return compiled, nil
}

// wrongPart is one reason why a schema does not compile.
type wrongPart struct {
	path    []string
	message string
}

// wrongParts returns what is wrong with a schema, and where, as exactly as the
// error has it.
func wrongParts(src *config.Node, doc any, err error) []wrongPart {
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
			parts = append(parts, wrongPart{tokens, p.sentence(strings.Join(tokens, "/"))})
		}
		return parts
	case errors.As(err, &regex):
		return []wrongPart{{fragment(regex.URL), fmt.Sprintf("%q is not a regular expression: %v", regex.Regex, regex.Err)}}
	case errors.As(err, &load):
		return []wrongPart{{findReference(src, doc, load.URL), fmt.Sprintf("%q is not in the schema; %v", load.URL, errOutside)}}
	case errors.As(err, &pointer):
		return []wrongPart{{findReference(src, doc, pointer.URL), fmt.Sprintf("%q does not exist in the schema", "#"+after(pointer.URL))}}
	case errors.As(err, &anchor):
		return []wrongPart{{findReference(src, doc, anchor.Reference), fmt.Sprintf("%q does not exist in the schema", "#"+after(anchor.Reference))}}
	}
	return []wrongPart{{nil, strings.ReplaceAll(err.Error(), schemaBase, "")}}
}

func after(u string) string {
	_, frag, _ := strings.Cut(u, "#")
	return frag
}

// fragment returns the steps of the JSON Pointer (RFC 6901) in a URL's
// fragment.
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
		i, err := strconv.Atoi(step)
		if err != nil {
			return nil
		}
		n = n.At(i)
	}
	return n
}

// isReference reports whether a keyword names another schema.
func isReference(key string) bool {
	return key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef" || key == "$schema"
}

// findReference finds where a schema refers to u, in the part of it that doc
// still has. References are written whole or relative to the schema's address.
func findReference(n *config.Node, doc any, u string) []string {
	switch doc := doc.(type) {
	case map[string]any:
		for _, f := range n.Fields() {
			key := f.Key.String()
			inner, ok := doc[key]
			if !ok {
				continue
			}
			if s, ok := inner.(string); ok && isReference(key) && s != "" && strings.HasSuffix(u, s) {
				return []string{key}
			}
			if path := findReference(f.Value, inner, u); path != nil {
				return append([]string{key}, path...)
			}
		}
	case []any:
		for i, item := range n.Items() {
			if path := findReference(item, doc[i], u); path != nil {
				return append([]string{strconv.Itoa(i)}, path...)
			}
		}
	}
	return nil
}

// removeReference takes the reference at path out of a schema and reports
// whether there was one.
func removeReference(doc any, path []string) bool {
	if len(path) == 0 || !isReference(path[len(path)-1]) {
		return false
	}
	for len(path) > 1 {
		switch d := doc.(type) {
		case map[string]any:
			doc = d[path[0]]
		case []any:
			i, err := strconv.Atoi(path[0])
			if err != nil || i < 0 || i >= len(d) {
				return false
			}
			doc = d[i]
		default:
			return false
		}
		path = path[1:]
	}
	m, ok := doc.(map[string]any)
	if ok {
		delete(m, path[0])
	}
	return ok
}
