package telemetry

import (
	"context"
	"errors"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// Logger returns a logger that writes to log, adds trace_id and span_id to what
// is logged with the context of a span, and exports the records as Options.Logs
// configures. The level is that of log.
func (t *Telemetry) Logger(log *slog.Logger) *slog.Logger {
	h := handler{base: log.Handler()}
	if t.logs != nil {
		h.export = RewriteLog(t.logs, valid)
	}
	return slog.New(h)
}

// handler is a slog.Handler that knows of traces.
type handler struct {
	base   slog.Handler
	export slog.Handler // nil where nothing is exported
}

func (h handler) Enabled(ctx context.Context, l slog.Level) bool { return h.base.Enabled(ctx, l) }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	var exported error
	if h.export != nil {
		exported = h.export.Handle(ctx, r)
	}
	if s := trace.SpanContextFromContext(ctx); s.IsValid() {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", s.TraceID().String()), slog.String("span_id", s.SpanID().String()))
	}
	return errors.Join(h.base.Handle(ctx, r), exported)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.base = h.base.WithAttrs(attrs)
	if h.export != nil {
		h.export = h.export.WithAttrs(attrs)
	}
	return h
}

func (h handler) WithGroup(name string) slog.Handler {
	h.base = h.base.WithGroup(name)
	if h.export != nil {
		h.export = h.export.WithGroup(name)
	}
	return h
}
