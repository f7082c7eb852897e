package telemetry_test

import (
	"context"
	"fmt"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
)

func ExampleNew() {
	spans := tracetest.NewSpanRecorder()
	tel, err := telemetry.New(telemetry.Options{Tracers: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))})
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := mcpgraph.LoadBytes("tools.yaml", []byte(`
version: "1.0"
server: {name: demo, version: "1"}
tools:
  - name: echo
    description: Gives its arguments back
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: exit}
      - {id: exit, type: exit}
`), mcpgraph.WithTelemetry(tel))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	if _, err := engine.Call(context.Background(), "echo", nil); err != nil {
		fmt.Println(err)
	}
	for _, span := range spans.Ended() {
		fmt.Println(span.Name())
	}
	// Output:
	// entry entry
	// exit exit
	// invoke_workflow echo
}
