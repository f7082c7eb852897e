package mcpgraph

import (
	"context"
	"log/slog"
)

// callerLog names the caller in the records of a request.
type callerLog struct{ slog.Handler }

// Handle implements slog.Handler.
func (l callerLog) Handle(ctx context.Context, r slog.Record) error {
	if caller := callerOf(ctx); caller != "" {
		r = r.Clone()
		r.AddAttrs(slog.String("caller", caller))
	}
	return l.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (l callerLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return callerLog{l.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (l callerLog) WithGroup(name string) slog.Handler {
	return callerLog{l.Handler.WithGroup(name)}
}
