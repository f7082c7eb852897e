package mcpgraph

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Redact takes secrets out of a text that is to be shown or kept: the values that
// came into the file from the environment, the tokens that were got for its
// servers, and where ctx is that of a call, as hooks have it, what was carried to
// servers for the caller. Log records, errors, spans and kept runs have none
// anyway.
func (e *Engine) Redact(ctx context.Context, text string) string {
	for _, p := range e.alive() {
		text = p.clean(ctx, text)
	}
	return text
}

// RedactValue is Redact for every string in v, keys included. A number with a
// secret in its digits becomes a string.
func (e *Engine) RedactValue(ctx context.Context, v value.Value) value.Value {
	for _, p := range e.alive() {
		if f := p.redactor(ctx); f != nil && !v.IsUndefined() {
			v = v.Rewritten(f)
		}
	}
	return v
}

// clean is Redact for the secrets of one program.
func (p *program) clean(ctx context.Context, text string) string {
	if f := p.redactor(ctx); f != nil {
		return f(text)
	}
	return text
}

// redactor returns what takes secrets out of texts, nil where there are none.
func (p *program) redactor(ctx context.Context) func(string) string {
	if p.upstreams.pool == nil {
		return p.redact
	}
	return p.upstreams.pool.Redactor(ctx)
}

// noting returns a context whose calls note what they carry for their caller.
func (p *program) noting(ctx context.Context) context.Context {
	if p.upstreams.pool == nil {
		return ctx
	}
	return p.upstreams.pool.NoteSecrets(ctx)
}

// redacted is err, or where its text has a secret an error that hides it. What
// errors.As finds beneath is as it was.
func (p *program) redacted(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	clean := p.clean(ctx, text)
	if clean == text {
		return err
	}
	if node, ok := err.(*executor.NodeError); ok {
		own := *node
		own.Err = &redactedError{p.clean(ctx, node.Err.Error()), node.Err}
		if !own.Arguments.IsUndefined() {
			own.Arguments = own.Arguments.Rewritten(p.redactor(ctx))
		}
		return &own
	}
	return &redactedError{clean, err}
}

type redactedError struct {
	text string
	err  error
}

// Error returns the text without secrets.
func (e *redactedError) Error() string { return e.text }

// Unwrap returns the error as it was.
func (e *redactedError) Unwrap() error { return e.err }

// secretsOf returns the values that came into the file from the environment.
func secretsOf(file *config.File) []string {
	secrets := file.Server.Secrets
	for _, u := range file.Upstreams {
		secrets = append(secrets[:len(secrets):len(secrets)], u.Secrets...)
	}
	return secrets
}
