// Package exporters makes the exporters of OpenTelemetry that environment
// variables ask for.
package exporters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	promexporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutlog"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/metric"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpgraph/mcpgraph/internal/project"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
)

// Options configure what the environment variables of OpenTelemetry do not.
type Options struct {
	// Version is the program's own.
	Version string
	// Console is where the exporter "console" writes. Standard output is not for
	// it: it belongs to the messages of MCP.
	Console io.Writer
	// Log gets what goes wrong while exporting; nil leaves that to OpenTelemetry.
	Log *slog.Logger
	// Prometheus asks for the page of metrics.
	Prometheus bool
	// Soon sends spans a tenth of a second after they have ended, not 5 seconds, if
	// OTEL_BSP_SCHEDULE_DELAY says nothing else: what a process that is killed has not
	// sent is lost.
	Soon bool
}

const soon = 100 * time.Millisecond

// Exporters are where spans, metrics and log records leave the process. Fields
// are nil for what nothing asks for.
type Exporters struct {
	Tracers trace.TracerProvider
	Meters  metric.MeterProvider
	Logs    slog.Handler
	// Page shows the metrics to Prometheus.
	Page http.Handler

	shutdown []func(context.Context) error
}

// Shutdown sends what has not been sent yet, and ends the exporters. The end of
// ctx cuts it short.
func (e *Exporters) Shutdown(ctx context.Context) error {
	var errs []error
	for _, f := range e.shutdown {
		errs = append(errs, f(ctx))
	}
	return errors.Join(errs...)
}

// console is the name of the exporters that write where people read.
const console = "console"

// FromEnvironment returns the exporters that the variables of this process ask
// for (OpenTelemetry, "Environment Variable Specification"):
// OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER and OTEL_LOGS_EXPORTER, or
// OTEL_EXPORTER_OTLP_ENDPOINT, which asks for all three. It is nil if no
// exporter is configured, or OTEL_SDK_DISABLED is true. The error names the
// variable that cannot be obeyed.
func FromEnvironment(ctx context.Context, o Options) (_ *Exporters, err error) {
	traces, metrics, logs := exporter("TRACES"), exporter("METRICS"), exporter("LOGS")
	if traces == "" && metrics == "" && logs == "" && !o.Prometheus {
		return nil, nil
	}
	if err := checkVariables(traces, metrics, logs); err != nil {
		return nil, err
	}
	if o.Log != nil {
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
			o.Log.Warn("cannot send telemetry", "error", err)
		}))
	}
	// The variables come last: they win.
	who, err := resource.New(ctx,
		resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(attribute.String("service.name", "mcpgraph"), attribute.String("service.version", o.Version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	e := &Exporters{}
	defer func() {
		if err != nil {
			_ = e.Shutdown(ctx) // the error that ends this is the one to tell
		}
	}()
	if traces != "" {
		if err := e.traces(ctx, traces, o, who); err != nil {
			return nil, fmt.Errorf("OTEL_TRACES_EXPORTER is %q: %w", traces, err)
		}
	}
	if metrics != "" || o.Prometheus {
		if err := e.metrics(ctx, metrics, o, who); err != nil {
			return nil, fmt.Errorf("OTEL_METRICS_EXPORTER is %q: %w", metrics, err)
		}
	}
	if logs != "" {
		if err := e.logs(ctx, logs, o, who); err != nil {
			return nil, fmt.Errorf("OTEL_LOGS_EXPORTER is %q: %w", logs, err)
		}
	}
	return e, nil
}

// exporter returns the name of the exporter for a signal, or empty if none is
// configured.
func exporter(signal string) string {
	switch name := os.Getenv("OTEL_" + signal + "_EXPORTER"); {
	case strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || name == "none":
		return ""
	case name != "":
		return name
	case os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != "":
		return "otlp"
	}
	return ""
}

func (e *Exporters) traces(ctx context.Context, name string, o Options, who *resource.Resource) (err error) {
	var spans sdktrace.SpanExporter
	if name == console {
		spans, err = stdouttrace.New(stdouttrace.WithWriter(o.Console))
	} else {
		spans, err = autoexport.NewSpanExporter(ctx)
	}
	if err != nil {
		return err
	}
	var batches []sdktrace.BatchSpanProcessorOption
	if o.Soon && os.Getenv("OTEL_BSP_SCHEDULE_DELAY") == "" {
		batches = append(batches, sdktrace.WithBatchTimeout(soon))
	}
	p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans, batches...), sdktrace.WithResource(who), sdktrace.WithIDGenerator(telemetry.IDs{}))
	e.Tracers, e.shutdown = p, append(e.shutdown, p.Shutdown)
	return nil
}

// metrics sets up the exporter with this name, if there is one, and the page.
func (e *Exporters) metrics(ctx context.Context, name string, o Options, who *resource.Resource) error {
	opts := []sdkmetric.Option{sdkmetric.WithResource(who)}
	if o.Prometheus {
		registry := prometheus.NewRegistry()
		reader, err := promexporter.New(promexporter.WithRegisterer(registry))
		if err != nil {
			return err
		}
		opts = append(opts, sdkmetric.WithReader(reader))
		e.Page = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	}
	if name != "" {
		reader, err := metricReader(ctx, name, o.Console)
		if err != nil {
			return err
		}
		opts = append(opts, sdkmetric.WithReader(reader))
	}
	p := sdkmetric.NewMeterProvider(opts...)
	e.Meters, e.shutdown = p, append(e.shutdown, p.Shutdown)
	return nil
}

func metricReader(ctx context.Context, name string, w io.Writer) (sdkmetric.Reader, error) {
	if name != console {
		return autoexport.NewMetricReader(ctx)
	}
	metrics, err := stdoutmetric.New(stdoutmetric.WithWriter(w))
	if err != nil {
		return nil, err
	}
	return sdkmetric.NewPeriodicReader(metrics), nil
}

func (e *Exporters) logs(ctx context.Context, name string, o Options, who *resource.Resource) (err error) {
	var records sdklog.Exporter
	if name == console {
		records, err = stdoutlog.New(stdoutlog.WithWriter(o.Console))
	} else {
		records, err = autoexport.NewLogExporter(ctx)
	}
	if err != nil {
		return err
	}
	p := sdklog.NewLoggerProvider(
		sdklog.WithProcessor(sdklog.NewBatchProcessor(records)), sdklog.WithResource(who))
	e.Logs = otelslog.NewHandler(project.Module, otelslog.WithLoggerProvider(p))
	e.shutdown = append(e.shutdown, p.Shutdown)
	return nil
}
