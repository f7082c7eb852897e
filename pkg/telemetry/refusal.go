package telemetry

import (
	"context"
	"net/http"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpgraph/mcpgraph/pkg/server"
)

var _ server.ExchangeFunc = (*Recorder)(nil).Exchanged

// Exchanged is a [server.ExchangeFunc]: it counts the HTTP requests that are
// refused.
func (r *Recorder) Exchanged(ctx context.Context, e server.Exchange) {
	if e.Reason != "" {
		r.refusal(ctx, e.Reason, e.Status, e.Method)
	}
}

// httpMethods are those that are counted by name.
var httpMethods = []string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodOptions}

// refusal counts a request that was refused. status and method are those of HTTP;
// zero if it has none.
func (r *Recorder) refusal(ctx context.Context, reason string, status int, method string) {
	if !r.metrics.refusals.Enabled(ctx) {
		return
	}
	attrs := attributes{attribute.String("error.type", reason)}
	if status != 0 {
		attrs = append(attrs, attribute.Int("http.response.status_code", status))
	}
	if method != "" {
		if !slices.Contains(httpMethods, method) {
			method = other
		}
		attrs.text("http.request.method", method)
	}
	r.metrics.refusals.Add(ctx, 1, metric.WithAttributes(attrs...))
}
