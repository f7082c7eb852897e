package telemetry_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
)

func TestRequestsForPromptsAndResourcesAreSpans(t *testing.T) {
	t.Parallel()
	r := record(t, telemetry.Options{})
	request := r.Recorder(subject).UpstreamRequest
	ask := func(q upstream.Request, err error) {
		_, info, done := request(context.Background(), nil, q)
		if len(info.Trace) == 0 || info.Trace[0].Key != "traceparent" {
			t.Errorf("%s carries no trace: %v", q.Method, info.Trace)
		}
		info.Sent(callinfo.Sent{ID: "7", Session: "s", Protocol: "2025-11-25"})
		done(err)
	}
	ask(upstream.Request{Server: "docs", Method: "prompts/get", Prompt: "review"}, nil)
	ask(upstream.Request{Server: "docs", Method: "resources/read", Resource: "doc://hunter2"},
		&upstream.Error{Op: "read", Message: "no hunter2", Err: &upstream.RPCError{Code: -32002}})
	ask(upstream.Request{Server: "docs", Method: "prompts/list"}, errors.New("odd"))

	got := r.span(t, "prompts/get review")
	if got.SpanKind() != trace.SpanKindClient || get(got, "gen_ai.prompt.name") != "review" || get(got, "mcpgraph.server") != "docs" ||
		get(got, "mcp.session.id") != "s" || get(got, "jsonrpc.request.id") != "7" || get(got, "mcp.protocol.version") != "2025-11-25" {
		t.Errorf("%v", got.Attributes())
	}
	read := r.span(t, "resources/read")
	if read.Status().Code != codes.Error || strings.Contains(read.Status().Description, "hunter2") ||
		get(read, "mcp.resource.uri") != "doc://[redacted]" || get(read, "error.type") != "-32002" || get(read, "rpc.response.status_code") != "-32002" {
		t.Errorf("%v %v", read.Status(), read.Attributes())
	}
	r.span(t, "prompts/list")
	for i := range 50 {
		ask(upstream.Request{Server: "docs", Method: "prompts/get", Prompt: strings.Repeat("x", i+1)}, errors.New("there is none"))
	}
	for _, s := range r.spans.Ended() {
		if strings.Contains(s.Name(), "xx") {
			t.Errorf("a made up name is that of a span: %s", s.Name())
		}
	}
	if points := r.points(t)["mcp.client.operation.duration"]; len(points) != 4 {
		t.Errorf("there are %d series: %v", len(points), points)
	}
}
