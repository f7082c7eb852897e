// Package telemetry reports to OpenTelemetry what the program does: a span for
// every request of a client, for the run behind it, for each node of the run
// and for each call of an upstream server, the durations of requests, calls and
// sessions and what upstream servers are doing as metrics, and log records that
// name the trace they belong to. Names follow the semantic conventions for MCP
// and generative AI; what they do not name begins with "mcpgraph.".
//
// A program that does not ask for any of it builds no Telemetry, and then pays
// nothing for it.
package telemetry

import (
	"log/slog"

	"github.com/mcpgraph/mcpgraph/internal/project"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// DefaultContentLimit is the size in bytes to which arguments and outputs are
// cut where Options.ContentLimit is 0.
const DefaultContentLimit = 8 << 10

// scope names what emits the spans and metrics.
const scope = project.Module

// Options configure where telemetry goes and what it may contain.
type Options struct {
	// Tracers and Meters receive spans and metrics; nil drops them.
	Tracers trace.TracerProvider
	Meters  metric.MeterProvider
	// Content puts arguments and outputs into spans, without the secrets of the
	// file and cut to ContentLimit bytes each.
	Content      bool
	ContentLimit int
	// Logs exports what [Telemetry.Logger] logs; nil exports nothing.
	Logs slog.Handler
}

// Telemetry is where the spans, metrics and log records of a process go. It is
// safe for concurrent use.
type Telemetry struct {
	tracer  trace.Tracer
	metrics instruments
	pools   *poolMetrics
	content bool
	limit   int

	logs slog.Handler
}

// New returns a Telemetry that reports to the given providers, whose life is
// the caller's affair. The error is that of a meter provider.
func New(o Options) (*Telemetry, error) {
	if o.Tracers == nil {
		o.Tracers = tracenoop.NewTracerProvider()
	}
	if o.Meters == nil {
		o.Meters = metricnoop.NewMeterProvider()
	}
	if o.ContentLimit <= 0 {
		o.ContentLimit = DefaultContentLimit
	}
	meter := o.Meters.Meter(scope)
	metrics, err := newInstruments(meter)
	if err != nil {
		return nil, err
	}
	fleet, err := newPoolMetrics(meter)
	if err != nil {
		return nil, err
	}
	return &Telemetry{
		tracer: o.Tracers.Tracer(scope), metrics: metrics, pools: fleet,
		content: o.Content, limit: o.ContentLimit, logs: o.Logs,
	}, nil
}
