package serving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// passing is what passes from upstream servers to clients as it is.
type passing struct {
	*Servers
	program *engine.Program
	pool    *upstream.Pool
	entries []config.Passthrough
	down    downLog
}

// passthrough returns what of upstream servers a program lets pass; nil if nothing.
func (s *Servers) passthrough(p *engine.Program) *server.Dynamic {
	t := &passing{Servers: s, program: p, pool: p.Pool(), entries: p.Set().File.Passthrough}
	if t.pool == nil || len(t.entries) == 0 {
		return nil
	}
	d := &server.Dynamic{Completes: true, Identity: func(r *server.Request) string { return t.pool.Identity(&r.Info) }}
	for _, e := range t.entries {
		d.Version += fmt.Sprintf("%q %q %q %q;", e.Server, e.Prefix, e.Prompts, e.Resources)
		if len(e.Prompts) > 0 {
			d.Prompts, d.Prompt = t.listPrompts, t.prompt
		}
		if len(e.Resources) > 0 {
			d.Resources, d.Templates, d.Resource, d.Subscribes = t.listResources, t.listTemplates, t.resource, true
		}
	}
	return d
}

// source is a server that may have what a client asks for, and its name there.
type source struct{ server, name string }

// prompt returns the prompt with this name for clients; nil if none passes.
func (t *passing) prompt(_ *server.Request, name string) *server.Prompt {
	var from []source
	for _, e := range t.entries {
		if own, ok := strings.CutPrefix(name, e.Prefix); ok && e.AllowsPrompt(own) {
			from = append(from, source{e.Server, own})
		}
	}
	if len(from) == 0 {
		return nil
	}
	return &server.Prompt{
		Name: name,
		Get: t.logged(func(ctx context.Context, r *server.Request) (value.Value, error) {
			v, err := first(t, r, from, func(s source) (value.Value, error) {
				return t.pool.GetPrompt(ctx, &r.Info, s.server, s.name, r.Args)
			})
			b := value.NewBuilder(2)
			if d := v.Get("description"); d.Kind() == value.String {
				b.Set("description", d)
			}
			b.Set("messages", v.Get("messages"))
			return b.Value(), err
		}),
		Complete: t.completer(from, "ref/prompt", "name"),
	}
}

// resource returns the resource at a URI, or the template with this text; nil if none
// passes.
func (t *passing) resource(_ *server.Request, uri string) *server.Resource {
	var from []source
	name := ""
	for _, e := range t.entries {
		if e.AllowsResource(uri) {
			from = append(from, source{e.Server, uri})
			name = cmp.Or(name, e.Server)
		}
	}
	if len(from) == 0 {
		return nil
	}
	return &server.Resource{
		URI: uri, Name: name,
		Read: t.logged(func(ctx context.Context, r *server.Request) (value.Value, error) {
			return first(t, r, from, func(s source) (value.Value, error) {
				v, err := t.pool.ReadResource(ctx, &r.Info, s.server, r.URI)
				if err == nil {
					err = t.asked(s.server, r.URI, v.Get("contents"))
				}
				return v.Get("contents"), err
			})
		}),
		Subscribe: func(ctx context.Context, r *server.Request, updated func()) (stop func(), err error) {
			return first(t, r, from, func(s source) (func(), error) { return t.pool.Subscribe(ctx, &r.Info, s.server, r.URI, updated) })
		},
		Complete: t.completer(from, "ref/resource", "uri"),
	}
}

// asked returns an error if contents are of another resource than the one that was asked
// for: what passes would then be what the server says. Of a folder, a server may return
// what is below it and passes.
func (t *passing) asked(from, uri string, contents value.Value) error {
	for _, one := range contents.Elems() {
		got := one.Get("uri")
		if got.Kind() == value.String && config.SameResource(uri, got.Str()) {
			continue
		}
		below := strings.HasPrefix(got.Str(), strings.TrimSuffix(uri, "/")+"/")
		if !below || !slices.ContainsFunc(t.entries, func(e config.Passthrough) bool { return e.Server == from && e.AllowsResource(got.Str()) }) {
			return &graph.Failure{
				Name: graph.FailMalformed, Server: from, Message: fmt.Sprintf("the server returned contents of %.200q instead of %.200q", got.Str(), uri),
			}
		}
	}
	return nil
}

// completer returns what asks servers to complete arguments.
func (t *passing) completer(from []source, kind, key string) server.CompleteFunc {
	return func(ctx context.Context, r *server.Request, argument, typed string, known value.Value) (server.Completion, error) {
		r.Trace = traceOf(r)
		v, err := first(t, r, from, func(s source) (value.Value, error) {
			return t.pool.Complete(ctx, &r.Info, s.server, object(map[string]any{
				"ref": map[string]any{"type": kind, key: s.name}, "argument": map[string]any{"name": argument, "value": typed},
				"context": map[string]any{"arguments": known},
			}))
		})
		found := v.Get("completion")
		c := server.Completion{Total: int(min(max(found.Get("total").Float(), 0), 1<<31)), More: found.Get("hasMore").Bool()}
		for _, e := range found.Get("values").Elems() {
			if e.Kind() == value.String {
				c.Values = append(c.Values, e.Str())
			}
		}
		return c, err
	}
}

// first returns what the first server gives that has something. Names and URIs do not
// say which server that is if several may have them. If none has it, the error is that
// of the first, as clients get it.
func first[T any](t *passing, r *server.Request, from []source, ask func(source) (T, error)) (v T, err error) {
	t.program.NoteSecrets(&r.Info)
	for i, s := range from {
		found, failed := ask(s)
		if failed == nil {
			return found, nil
		}
		if i == 0 {
			err = t.failure(r, failed)
		}
	}
	return v, err
}

// Codes with which servers answer requests for what they do not have (MCP, Resources
// and Prompts, Error Handling).
const (
	codeNotFound      = -32002
	codeInvalidParams = -32602
)

// failure returns the error of a request to a server as clients get it.
func (t *passing) failure(r *server.Request, err error) error {
	answered := (*upstream.RPCError)(nil)
	if errors.As(err, &answered) {
		text := answered.Message
		if r.Header == nil || t.opts.ErrorDetails {
			text = err.Error()
		}
		text = t.program.Redact(&r.Info, text)
		switch answered.Code {
		case codeNotFound:
			return fmt.Errorf("%s: %w", text, server.ErrNotFound)
		case codeInvalidParams:
			if r.URI != "" { // the code since revision 2026-07-28
				return fmt.Errorf("%s: %w", text, server.ErrNotFound)
			}
			return &server.InvalidParamsError{Message: text}
		}
	}
	return t.failed(t.program, &r.Info, &publicError{t.program.Redact(&r.Info, err.Error()), err})
}
