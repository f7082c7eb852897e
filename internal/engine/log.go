package engine

import (
	"context"
	"log/slog"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
)

// logOf returns the logger of a call: it redacts the secrets of the caller, too,
// and adds the caller to records.
func (e *Engine) logOf(info *callinfo.Info) *slog.Logger {
	if info.Caller == "" && info.Secrets == nil {
		return e.log
	}
	next := e.opts.Log.Handler()
	if info.Caller != "" {
		next = callerLog{next, slog.String("caller", info.Caller)}
	}
	return slog.New(telemetry.RewriteLog(next, func(text string) string { return e.Redact(info, text) }))
}

// callerLog adds the caller to records.
type callerLog struct {
	slog.Handler
	caller slog.Attr
}

// Handle implements slog.Handler.
func (l callerLog) Handle(ctx context.Context, r slog.Record) error {
	r = r.Clone()
	r.AddAttrs(l.caller)
	return l.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (l callerLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return callerLog{l.Handler.WithAttrs(attrs), l.caller}
}

// WithGroup implements slog.Handler.
func (l callerLog) WithGroup(name string) slog.Handler {
	return callerLog{l.Handler.WithGroup(name), l.caller}
}
