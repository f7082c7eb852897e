package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// Logger returns a logger that writes to log, adds trace_id and span_id to what
// is logged with the context of a span, and exports the records where
// Options.Logs says how. The level is that of log.
func (t *Telemetry) Logger(log *slog.Logger) *slog.Logger {
	return slog.New(handler{log.Handler(), t.logs})
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
		exported = h.export.Handle(ctx, exportable(r))
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
		h.export = h.export.WithAttrs(plain(attrs))
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

// exportable returns a record with the text of errors in their place, and all
// texts in UTF-8.
func exportable(r slog.Record) slog.Record {
	clean := slog.NewRecord(r.Time, r.Level, valid(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(plain([]slog.Attr{a})...)
		return true
	})
	return clean
}

func plain(attrs []slog.Attr) []slog.Attr {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		v := a.Value.Resolve()
		switch v.Kind() {
		case slog.KindString:
			v = slog.StringValue(valid(v.String()))
		case slog.KindGroup:
			v = slog.GroupValue(plain(v.Group())...)
		case slog.KindAny:
			if v.Any() != nil {
				v = slog.StringValue(valid(fmt.Sprint(v.Any())))
			}
		}
		clean[i] = slog.Attr{Key: valid(a.Key), Value: v}
	}
	return clean
}
