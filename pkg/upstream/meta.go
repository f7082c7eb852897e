package upstream

import (
	"context"
	"net/http"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

type metaKey struct{}

// WithMeta returns a context whose calls carry these members in the _meta of
// their requests, such as the traceparent of W3C Trace Context, which goes out as
// an HTTP header as well, as do tracestate and baggage. The member progressToken
// is the session's own and cannot be set.
func WithMeta(ctx context.Context, members ...value.Entry) context.Context {
	return context.WithValue(ctx, metaKey{}, members)
}

// maxTrace is how many bytes of trace context or baggage go out as a header, which
// is as much as W3C Baggage asks for (Limits).
const maxTrace = 8192

// traceHeaders sets the headers of W3C Trace Context and Baggage that the calls
// of ctx carry, in the place of those that the server's entry has.
func traceHeaders(ctx context.Context, h http.Header) {
	members, _ := ctx.Value(metaKey{}).([]value.Entry)
	for _, m := range members {
		switch m.Key {
		case "traceparent", "tracestate", "baggage":
			// What no header can hold would fail the whole request.
			if text := m.Value.Str(); text != "" && len(text) <= maxTrace && strings.IndexFunc(text, unprintable) < 0 {
				h.Set(m.Key, text)
			}
		}
	}
}

func unprintable(r rune) bool { return r < ' ' || r > '~' }

// appendMeta appends the members that the calls of ctx carry to the text of an
// object that has members already.
func appendMeta(dst []byte, ctx context.Context) []byte {
	members, _ := ctx.Value(metaKey{}).([]value.Entry)
	for _, m := range members {
		if m.Key == "progressToken" || m.Value.IsUndefined() {
			continue
		}
		dst = append(dst, ',')
		dst = value.AppendString(dst, m.Key)
		dst = append(dst, ':')
		dst = m.Value.Append(dst)
	}
	return dst
}
