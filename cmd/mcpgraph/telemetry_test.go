package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

const (
	goodTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	badTrace  = "0af7651916cd43dd8448eb211c80319c"
	outside   = "00f067aa0ba902b7" // the span of the client
)

// traced calls the tool answer of testdata/telemetry/front.yaml, once well and
// once not, as a part of two traces, and returns what a collector got and what
// the program wrote on stderr. The variables are beside those that name the
// collector.
func traced(t *testing.T, env []string, args ...string) (*collector, string) {
	t.Helper()
	c := newCollector(t)
	cmd := exec.Command(binary, append([]string{"serve", "front.yaml"}, args...)...)
	cmd.Dir = "testdata/telemetry"
	cmd.Env = append(os.Environ(), "MCPGRAPH="+binary, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url, "OTEL_SERVICE_NAME=front")
	cmd.Env = append(cmd.Env, env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, out := mcptest.Pipes(t, cmd)
	lines := bufio.NewReader(out)
	for i, message := range []string{
		strings.TrimSpace(initialize),
		call(7, 21, goodTrace),
		call(8, 13, badTrace),
	} {
		if _, err := fmt.Fprintln(in, message); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		if want := []string{`"serverInfo"`, `"structuredContent":{"n":42}`, `13 is not doubled`}[i]; !strings.Contains(line, want) {
			t.Errorf("the answer to message %d is %s", i, line)
		}
	}
	in.Close()
	if rest, _ := lines.ReadString(0); rest != "" {
		t.Errorf("more on stdout: %s", rest)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return c, stderr.String()
}

func call(id, n int, trace string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"answer","arguments":{"n":%d},"_meta":{"traceparent":"00-%s-%s-01","baggage":"tenant=a"}}}`,
		id, n, trace, outside)
}

func TestTraceGoesFromTheCallerThroughTwoProcesses(t *testing.T) {
	t.Parallel()
	c, stderr := traced(t, nil, "--log-level", "debug")
	doc, err := os.ReadFile("../../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, trace := range []string{goodTrace, badTrace} {
		tree := c.tree(trace, outside)
		t.Logf("trace %s\n%s", trace, tree)
		if tree == "" || !strings.Contains(string(doc), "```text\n"+tree+"```\n") {
			t.Errorf("docs/observability.md does not show the tree of trace %s:\n%s", trace, tree)
		}
	}

	for _, s := range c.spans {
		trace := hex.EncodeToString(s.TraceId)
		if strings.HasPrefix(s.Name, "tools/call") && trace != goodTrace && trace != badTrace {
			t.Errorf("%s of %s is outside of the two traces", s.Name, s.service)
		}
		for _, a := range s.Attributes {
			if strings.HasPrefix(a.Key, "gen_ai.tool.call") || strings.HasSuffix(a.Key, ".output") {
				t.Errorf("%s shows %s without --trace-content", s.Name, a.Key)
			}
		}
	}

	wantMetrics := map[string][]string{
		"front":   {"mcp.server.operation.duration", "mcp.server.session.duration", "mcp.client.operation.duration", "mcp.client.session.duration"},
		"numbers": {"mcp.server.operation.duration", "mcp.server.session.duration"},
	}
	for service, names := range wantMetrics {
		for _, name := range names {
			found := false
			for _, m := range c.metrics[service] {
				if m.Name != name {
					continue
				}
				found = true
				bounds := fmt.Sprint(m.GetHistogram().GetDataPoints()[0].ExplicitBounds)
				if m.Unit != "s" || bounds != "[0.01 0.02 0.05 0.1 0.2 0.5 1 2 5 10 30 60 120 300]" {
					t.Errorf("%s has unit %q and buckets %s", name, m.Unit, bounds)
				}
			}
			if !found {
				t.Errorf("%s sent no %s", service, name)
			}
		}
	}

	if got := c.count("front", "mcpgraph.upstream.calls"); got != 2 {
		t.Errorf("front counted %d calls of its servers", got)
	}

	var logged int
	for _, r := range c.logs {
		if trace := hex.EncodeToString(r.TraceId); r.Body.GetStringValue() == "a tool was called" && (trace == goodTrace || trace == badTrace) {
			logged++
		}
	}
	if logged != 2 {
		t.Errorf("%d of 2 log records belong to their trace", logged)
	}
	if !strings.Contains(stderr, "trace_id="+badTrace) {
		t.Errorf("stderr does not name the trace:\n%s", stderr)
	}
}

func TestTraceShowsContentWhereItIsAskedFor(t *testing.T) {
	t.Parallel()
	c, _ := traced(t, nil, "--trace-content")
	want := map[string]string{
		"SERVER gen_ai.tool.call.arguments": `{"n":21}`,
		"SERVER gen_ai.tool.call.result":    `{"n":42}`,
		"CLIENT gen_ai.tool.call.arguments": `{"n":21}`,
		"double mcpgraph.node.output":       `{"n":42}`,
		"answer mcpgraph.run.result":        `{"n":42}`,
	}
	for _, s := range c.spans {
		if s.service != "front" || hex.EncodeToString(s.TraceId) != goodTrace {
			continue
		}
		kind := strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_")
		last := s.Name[strings.LastIndex(s.Name, " ")+1:]
		for key, text := range want {
			who, name, _ := strings.Cut(key, " ")
			if (who == kind || who == last && kind == "INTERNAL") && attribute(s.Attributes, name) == text {
				delete(want, key)
			}
		}
	}
	for key, text := range want {
		t.Errorf("no span has %s = %s", key, text)
	}
}

func TestTraceDoesNotBreakAtAProgramThatExportsNothing(t *testing.T) {
	t.Parallel()
	c, _ := traced(t, []string{"OTEL_SDK_DISABLED=true"})
	want := "numbers: SERVER tools/call double operation.name=execute_tool network.transport=pipe\n"
	if tree := c.tree(goodTrace, outside); !strings.HasPrefix(tree, want) || strings.Contains(tree, "front") {
		t.Errorf("below the span of the client are\n%s", tree)
	}
}

func TestHeadersAndSamplerOfTheVariablesAreObeyed(t *testing.T) {
	t.Parallel()
	c, _ := traced(t, []string{"OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20of-the-operator", "OTEL_TRACES_SAMPLER=parentbased_always_off"}, "--log-level", "debug")
	for _, path := range []string{"/v1/traces", "/v1/metrics", "/v1/logs"} {
		if got := c.proofs[path]; got != "Bearer of-the-operator" {
			t.Errorf("%s got Authorization %q", path, got)
		}
	}
	// The program that began a trace decides; of those that begin here, none is sampled.
	if c.tree(goodTrace, outside) == "" {
		t.Error("a trace is missing that its client sampled")
	}
	for _, s := range c.spans {
		if trace := hex.EncodeToString(s.TraceId); trace != goodTrace && trace != badTrace {
			t.Errorf("%s of %s was sampled", s.Name, s.service)
		}
	}
	c, _ = traced(t, []string{"OTEL_TRACES_SAMPLER=always_off"})
	if len(c.spans) > 0 || c.count("front", "mcpgraph.upstream.calls") != 2 {
		t.Errorf("%d spans were sent, %d calls counted", len(c.spans), c.count("front", "mcpgraph.upstream.calls"))
	}
}

func TestConsoleExporterLeavesStdoutToMCP(t *testing.T) {
	t.Parallel()
	_, stderr := traced(t, []string{"OTEL_TRACES_EXPORTER=console", "OTEL_METRICS_EXPORTER=console", "OTEL_LOGS_EXPORTER=console"})
	for _, want := range []string{`"Name":"invoke_workflow answer"`, `"mcp.server.operation.duration"`} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %s on stderr", want)
		}
	}
}

func TestUnreachableCollectorHoldsNothingUp(t *testing.T) {
	t.Parallel()
	_, stderr := traced(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"})
	if !strings.Contains(stderr, "cannot send telemetry") {
		t.Errorf("nothing is said of a collector that is not there:\n%s", stderr)
	}
}

func TestSilentCollectorIsToldAsSuch(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() // connections are made and never answered
	_, stderr := traced(t, []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://" + silent.Addr().String()})
	if !strings.Contains(stderr, "no response within 3s; check the address of the collector") {
		t.Errorf("nothing is said of a collector that does not answer:\n%s", stderr)
	}
}
