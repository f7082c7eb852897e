package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpgraph/mcpgraph/internal/draft07"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Form is a form that a person fills in: a JSON Schema of a flat object (MCP
// 2025-11-25, Elicitation, Requested Schema). It is immutable.
type Form struct {
	schema *Schema
	doc    value.Value
}

// Schema returns the JSON Schema, as it was written.
func (f *Form) Schema() value.Value { return f.doc }

// Check returns a *Failure named FailAnswer if what was filled in does not fit, or
// the error of a check that was given up.
func (f *Form) Check(ctx context.Context, content value.Value) error {
	err := f.schema.ValidateContext(ctx, content)
	var wrong *SchemaError
	if errors.As(err, &wrong) {
		return &Failure{Name: FailAnswer, Message: "the answer does not fit the schema of the question: " + wrong.Error()}
	}
	return err
}

// CheckForm is Check for an answer to elicitation/create with these params, which comes from
// somebody who can be asked again. Answers that accept nothing, and params without a schema
// that can be used, fit.
func CheckForm(ctx context.Context, params, answer value.Value) error {
	doc, content := params.Get("requestedSchema"), answer.Get("content")
	if answer.Get("action").Str() != Accept || doc.Kind() != value.Object {
		return nil
	}
	s, err := NewSchema(doc)
	if err != nil {
		return nil
	}
	if content.IsUndefined() || content.IsNull() {
		content = value.ObjectOf()
	}
	return (&Form{s, doc}).Check(ctx, content)
}

// emptyForm asks for consent alone.
var emptyForm = func() *Form {
	doc := value.ObjectOf("type", draft07.Text("object"), "properties", value.ObjectOf())
	return &Form{newSchema(doc, doc.JSON(), nil), doc}
}()

// Form asks for the schema of a form. Without one the person can only accept or
// decline.
func (f *Fields) Form(name, doc string) *Form {
	n := f.setting(config.Setting{Name: name, Doc: doc, Shape: config.ObjectSchemaShape})
	if n == nil {
		return emptyForm
	}
	if n.Kind() != config.Map {
		f.report(n.Expected(f.what(name), "a map: the JSON Schema of an object"))
		return emptyForm
	}
	s := readSchema(f.b.reporter, n, f.what(name))
	if s == nil {
		return emptyForm
	}
	f.flatObject(n, name)
	return &Form{s, n.Value()}
}

// Keywords that a form may have (MCP 2025-11-25, schema: ElicitRequestFormParams,
// PrimitiveSchemaDefinition).
var (
	formKeywords  = []string{"$schema", "type", "properties", "required"}
	fieldKeywords = map[string][]string{
		"string":  {"type", "title", "description", "default", "minLength", "maxLength", "pattern", "format", "enum", "enumNames", "oneOf"},
		"number":  {"type", "title", "description", "default", "minimum", "maximum"},
		"integer": {"type", "title", "description", "default", "minimum", "maximum"},
		"boolean": {"type", "title", "description", "default"},
		"array":   {"type", "title", "description", "default", "minItems", "maxItems", "items"},
	}
	formFormats = []string{"email", "uri", "date", "date-time"}
)

// flatObject reports what clients cannot show as a form.
func (f *Fields) flatObject(n *config.Node, name string) {
	what := f.what(name)
	if t := n.Get("type"); t == nil || t.Text().String() != "object" {
		f.unshown(n, what+" is not of type object", "write type: object and the fields of the form under properties")
		return
	}
	f.onlyKeywords(n, what, formKeywords)
	for _, field := range n.Get("properties").Fields() {
		what := fmt.Sprintf("%q of %s", field.Key.String(), what)
		kind := field.Value.Get("type").Text().String()
		keywords, ok := fieldKeywords[kind]
		if !ok {
			f.unshown(field.Value, what+" is not a string, number, integer, boolean or a list of choices", "forms are flat: use one property for each value")
			continue
		}
		f.onlyKeywords(field.Value, what, keywords)
		if format := field.Value.Get("format"); format != nil && !slices.Contains(formFormats, format.Text().String()) {
			f.unshown(format, what+" has a format that forms do not have", "formats are "+diag.List(formFormats))
		}
		if kind == "array" {
			items := field.Value.Get("items")
			if items == nil || items.Get("enum") == nil && items.Get("anyOf") == nil {
				f.unshown(field.Value, what+" is a list without choices", "write items: {type: string, enum: [...]}")
			}
		}
	}
}

func (f *Fields) onlyKeywords(n *config.Node, what string, allowed []string) {
	for _, field := range n.Fields() {
		if key := field.Key.String(); !slices.Contains(allowed, key) {
			f.unshown(field.Value, fmt.Sprintf("%s has %q, which forms do not have", what, key), "allowed are "+diag.List(allowed))
		}
	}
}

// unshown reports a part of a form that clients do not have to understand.
func (f *Fields) unshown(n *config.Node, message, hint string) {
	d := n.Problem(diag.CodeSchema, message)
	d.Hint = hint
	f.report(d)
}
