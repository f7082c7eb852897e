//go:build unix

package mcpgraph_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const wrongArguments = `version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  fake: {command: none, retry: {maxAttempts: 3}, circuitBreaker: {failureThreshold: 1}}
tools:
  - name: missing
    description: Sends no path
    inputSchema: {type: object, properties: {zz: {type: string}}}
    nodes:
      - {id: entry, type: entry, next: read}
      - id: read
        type: mcp
        server: fake
        tool: read
        args:
          path: {expr: entry.zz}
          token: hunter2
        retry: {maxAttempts: 3, initialDelayMs: 1}
        next: exit
      - {id: exit, type: exit}
  - name: wrong
    description: Sends a wrong token
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: read}
      - {id: read, type: mcp, server: fake, tool: read, args: {path: p, token: {expr: "'hunter2' & 'xy'"}}, next: exit, catch: [{errors: [arguments], next: told}]}
      - {id: told, type: transform, transform: {expr: $.read.error}, next: exit}
      - {id: exit, type: exit}
  - name: good
    description: Leaves out what has a default, and an optional argument
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: read}
      - {id: read, type: mcp, server: fake, tool: read, args: {path: p, depth: {expr: entry.depth}}, next: exit}
      - {id: exit, type: exit}
`

const declaredSecrets = `version: "1.0"
server: {name: t, version: "1"}
tools:
  - name: login
    description: Sends what the upstream tool declares as secrets
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: made}
      - {id: made, type: transform, transform: {expr: "'staple-' & 'of-the-phrase'"}, next: read}
      - {id: read, type: mcp, server: fake, tool: read, args: {path: p, pin: "9182", in: {phrase: {expr: $.made}}}, next: exit}
      - {id: exit, type: exit}
`

// TestUpstreamToolsDeclareSecretArguments sends arguments that the schema of an upstream
// tool declares as secrets.
func TestUpstreamToolsDeclareSecretArguments(t *testing.T) {
	t.Parallel()
	const phrase, pin = "staple-of-the-phrase", "9182"
	var calls atomic.Int64
	var log lockedText
	engine := lockedFile(t, declaredSecrets, fakeReader(&calls), mcpgraph.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	info := &callinfo.Info{}
	_, err := engine.Call(context.Background(), "login", nil, mcpgraph.WithCallInfo(info))
	if err == nil || calls.Load() != 1 {
		t.Fatalf("%d calls, %v", calls.Load(), err)
	}
	if got := engine.SecretArguments(nil, "fake", "read", value.FromEntries([]value.Entry{{Key: "in", Value: value.FromEntries([]value.Entry{{Key: "phrase", Value: value.FromString(phrase)}})}})); len(got) != 1 || got[0] != phrase {
		t.Errorf("a driver of runs is told of %q", got)
	}
	kept, err2 := engine.Runs().List("")[0].JSON(nil)
	if err2 != nil {
		t.Fatal(err2)
	}
	for what, text := range map[string]string{"error": err.Error(), "kept run": kept, "log": log.String(), "trace": engine.Redact(info, phrase)} {
		if strings.Contains(text, phrase) || what == "kept run" && strings.Contains(text, `"pin":"`+pin) {
			t.Errorf("%s: %s", what, text)
		}
	}
	if want := `"arguments":{"path":"p","pin":"[redacted]","in":{"phrase":"[redacted]"}}`; !strings.Contains(kept, want) || !strings.Contains(kept, `"output":"[redacted]"`) {
		t.Errorf("the kept run lacks %s: %s", want, kept)
	}
}

// fakeReader is a server that takes any arguments and counts its calls.
func fakeReader(calls *atomic.Int64) mcpgraph.Option {
	script := mcptest.Script{Tools: []mcptest.Tool{{
		Name: "read",
		InputSchema: json.RawMessage(`{"type":"object","required":["path","mode"],"properties":{` +
			`"path":{"type":"string"},"mode":{"type":"string","default":"r"},"depth":{"type":"integer"},"token":{"type":"string","maxLength":7},` +
			`"pin":{"type":"string","writeOnly":true},"in":{"type":"object","properties":{"phrase":{"format":"password"}}}}}`),
		Func: func(args json.RawMessage) (json.RawMessage, error) {
			calls.Add(1)
			if strings.Contains(string(args), "phrase") {
				return nil, errors.New("refused " + string(args))
			}
			return mcptest.Text("done"), nil
		},
	}}}
	return mcpgraph.WithServer("fake", func(ctx context.Context, in io.Reader, out io.Writer) error {
		conn, err := script.Dial(ctx)
		if err != nil {
			return err
		}
		go func() {
			_, _ = io.Copy(conn, in)
			conn.Close()
		}()
		_, err = io.Copy(out, conn)
		return err
	})
}

// TestArgumentsAreCheckedBeforeTheyAreSent calls a server that accepts what its own schema
// does not allow.
func TestArgumentsAreCheckedBeforeTheyAreSent(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	text := strings.Replace(wrongArguments, "mcpServers:\n  fake: {command: none, retry: {maxAttempts: 3}, circuitBreaker: {failureThreshold: 1}}\n", "", 1)
	engine := lockedFile(t, text, fakeReader(&calls))
	var records []executor.Record
	hooks := mcpgraph.WithCallHooks(executor.Hooks{NodeDone: func(_ context.Context, _ *executor.Run, rec executor.Record) {
		if rec.Node == "read" {
			records = append(records, rec)
		}
	}})
	_, err := engine.Call(context.Background(), "missing", nil, hooks)
	f := executor.FailureOf(err)
	var at *executor.NodeError
	if err == nil || f.Name != graph.FailArguments || !errors.As(err, &at) || calls.Load() != 0 || f.Attempts != 0 {
		t.Fatalf("%d calls, %d attempts, failure %v", calls.Load(), f.Attempts, err)
	}
	if line := strings.Split(text, "\n")[at.Pos.Line-1]; !strings.HasPrefix(line[at.Pos.Col-1:], "entry.zz") {
		t.Errorf("the place is %s: %s", at.Pos, line)
	}
	const unsent = "path: the expression entry.zz gave nothing"
	for _, want := range []string{`missing required property "path"`, unsent} {
		if !strings.Contains(f.Message, want) || strings.Count(err.Error(), want) != 1 {
			t.Errorf("no %s in %s or %s", want, f.Message, err)
		}
	}
	if got := f.Data.JSON(); got != `{"arguments":["path"]}` {
		t.Errorf("data %s", got)
	}
	if len(records) != 1 || len(records[0].Unsent) != 1 || records[0].Unsent[0] != unsent {
		t.Fatalf("records %+v", records)
	}
	again, err := executor.RecordFrom(mustGraph(t, engine, "missing"), records[0].Value())
	if err != nil || len(again.Unsent) != 1 || !strings.Contains(executor.FailureOf(again.Err).Message, unsent) || strings.Count(again.Err.Error(), unsent) != 1 {
		t.Errorf("read again: %+v, %v", again, err)
	}
	kept, err := engine.Runs().List("")[0].JSON(nil)
	if err != nil || !strings.Contains(kept, `"unsent":["`+unsent+`"]`) {
		t.Errorf("the kept run is %s, %v", kept, err)
	}

	records = nil
	result, err := engine.Call(context.Background(), "wrong", nil, hooks)
	if err != nil || calls.Load() != 0 {
		t.Fatalf("%d calls, %v", calls.Load(), err)
	}
	got := string(result.JSON())
	if strings.Contains(got, "hunter2") || !strings.Contains(got, `token: expected a string of at most 7 characters, found a string`) {
		t.Errorf("the failure is %s", got)
	}

	if _, err := engine.Call(context.Background(), "good", nil, hooks); err != nil || calls.Load() != 1 {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
	if last := records[len(records)-1]; len(last.Unsent) != 1 || last.Unsent[0] != "depth: the expression entry.depth gave nothing" {
		t.Errorf("the record of the good call has %q", last.Unsent)
	}
}

func mustGraph(t *testing.T, e *mcpgraph.Engine, tool string) *graph.Graph {
	t.Helper()
	g, err := e.Graph(tool)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestNobodyApprovesWhatIsNotSent calls a tool that needs approval with arguments that do
// not fit it, and a tool that is not locked.
func TestNobodyApprovesWhatIsNotSent(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	text := strings.Replace(wrongArguments, "fake: {command: none,", "fake: {command: none, requireApproval: ['*'],", 1)
	engine := lockedFile(t, text, fakeReader(&calls))
	asked := 0
	ask := mcpgraph.WithAsk(func(context.Context, executor.Question) (value.Value, error) {
		asked++
		return mcpgraph.Answer(mcpgraph.Accept, value.Undef), nil
	})
	_, err := engine.Call(context.Background(), "missing", nil, ask)
	var at *executor.NodeError
	if f := executor.FailureOf(err); f.Name != graph.FailArguments || asked != 0 || calls.Load() != 0 {
		t.Errorf("%d questions, %d calls, failure %v", asked, calls.Load(), err)
	} else if !errors.As(err, &at) || at.Arguments.IsUndefined() || !strings.HasPrefix(strings.Split(text, "\n")[at.Pos.Line-1][at.Pos.Col-1:], "entry.zz") {
		t.Errorf("the failure has no place or arguments: %v", err)
	}
	if err := engine.CheckLocked(context.Background(), "fake", "read", value.FromEntries(nil)); executor.FailureOf(err).Name != graph.FailArguments {
		t.Errorf("CheckLocked: %v", err)
	}
	if err := engine.CheckLocked(context.Background(), "fake", "other", value.FromEntries(nil)); err == nil {
		t.Error("a tool that is not locked may be called")
	}
	if _, err := engine.Call(context.Background(), "good", nil, ask); err != nil || asked != 1 || calls.Load() != 1 {
		t.Errorf("%d questions, %d calls, %v", asked, calls.Load(), err)
	}
}
