package serving

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/pkg/config"
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
	d := &server.Dynamic{Completes: true}
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

// prompt returns the prompt with this name for clients; nil if none passes.
func (t *passing) prompt(_ *server.Request, name string) *server.Prompt {
	for _, e := range t.entries {
		own, ok := strings.CutPrefix(name, e.Prefix)
		if !ok || !e.AllowsPrompt(own) {
			continue
		}
		return &server.Prompt{
			Name: name,
			Get: t.logged(func(ctx context.Context, r *server.Request) (value.Value, error) {
				t.program.NoteSecrets(&r.Info)
				v, err := t.pool.GetPrompt(ctx, &r.Info, e.Server, own, r.Args)
				if err != nil {
					return value.Undef, t.failure(r, err)
				}
				b := value.NewBuilder(2)
				if d := v.Get("description"); d.Kind() == value.String {
					b.Set("description", d)
				}
				b.Set("messages", v.Get("messages"))
				return b.Value(), nil
			}),
			Complete: t.completer(e.Server, "ref/prompt", "name", own),
		}
	}
	return nil
}

// resource returns the resource at a URI, or the template with this text; nil if none
// passes.
func (t *passing) resource(_ *server.Request, uri string) *server.Resource {
	for _, e := range t.entries {
		if !e.AllowsResource(uri) {
			continue
		}
		return &server.Resource{
			URI: uri, Name: e.Prefix + e.Server,
			Read: t.logged(func(ctx context.Context, r *server.Request) (value.Value, error) {
				t.program.NoteSecrets(&r.Info)
				v, err := t.pool.ReadResource(ctx, &r.Info, e.Server, r.URI)
				if err != nil {
					return value.Undef, t.failure(r, err)
				}
				return v.Get("contents"), nil
			}),
			Subscribe: func(ctx context.Context, r *server.Request, updated func()) (stop func(), err error) {
				t.program.NoteSecrets(&r.Info)
				stop, err = t.pool.Subscribe(ctx, &r.Info, e.Server, r.URI, updated)
				if err != nil {
					return nil, t.failure(r, err)
				}
				return stop, nil
			},
			Complete: t.completer(e.Server, "ref/resource", "uri", uri),
		}
	}
	return nil
}

// completer returns what asks the server to complete arguments.
func (t *passing) completer(from, kind, key, name string) server.CompleteFunc {
	return func(ctx context.Context, r *server.Request, argument, typed string, known value.Value) (server.Completion, error) {
		t.program.NoteSecrets(&r.Info)
		r.Trace = traceOf(r)
		params := object(map[string]any{
			"ref": map[string]any{"type": kind, key: name}, "argument": map[string]any{"name": argument, "value": typed},
			"context": map[string]any{"arguments": known},
		})
		v, err := t.pool.Complete(ctx, &r.Info, from, params)
		if err != nil {
			return server.Completion{}, t.failure(r, err)
		}
		found := v.Get("completion")
		c := server.Completion{Total: int(min(max(found.Get("total").Float(), 0), 1<<31)), More: found.Get("hasMore").Bool()}
		for _, e := range found.Get("values").Elems() {
			if e.Kind() == value.String {
				c.Values = append(c.Values, e.Str())
			}
		}
		return c, nil
	}
}

// Codes with which servers answer requests for what they do not have (MCP, Resources
// and Prompts, Error Handling).
const (
	codeNotFound      = -32002
	codeInvalidParams = -32602
)

// failure returns the error of a request to a server as clients get it.
func (t *passing) failure(r *server.Request, err error) error {
	text := t.program.Redact(&r.Info, err.Error())
	answered := (*upstream.RPCError)(nil)
	if errors.As(err, &answered) {
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
	return &server.CallError{Failure: t.program.Failure(&r.Info, err), Err: errors.New(text)}
}
