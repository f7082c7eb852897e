package ui

import (
	"context"
	"errors"
	"net/http"

	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// scopeAt returns what expressions see: those of the execution that a record is about, the
// next one of a walk under way or, without both, where the run is paused, else its end.
func scopeAt(p *Page, s *subject, rec *int, frame *string) (executor.Scope, error) {
	switch {
	case s.history == nil:
		return executor.Scope{}, refused("no_history", "%v", errNoHistory)
	case s.run == nil:
		return executor.Scope{}, errNoGraph
	}
	switch {
	case rec != nil:
		if at, ok := s.run.ScopeAt(*rec); ok {
			return at, nil
		}
		return executor.Scope{}, notFound("the run has no record %d (any more)", *rec)
	case frame != nil && *frame != "":
		if at, ok := s.run.FrameScope(*frame); ok {
			return at, nil
		}
		return executor.Scope{}, notFound("the walk %q is not under way", *frame)
	}
	if session := p.sessions.get(s.id); session != nil {
		return session.Here(), nil
	}
	return s.run.EndScope(), nil
}

// scopeOf is scope for a request that may name a record.
func scopeOf(p *Page, s *subject, r *http.Request) (executor.Scope, error) {
	var index *int
	if r.URL.Query().Has("record") {
		n, err := number(r, "record", 0)
		if err != nil {
			return executor.Scope{}, err
		}
		index = &n
	}
	frame := r.URL.Query().Get("frame")
	return scopeAt(p, s, index, &frame)
}

func getDocument(p *Page, w http.ResponseWriter, r *http.Request) error {
	s, err := p.subject(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	at, err := scopeOf(p, s, r)
	if err != nil {
		return err
	}
	respond(w, map[string]value.Value{
		"document": s.shower.members(at.Document()), "variables": s.shower.members(variables(at)),
	})
	return nil
}

// variables returns the variables of a scope as an object.
func variables(at executor.Scope) value.Value {
	b := value.NewBuilder(4)
	for _, v := range at.Variables() {
		b.Set(v.Key, v.Value)
	}
	return b.Value()
}

// evaluate evaluates an expression where a run is or was. It changes nothing.
func evaluate(p *Page, w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Expression string  `json:"expression"`
		Record     *int    `json:"record"`
		Frame      *string `json:"frame"`
	}
	if err := decode(w, r, maxCommand, &body); err != nil {
		return err
	}
	s, err := p.subject(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	at, err := scopeAt(p, s, body.Record, body.Frame)
	if err != nil {
		return err
	}
	env := debug.Environment{
		Redactor: func() func(string) string { return s.shower.redact },
		Account: func(ctx context.Context) (context.Context, func()) {
			own := p.opts.Memory.Account("")
			ctx, cancel := memory.WithAccount(ctx, own)
			return ctx, func() { cancel(); own.Close() }
		},
	}
	v, err := env.Eval(r.Context(), at, body.Expression)
	var failed *expr.Error
	switch {
	case errors.As(err, &failed):
		out := &apiError{Status: http.StatusUnprocessableEntity, Code: "bad_expression", Message: s.shower.text(failed.Message)}
		if failed.Code != "" {
			out.Message += " (" + failed.Code + ")"
		}
		if failed.Hint != "" {
			out.Message += "; " + s.shower.text(failed.Hint)
		}
		if failed.Offset >= 0 {
			u := newUnits(body.Expression)
			out.At = &span{u.count(failed.Offset), u.count(max(failed.Offset, failed.End))}
		}
		return out
	case err != nil:
		return &apiError{Status: http.StatusUnprocessableEntity, Code: "bad_expression", Message: s.shower.text(err.Error())}
	}
	answer := map[string]any{}
	if !v.IsUndefined() {
		answer["value"] = bounded(v, 0, defaultItems)
	}
	respond(w, answer)
	return nil
}
