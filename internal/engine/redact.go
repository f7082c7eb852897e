package engine

import (
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// RedactValue is Redact for every string in v, keys included. A number with a
// secret in its digits becomes a string.
func (e *Engine) RedactValue(info *callinfo.Info, v value.Value) value.Value {
	for _, p := range e.alive() {
		if f := p.redactor(info); f != nil && !v.IsUndefined() {
			v = v.Rewritten(f)
		}
	}
	return v
}

// Redact is [Engine.Redact] for the secrets of one program.
func (p *Program) Redact(info *callinfo.Info, text string) string {
	if f := p.redactor(info); f != nil {
		return f(text)
	}
	return text
}

// redactor returns what takes secrets out of texts, or nil if there are none.
func (p *Program) redactor(info *callinfo.Info) func(string) string {
	if info != nil && info.Secrets == nil && len(info.SecretArguments) > 0 {
		own := *info
		p.NoteSecrets(&own)
		info = &own
	}
	if p.upstreams.pool == nil {
		if own := info.OrNone().Secrets; own != nil {
			return own.Text
		}
		return p.redact
	}
	return p.upstreams.pool.Redactor(info)
}

// NoteSecrets lets calls with info note the secrets that they send for the caller, and
// those among the arguments of the run.
func (p *Program) NoteSecrets(info *callinfo.Info) {
	if p.upstreams.pool != nil {
		p.upstreams.pool.NoteSecrets(info)
	}
	if len(info.SecretArguments) > 0 {
		p.learnArguments(info)
	}
}

// redacted is err, or where its text has a secret an error that hides it. What
// errors.As finds beneath is as it was.
func (p *Program) redacted(info *callinfo.Info, err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	clean := p.Redact(info, text)
	if clean == text {
		return err
	}
	if node, ok := err.(*executor.NodeError); ok {
		own := *node
		own.Err = &redactedError{p.Redact(info, node.Err.Error()), node.Err}
		if args := own.MaskedArguments(); !args.IsUndefined() {
			own.Arguments = args.Rewritten(p.redactor(info))
		}
		return &own
	}
	return &redactedError{clean, err}
}

// maxFailureValue bounds what clients are sent of a failure beside its text, in
// bytes for each of its values.
const maxFailureValue = 16 << 10

// Failure returns the error of a call as clients are sent it: an object without
// secrets, whose message is its beginning, and whose reply and data are the beginnings of
// their JSON, if they are longer than 16 KiB.
func (p *Program) Failure(info *callinfo.Info, err error) value.Value {
	f := *executor.FailureOf(err)
	f.Reply, f.Data = p.bounded(info, f.Reply), p.bounded(info, f.Data)
	if len(f.Message) > maxFailureValue {
		f.Message = p.beginning(info, f.Message[:min(len(f.Message), 2*maxFailureValue)])
	}
	v := f.Value()
	if redact := p.redactor(info); redact != nil {
		v = v.Rewritten(redact)
	}
	return v
}

func (p *Program) bounded(info *callinfo.Info, v value.Value) value.Value {
	if v.IsUndefined() || !v.LongerThan(maxFailureValue) {
		return v
	}
	return value.FromString(p.beginning(info, v.Preview(2*maxFailureValue)))
}

// beginning returns the beginning of a text, of which there is more than is needed: no
// secret may be cut in two, or half of it would be left.
func (p *Program) beginning(info *callinfo.Info, text string) string {
	text = p.Redact(info, text)
	end := min(maxFailureValue, len(text))
	for end > 0 && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
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
