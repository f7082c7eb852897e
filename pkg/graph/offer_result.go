package graph

import (
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Result returns the result of a run as clients get it: of a prompt the members of
// prompts/get, of a resource the contents of resources/read, and of a tool v itself.
// uri is what a client asked for; if it is empty, it is made of args. A result of the
// wrong shape is a *PosError at the exit, around a *Failure of the name FailResult.
func (g *Graph) Result(v, args value.Value, uri string) (value.Value, error) {
	if g.Offer == nil {
		return v, nil
	}
	var err error
	if g.Offer.Kind == PromptOffer {
		v, err = promptResult(v)
	} else {
		if uri == "" {
			uri = g.Offer.expand(args)
		}
		v, err = resourceContents(v, uri, g.Offer.MIMEType)
	}
	if err == nil {
		return v, nil
	}
	failure := &Failure{Name: FailResult, Message: fmt.Sprintf("the result of %s: %v", Quoted(g.Name), err)}
	if g.Exit == nil {
		return value.Undef, failure
	}
	failure.Node = g.Exit.ID
	return value.Undef, &PosError{Pos: g.Exit.Pos, End: g.Exit.End(), Err: failure}
}

// expand returns the URI of a resource with these variables.
func (o *Offer) expand(args value.Value) string {
	if o.Kind != TemplateOffer {
		return o.URI
	}
	t, err := uritemplate.New(o.URI)
	if err != nil {
		return o.URI // reported when the file was read
	}
	vars := uritemplate.Values{}
	for _, e := range args.Entries() {
		switch e.Value.Kind() {
		case value.String:
			vars.Set(e.Key, uritemplate.String(e.Value.Str()))
		case value.Array:
			var list []string
			for _, one := range e.Value.Elems() {
				list = append(list, one.Str())
			}
			vars.Set(e.Key, uritemplate.List(list...))
		}
	}
	uri, err := t.Expand(vars)
	if err != nil {
		return o.URI
	}
	return uri
}

// promptResult returns the members of the result of prompts/get: the messages and,
// if it is given, the description. A text is a message of the user, and so is a
// content block.
func promptResult(v value.Value) (value.Value, error) {
	list, description := v, value.Undef
	if v.Kind() == value.Object && v.Has(messagesField) {
		list, description = v.Get(messagesField), v.Get("description")
		if !description.IsUndefined() && description.Kind() != value.String {
			return v, fmt.Errorf("description must be a string, found %s", Describe(description))
		}
	}
	switch list.Kind() {
	case value.String, value.Object:
		list = value.FromArray([]value.Value{list})
	case value.Array:
	default:
		return v, fmt.Errorf("expected a list of messages, found %s", Describe(list))
	}
	messages := make([]value.Value, 0, list.Len())
	for i, m := range list.Elems() {
		one, err := promptMessageOf(m)
		if err != nil {
			return v, fmt.Errorf("message %d: %w", i+1, err)
		}
		messages = append(messages, one)
	}
	b := value.NewBuilder(2)
	if description.Kind() == value.String {
		b.Set("description", description)
	}
	b.Set(messagesField, value.FromArray(messages))
	return b.Value(), nil
}

// promptMessageOf returns a message as MCP has it.
func promptMessageOf(m value.Value) (value.Value, error) {
	role := value.FromString(config.MessageRoles[0])
	switch {
	case m.Kind() == value.String:
		return messageValue(role, textContent(m)), nil
	case m.Kind() != value.Object:
		return m, fmt.Errorf("expected an object with role and text or content, found %s", Describe(m))
	case m.Has("type") && !m.Has("role"):
		return messageValue(role, m), CheckContent(m)
	}
	if given := m.Get("role"); !given.IsUndefined() {
		if !slices.Contains(config.MessageRoles, given.Str()) || given.Kind() != value.String {
			return m, fmt.Errorf("its role is %s; expected \"user\" or \"assistant\"", Describe(given))
		}
		role = given
	}
	text, content := m.Get("text"), m.Get("content")
	switch {
	case !text.IsUndefined() && !content.IsUndefined():
		return m, fmt.Errorf("it has both text and content")
	case content.IsUndefined():
		content = text
	}
	if content.Kind() == value.String {
		content = textContent(content)
	}
	if content.Kind() != value.Object {
		return m, fmt.Errorf("expected a text or a content block, found %s", Describe(content))
	}
	return messageValue(role, content), CheckContent(content)
}

// contentKeys are the keys of the contents of a resource (MCP 2025-11-25, Resources).
var contentKeys = []string{"uri", "mimeType", "text", "blob", "_meta"}

// resourceContents returns the contents of a resource: a text is one, and so is an
// object with text or blob; any other value is its JSON.
func resourceContents(v value.Value, uri, mimeType string) (value.Value, error) {
	switch {
	case v.IsUndefined(), v.Kind() == value.Func:
		return v, fmt.Errorf("expected a text, JSON or contents, found nothing")
	case isContents(v):
		return one(v, uri, mimeType)
	case v.Kind() == value.Array && v.Len() > 0 && !slices.ContainsFunc(v.Elems(), func(e value.Value) bool { return !isContents(e) }):
		all := make([]value.Value, v.Len())
		for i, e := range v.Elems() {
			c, err := contentsOf(e, uri, mimeType)
			if err != nil {
				return v, fmt.Errorf("contents %d: %w", i+1, err)
			}
			all[i] = c
		}
		return value.FromArray(all), nil
	case v.Kind() == value.String:
		return one(value.FromEntries([]value.Entry{{Key: "text", Value: v}}), uri, mimeType)
	}
	if mimeType == "" {
		mimeType = "application/json"
	}
	return one(value.FromEntries([]value.Entry{{Key: "text", Value: value.FromString(v.JSON())}}), uri, mimeType)
}

func one(v value.Value, uri, mimeType string) (value.Value, error) {
	c, err := contentsOf(v, uri, mimeType)
	return value.FromArray([]value.Value{c}), err
}

// isContents reports whether a value stands for contents: it has text or blob, and
// no other key than contents have.
func isContents(v value.Value) bool {
	if v.Kind() != value.Object || !v.Has("text") && !v.Has("blob") {
		return false
	}
	for _, e := range v.Entries() {
		if !slices.Contains(contentKeys, e.Key) {
			return false
		}
	}
	return true
}

// contentsOf returns contents with their URI and MIME type, which they may have
// themselves.
func contentsOf(v value.Value, uri, mimeType string) (value.Value, error) {
	if v.Has("text") && v.Has("blob") {
		return v, fmt.Errorf("they have both text and blob")
	}
	b := value.NewBuilder(4)
	b.Set("uri", value.FromString(uri))
	if mimeType != "" {
		b.Set("mimeType", value.FromString(mimeType))
	}
	for _, e := range v.Entries() {
		switch e.Key {
		case "_meta":
			if e.Value.Kind() != value.Object {
				return v, fmt.Errorf("_meta must be an object, found %s", Describe(e.Value))
			}
		default:
			if e.Value.Kind() != value.String {
				return v, fmt.Errorf("%s must be a string, found %s", e.Key, Describe(e.Value))
			}
		}
		b.Set(e.Key, e.Value)
	}
	if blob := v.Get("blob"); !blob.IsUndefined() {
		if _, err := io.Copy(io.Discard, base64.NewDecoder(base64.StdEncoding, strings.NewReader(blob.Str()))); err != nil {
			return v, fmt.Errorf("blob is not base64: %w", err)
		}
	}
	return b.Value(), nil
}
