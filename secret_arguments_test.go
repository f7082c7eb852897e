package mcpgraph_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
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
