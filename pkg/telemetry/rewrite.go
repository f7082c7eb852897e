package telemetry

import (
	"context"
	"fmt"
	"log/slog"
)

// RewriteLog returns a handler that hands records to next with f applied to every
// text in them: messages, keys and values, which are texts where they are no
// numbers, booleans, times or groups.
func RewriteLog(next slog.Handler, f func(text string) string) slog.Handler {
	return rewriter{next, f}
}

type rewriter struct {
	next slog.Handler
	text func(string) string
}

func (w rewriter) Enabled(ctx context.Context, l slog.Level) bool { return w.next.Enabled(ctx, l) }

func (w rewriter) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, w.text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(w.attr(a))
		return true
	})
	return w.next.Handle(ctx, out)
}

func (w rewriter) WithAttrs(attrs []slog.Attr) slog.Handler {
	w.next = w.next.WithAttrs(w.attrs(attrs))
	return w
}

func (w rewriter) WithGroup(name string) slog.Handler {
	w.next = w.next.WithGroup(name)
	return w
}

func (w rewriter) attrs(attrs []slog.Attr) []slog.Attr {
	out := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		out[i] = w.attr(a)
	}
	return out
}

func (w rewriter) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		v = slog.StringValue(w.text(v.String()))
	case slog.KindGroup:
		v = slog.GroupValue(w.attrs(v.Group())...)
	case slog.KindAny:
		if v.Any() != nil {
			v = slog.StringValue(w.text(fmt.Sprint(v.Any())))
		}
	}
	return slog.Attr{Key: w.text(a.Key), Value: v}
}
