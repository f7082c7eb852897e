package upstream

import (
	"context"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxTrace is how many bytes of trace context or baggage go out as a header, which
// is as much as W3C Baggage asks for (Limits).
const maxTrace = 8192

// traceHeaders appends the headers of W3C Trace Context and Baggage that the calls
// of ctx carry, names and values in turn. They replace those that the server's
// entry has.
func traceHeaders(dst []string, ctx context.Context) []string {
	for _, m := range infoOf(ctx).Trace {
		switch m.Key {
		case "traceparent", "tracestate", "baggage":
			// What no header can hold would fail the whole request.
			if text := m.Value.Str(); text != "" && len(text) <= maxTrace && strings.IndexFunc(text, unprintable) < 0 {
				dst = append(dst, m.Key, text)
			}
		}
	}
	return dst
}

func unprintable(r rune) bool { return r < ' ' || r > '~' }

// appendMeta appends the members that the calls of ctx carry, and their
// idempotency key, to the text of an object that has members already.
func appendMeta(dst []byte, ctx context.Context) []byte {
	for _, m := range infoOf(ctx).Trace {
		if m.Key == "progressToken" || m.Value.IsUndefined() {
			continue
		}
		dst = append(dst, ',')
		dst = value.AppendString(dst, m.Key)
		dst = append(dst, ':')
		dst = m.Value.Append(dst)
	}
	if key := infoOf(ctx).IdempotencyKey; key != "" {
		dst = append(dst, `,"mcpgraph/idempotencyKey":`...)
		dst = value.AppendString(dst, key)
	}
	return dst
}
