//go:build unix

package mcpgraph_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const takesSecrets = `version: "1.0"
server: {name: t, version: "1"}
tools:
  - name: login
    description: Takes secrets
    inputSchema:
      type: object
      properties:
        password: {type: string, minLength: 3}
        pin: {type: string, writeOnly: true}
        user: {type: string}
        deep: {type: array, items: {$ref: "#/$defs/login"}}
        pageToken: {type: string}
      $defs: {login: {allOf: [{properties: {phrase: {format: password}}}]}}
    nodes:
      - {id: entry, type: entry, next: other}
      - {id: other, type: transform, transform: {expr: '{"moved": "x" & $.entry.password & "y", "token": $.entry.deep[0].phrase}'}, next: echo}
      - {id: echo, type: mcp, server: fake, tool: echo, args: {message: {expr: "$.other.moved"}, secret: short, page: {expr: "$.entry.pageToken"}}, next: notify}
      - {id: notify, type: mcp, server: fake, tool: notify, args: {method: notifications/message, result: {level: error, data: {expr: "$.other.moved"}}}, next: fail}
      - {id: fail, type: mcp, server: fake, tool: fail, args: {text: {expr: "$.other.moved"}}, next: last, catch: {next: last}}
      - {id: last, type: transform, transform: {expr: "$.other.moved"}, next: exit}
      - {id: exit, type: exit}
`

// TestSecretArgumentsAreKeptNowhere follows arguments that hold secrets through a run.
func TestSecretArgumentsAreKeptNowhere(t *testing.T) {
	t.Parallel()
	const password, phrase, pin = "correct-horse-battery", "staple-of-the-phrase", "9182"
	args := map[string]any{"password": password, "pin": pin, "user": "somebody-else", "pageToken": "page-token-1", "deep": []any{map[string]any{"phrase": phrase}}}
	var log lockedText
	var traced strings.Builder
	e := mustLoad(t, takesSecrets,
		mcpgraph.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))),
		mcpgraph.WithServer("fake", func(ctx context.Context, in io.Reader, out io.Writer) error {
			conn, err := mcptest.Script{}.Dial(ctx)
			if err != nil {
				return err
			}
			go func() {
				_, _ = io.Copy(conn, in)
				conn.Close()
			}()
			_, err = io.Copy(out, conn)
			return err
		}),
	)
	for range 2 { // the info of a call that is made again
		info := &callinfo.Info{Caller: "ann"}
		result, err := e.Call(context.Background(), "login", args, mcpgraph.WithCallInfo(info), mcpgraph.WithCallHooks(executor.Hooks{
			NodeDone: func(_ context.Context, _ *executor.Run, rec executor.Record) {
				traced.WriteString(e.RedactValue(info, rec.Output).JSON() + e.RedactValue(info, rec.Arguments).JSON())
			},
		}))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(result.JSON()); got != value.FromString("x"+password+"y").JSON() {
			t.Errorf("the caller got %s", got)
		}
	}
	_, err := e.Call(context.Background(), "login", map[string]any{"password": []string{password}}, mcpgraph.WithCallInfo(&callinfo.Info{Caller: "ann"}))
	if err == nil {
		t.Fatal("arguments that do not fit were taken")
	}
	kept := ""
	for _, run := range e.Runs().List("ann") {
		text, err := run.JSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		kept += text
	}
	for what, text := range map[string]string{"kept runs": kept, "log": log.String(), "trace": traced.String(), "error": err.Error()} {
		for _, secret := range []string{password, phrase, `"9182"`} {
			if strings.Contains(text, secret) && (what == "kept runs" || len(secret) > 8) {
				t.Errorf("%s: %q stands in %s", what, secret, text)
			}
		}
	}
	for _, want := range []string{
		`"arguments":{"deep":[{"phrase":"[redacted]"}],"pageToken":"page-token-1","password":"[redacted]","pin":"[redacted]","user":"somebody-else"}`,
		`"moved":"x[redacted]y","token":"[redacted]"`, `"arguments":{"message":"x[redacted]y","secret":"[redacted]","page":"page-token-1"}`,
	} {
		if !strings.Contains(kept, want) {
			t.Errorf("kept runs have no %s: %s", want, kept)
		}
	}
	if !strings.Contains(log.String(), "x[redacted]y") {
		t.Errorf("the log has nothing of the call: %s", log.String())
	}
}

const takesShortSecrets = `version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  fake: {command: x, requireApproval: [approved]}
tools:
  - name: pay
    description: Takes short secrets
    inputSchema: {type: object, properties: {pin: {type: string, writeOnly: true}, password: {type: string}}}
    nodes:
      - {id: entry, type: entry, next: ask}
      - {id: ask, type: mcp, server: fake, tool: approved, args: {password: {expr: "$.entry.pin"}}, next: each}
      - id: each
        type: map
        items: {expr: "[1]"}
        as: n
        nodes:
          - {id: failing, type: mcp, server: fake, tool: failing, args: {n: {expr: $n}, password: {expr: "$.entry.pin"}}}
        next: exit
      - {id: exit, type: exit}
`

// oneFails fails calls of one tool.
type oneFails struct{ calledTools }

func (c *oneFails) CallTool(ctx context.Context, info *callinfo.Info, server, tool string, args value.Value) (graph.ToolResult, error) {
	if tool == "failing" {
		return graph.ToolResult{Attempts: 1}, errors.New("no")
	}
	return c.calledTools.CallTool(ctx, info, server, tool, args)
}

// TestShortSecretArgumentsAreHiddenInTheirPlace follows secrets that are too short to be
// looked for in all texts: what shows arguments leaves them out.
func TestShortSecretArgumentsAreHiddenInTheirPlace(t *testing.T) {
	t.Parallel()
	for _, content := range []bool{false, true} {
		const pin, password = "4711", "hunter2"
		spans := tracetest.NewSpanRecorder()
		tel, err := telemetry.New(telemetry.Options{Tracers: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)), Content: content})
		if err != nil {
			t.Fatal(err)
		}
		e := mustLoad(t, takesShortSecrets, mcpgraph.WithCaller(&oneFails{}), mcpgraph.WithTelemetry(tel))
		var asked, traced strings.Builder
		_, err = e.Call(context.Background(), "pay", map[string]any{"pin": pin, "password": password}, mcpgraph.WithCallHooks(executor.Hooks{
			NodeDone: func(_ context.Context, run *executor.Run, rec executor.Record) {
				rec = run.MaskedRecord(rec)
				traced.WriteString(rec.Value().JSON())
			},
		}), mcpgraph.WithAsk(func(_ context.Context, q executor.Question) (value.Value, error) {
			asked.WriteString(q.Value.JSON() + q.Arguments.JSON())
			return value.ObjectOf("action", "accept"), nil
		}))
		if err == nil {
			t.Fatal("the call did not fail")
		}
		sent := ""
		for _, s := range spans.Ended() {
			sent += s.Status().Description
			for _, a := range s.Attributes() {
				sent += fmt.Sprintf("%s=%s\n", a.Key, a.Value.String())
			}
			for _, event := range s.Events() {
				for _, a := range event.Attributes {
					sent += fmt.Sprintf("%s=%s\n", a.Key, a.Value.String())
				}
			}
		}
		for what, text := range map[string]string{"error": err.Error(), "question": asked.String(), "records": traced.String(), "spans": sent} {
			if strings.Contains(text, pin) || strings.Contains(text, password) {
				t.Errorf("%s: a secret stands in %s", what, text)
			}
			if shows := what != "spans" || content; strings.Contains(text, "[redacted]") != shows {
				t.Errorf("%s: masked arguments are shown: %t, want %t: %s", what, !shows, shows, text)
			}
		}
	}
}
