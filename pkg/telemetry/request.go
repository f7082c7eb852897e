package telemetry

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpgraph/mcpgraph/pkg/server"
)

const (
	callMethod = "tools/call"
	getMethod  = "prompts/get"
	// other stands for names that would have no bound (semantic conventions,
	// "_OTHER").
	other = "_OTHER"
	// toolError is the error.type of a result with isError.
	toolError = "tool_error"
)

// methods are those of MCP that clients send as requests.
var methods = []string{
	callMethod, "tools/list", "initialize", "ping", "server/discover", "subscriptions/listen",
	"resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
	"prompts/list", "prompts/get", "completion/complete", "logging/setLevel",
	"tasks/get", "tasks/update", "tasks/cancel",
}

var _ server.ObserveFunc = (*Recorder)(nil).Observe

// Observe is a [server.ObserveFunc]: each request becomes a span of kind SERVER
// and a measurement.
func (r *Recorder) Observe(ctx context.Context, q *server.Request) (context.Context, func(server.Outcome)) {
	began := time.Now()
	ctx, links := origin(ctx, q)
	method := q.Method
	if !slices.Contains(methods, method) {
		method = other
	}
	// Metrics have a part of the attributes of the span: those with few values.
	attrs := attributes{attribute.String("mcp.method.name", method)}
	name := method
	if q.Tool != "" && r.subject.Tool(q.Tool) {
		switch method {
		case callMethod:
			name += " " + q.Tool
			attrs.text("gen_ai.tool.name", q.Tool)
		case getMethod:
			prompt := strings.TrimPrefix(q.Tool, "prompts/")
			name += " " + prompt
			attrs.text("gen_ai.prompt.name", prompt)
		}
	}
	if method == callMethod {
		attrs.text("gen_ai.operation.name", "execute_tool")
	}
	attrs.text("network.transport", q.Transport)
	measured := slices.Clone(attrs)
	attrs.text("mcp.protocol.version", q.Protocol)
	attrs.text("mcp.session.id", q.Session)
	attrs.text("jsonrpc.request.id", idText(q.ID))
	attrs.text("enduser.id", q.Caller)
	attrs.text("server.address", q.Address)
	attrs.port(q.Port)
	ctx, span := r.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithLinks(links...), trace.WithAttributes(attrs...))

	return ctx, func(o server.Outcome) {
		var failure attributes
		switch {
		case o.Code != 0:
			code := strconv.Itoa(o.Code)
			failure.text("error.type", code)
			failure.text("rpc.response.status_code", code)
		case o.Failed:
			failure.text("error.type", toolError)
		}
		if span.IsRecording() {
			span.SetAttributes(failure...)
			if serverFault(o.Code) {
				span.SetStatus(codes.Error, r.text(&q.Info, o.Message))
			}
			// Not before: a call may bring secrets to light that stand here too.
			if q.URI != "" {
				span.SetAttributes(attribute.String("mcp.resource.uri", r.text(&q.Info, q.URI)))
			}
			if method == callMethod {
				span.SetAttributes(r.arguments(&q.Info, "gen_ai.tool.call.arguments", "", q.Tool, q.Args)...)
				span.SetAttributes(r.show(&q.Info, "gen_ai.tool.call.result", o.Result)...)
			}
		}
		span.End()
		if o.Code == 0 {
			measured.text("mcp.protocol.version", q.Protocol) // one that is known
		}
		if o.Reason == "busy" && (o.Code == 0 || q.Transport == server.Pipe) { // else its HTTP request is counted
			r.refusal(ctx, o.Reason, 0, "")
		}
		observe(ctx, r.metrics.request, began, append(measured, failure...))
	}
}

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

// Session measures a session with a client, which begins now and ends when what
// it returns is called.
func (r *Recorder) Session(ctx context.Context, transport string) (done func(error)) {
	var attrs attributes
	attrs.text("network.transport", transport)
	return measureSession(ctx, r.metrics.session, attrs)
}

// serverFault reports whether an error of JSON-RPC is the server's own: internal
// errors and the codes that JSON-RPC 2.0, section 5.1, leaves to servers.
func serverFault(code int) bool {
	return code == -32603 || code <= -32000 && code >= -32099
}

// idText returns the id of a request, which is JSON, without the quotes of a
// string that needs no escapes.
func idText(id string) string {
	if plain, err := strconv.Unquote(id); err == nil {
		return plain
	}
	return id
}
