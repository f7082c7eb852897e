package upstream

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// clean returns what takes out the secrets of the server and of one call: what it sent
// for its caller, and the secrets among its arguments. Sessions do not know those of
// other calls.
func (s *faults) clean(ctx context.Context, call *credential.Call) func(string) string {
	info := infoOf(ctx)
	r := s.redact.With(slices.Concat(call.Secrets, info.SecretArguments))
	if info.Secrets == nil {
		return r.Text
	}
	return func(text string) string { return info.Secrets.Text(r.Text(text)) }
}

// cleanError returns err without the secrets of the call.
func (s *faults) cleanError(ctx context.Context, err error, call *credential.Call) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	clean := s.clean(ctx, call)
	edited := *e
	edited.Message, edited.Hint = clean(e.Message), clean(e.Hint)
	if e.Err != nil {
		if text := e.Err.Error(); clean(text) != text {
			edited.Err = errors.New(clean(text))
		}
	}
	edited.Stderr = make([]string, len(e.Stderr))
	for i, line := range e.Stderr {
		edited.Stderr[i] = clean(line)
	}
	return &edited
}

// cleanReply returns a tool's result without secrets if it is an error, which ends
// up in error texts. Other results belong to the caller, and stay as they are.
func (s *faults) cleanReply(ctx context.Context, reply value.Value, call *credential.Call) value.Value {
	if !reply.Get("isError").Bool() {
		return reply
	}
	return reply.Rewritten(s.clean(ctx, call))
}

// Bounds of what a server says of itself and of what it lists, in bytes.
const (
	maxName         = 256 // of its name, version and title
	maxInstructions = 16 << 10
	maxListedName   = 1 << 10 // of the name or URI of a tool, prompt or resource
	maxListedSize   = 1 << 20 // of one of them, with its schemas
)

// redactor returns what takes out the server's secrets and those that the session carries.
func (s *session) redactor() *redact.Redactor { return s.link.PeerLog().Redact }

// said returns a text of the server's without secrets, cut at most bytes.
func (s *session) said(text string, most int) string {
	if text = s.redactor().Text(text); len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// withoutHuge returns a list without what is too long to be kept and shown.
func (s *session) withoutHuge(l listing, all []value.Value) []value.Value {
	return slices.DeleteFunc(all, func(item value.Value) bool {
		huge := item.LongerThan(maxListedSize) || slices.ContainsFunc(identifiers, func(key string) bool { return item.Get(key).LongerThan(maxListedName) })
		if huge {
			s.server.log.Warn("something that the server lists is left out: it is too long", "list", l.member,
				"starts", s.redactor().Text(item.Preview(redact.MaxQuoted)), "bytes", item.TextSize())
		}
		return huge
	})
}

// identifiers are the members of what servers list by which it is asked for.
var identifiers = []string{"name", "uri", "uriTemplate"}

// redactListed returns a list without secrets.
func (s *session) redactListed(all []value.Value) []value.Value {
	for i, item := range all {
		all[i] = redactListed(s.redactor(), item)
	}
	return all
}

// redactListed returns a tool, prompt or resource as a server lists it, without secrets.
// Its identifiers stay as they are: it could not be called otherwise.
func redactListed(r *redact.Redactor, item value.Value) value.Value {
	found := false
	item.Rewritten(func(text string) string {
		clean := r.Text(text)
		found = found || clean != text
		return clean
	})
	if !found {
		return item
	}
	b := value.NewBuilder(item.Len())
	for _, e := range item.Entries() {
		if !slices.Contains(identifiers, e.Key) {
			e = redactMember(r, e)
		}
		b.Set(e.Key, e.Value)
	}
	return b.Value()
}

// matchedMembers are the members of schemas whose strings are compared with arguments, or
// name something else in the schema. So do the keys of objects.
var matchedMembers = []string{
	"type", "format", "pattern", "required", "enum", "const", "dependentRequired", "contentMediaType", "contentEncoding",
	"$schema", "$id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor",
}

// redactMember takes the secrets out of a member of an object.
func redactMember(r *redact.Redactor, e value.Entry) value.Entry {
	if slices.Contains(matchedMembers, e.Key) {
		return value.Entry{Key: e.Key, Value: e.Value.MapText(r.Word)}
	}
	return value.Entry{Key: r.Word(e.Key), Value: redactSchema(r, e.Value)}
}

// redactSchema takes the secrets out of a schema or of a part of it.
func redactSchema(r *redact.Redactor, v value.Value) value.Value {
	switch v.Kind() {
	case value.Array:
		elems := slices.Clone(v.Elems())
		for i, e := range elems {
			elems[i] = redactSchema(r, e)
		}
		return value.FromArray(elems)
	case value.Object:
		b := value.NewBuilder(v.Len())
		for _, e := range v.Entries() {
			e = redactMember(r, e)
			b.Set(e.Key, e.Value)
		}
		return b.Value()
	}
	return v.MapText(r.Text)
}
