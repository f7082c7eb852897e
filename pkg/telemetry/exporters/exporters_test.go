package exporters_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/telemetry/exporters"
)

// clean unsets what may be set around the test.
func clean(t *testing.T) {
	for _, name := range []string{
		"OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER",
		"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL",
		"OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TIMEOUT",
		"OTEL_EXPORTER_OTLP_METRICS_HEADERS", "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL",
	} {
		t.Setenv(name, "")
	}
}

func TestOnlyWhatIsAskedForIsSetUp(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want string // of t, m and l
	}{
		{"nothing", nil, ""},
		{"none", map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"}, ""},
		{"traces", map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, "t"},
		{"endpoint", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, "tml"},
		{"endpoint of one", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/v1/traces"}, "t"},
		{"endpoint, but not for all", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none"}, "t"},
		{"disabled", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "TRUE"}, ""},
		{"grpc", map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "t"},
	} {
		t.Run(c.name, func(t *testing.T) {
			clean(t)
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			e, err := exporters.FromEnvironment(context.Background(), exporters.Options{Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if e != nil {
				if e.Tracers != nil {
					got += "t"
				}
				if e.Meters != nil {
					got += "m"
				}
				if e.Logs != nil {
					got += "l"
				}
				done, cancel := context.WithCancel(context.Background())
				cancel() // nobody listens: do not wait
				_ = e.Shutdown(done)
			}
			if got != c.want || (e == nil) != (c.want == "") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhatCannotBeObeyedNamesItsVariable(t *testing.T) {
	for _, name := range []string{"OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER"} {
		clean(t)
		t.Setenv(name, "jager")
		_, err := exporters.FromEnvironment(context.Background(), exporters.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), name+` is "jager": `) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []struct{ name, text, want string }{
		{"OTEL_TRACES_SAMPLER", "sometimes", `OTEL_TRACES_SAMPLER is "sometimes"; expected`},
		{"OTEL_TRACES_SAMPLER_ARG", "lots", `OTEL_TRACES_SAMPLER_ARG is "lots"; expected a number from 0 to 1`},
		{"OTEL_TRACES_SAMPLER_ARG", "1.5", `OTEL_TRACES_SAMPLER_ARG is "1.5"`},
		{"OTEL_TRACES_SAMPLER_ARG", "NaN", `OTEL_TRACES_SAMPLER_ARG is "NaN"`},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", `OTEL_EXPORTER_OTLP_PROTOCOL is "http/json"; expected http/protobuf or grpc`},
		{"OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "udp", `OTEL_EXPORTER_OTLP_LOGS_PROTOCOL is "udp"`},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318", "OTEL_EXPORTER_OTLP_ENDPOINT is not an address that begins with http://"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is not an address"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "sesame", "OTEL_EXPORTER_OTLP_HEADERS is not a list NAME=VALUE"},
		{"OTEL_EXPORTER_OTLP_METRICS_HEADERS", "a=b,c=sesame%2", "OTEL_EXPORTER_OTLP_METRICS_HEADERS is not a list"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "10s", `OTEL_EXPORTER_OTLP_TIMEOUT is "10s"; expected a whole number of milliseconds`},
	} {
		clean(t)
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
		t.Setenv("OTEL_TRACES_SAMPLER", "traceidratio")
		t.Setenv(c.name, c.text)
		_, err := exporters.FromEnvironment(context.Background(), exporters.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestWhatCanBeObeyedIs(t *testing.T) {
	for _, env := range []map[string]string{
		{"OTEL_TRACES_SAMPLER": " ParentBased_TraceIDRatio ", "OTEL_TRACES_SAMPLER_ARG": " 0.1 "},
		{"OTEL_TRACES_SAMPLER": "always_off", "OTEL_TRACES_SAMPLER_ARG": "of another sampler"},
		{"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20x, b=c=d,"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "unix:///run/collector.sock", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector.example.com/base", "OTEL_EXPORTER_OTLP_TIMEOUT": "2000"},
		{"OTEL_TRACES_EXPORTER": "console", "OTEL_EXPORTER_OTLP_PROTOCOL": "of no exporter"},
	} {
		clean(t)
		t.Setenv("OTEL_TRACES_EXPORTER", "otlp")
		t.Setenv("OTEL_METRICS_EXPORTER", "none")
		t.Setenv("OTEL_LOGS_EXPORTER", "none")
		for k, v := range env {
			t.Setenv(k, v)
		}
		e, err := exporters.FromEnvironment(context.Background(), exporters.Options{Console: io.Discard})
		if err != nil || e.Tracers == nil {
			t.Errorf("%v: %v", env, err)
			continue
		}
		if err := e.Shutdown(context.Background()); err != nil {
			t.Errorf("%v: %v", env, err)
		}
	}
}

func TestConsoleWritesWhereItIsTold(t *testing.T) {
	clean(t)
	t.Setenv("OTEL_TRACES_EXPORTER", "console")
	t.Setenv("OTEL_METRICS_EXPORTER", "console")
	t.Setenv("OTEL_LOGS_EXPORTER", "console")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=mine,a=b")
	var out bytes.Buffer
	e, err := exporters.FromEnvironment(context.Background(), exporters.Options{Console: &out, Version: "v7"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, span := e.Tracers.Tracer("t").Start(context.Background(), "a span")
	slog.New(e.Logs).InfoContext(ctx, "a record")
	span.End()
	counter, err := e.Meters.Meter("t").Int64Counter("a.counter")
	if err != nil {
		t.Fatal(err)
	}
	counter.Add(ctx, 1)
	if err := e.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"a span"`, `"a record"`, `"a.counter"`, `"mine"`, `"v7"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
}

func TestPageShowsMetricsToPrometheus(t *testing.T) {
	clean(t)
	e, err := exporters.FromEnvironment(context.Background(), exporters.Options{Prometheus: true})
	if err != nil {
		t.Fatal(err)
	}
	if e.Tracers != nil || e.Logs != nil {
		t.Error("more was set up than the page")
	}
	h, err := e.Meters.Meter("t").Float64Histogram("mcp.server.operation.duration")
	if err != nil {
		t.Fatal(err)
	}
	h.Record(context.Background(), 0.5)
	s := httptest.NewServer(e.Page)
	defer s.Close()
	resp, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(body), "mcp_server_operation_duration_count{") {
		t.Errorf("%v: %s", err, body)
	}
	if err := e.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
}
