package engine

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"weak"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const askFile = `
version: "1.0"
server: {name: t, version: "1"}
tools:
  - name: ask
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: both}
      - {id: both, type: parallel, branches: {one: [{id: sure, type: ask, message: Sure?}]}, next: exit}
      - {id: exit, type: exit}
`

// parkedSecrets are the secrets of one request.
type parkedSecrets string

func (parkedSecrets) Learn(...string)          {}
func (parkedSecrets) LearnArguments(...string) {}
func (s parkedSecrets) Text(text string) string {
	return strings.ReplaceAll(text, string(s), "[redacted]")
}
func (parkedSecrets) Empty() bool { return false }

func askEngine(t *testing.T) *Engine {
	t.Helper()
	e, err := New(context.Background(), "ask.yaml", Options{
		Getenv: func(string) (string, bool) { return "", false }, Log: slog.New(slog.DiscardHandler), Runs: runs.New(runs.Limits{}),
		Read: func(string) ([]byte, error) { return []byte(askFile), nil },
		Lock: LockOptions{Mode: lock.Off},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// TestParkedCallForgetsItsRequest looks what a call keeps alive while it waits.
func TestParkedCallForgetsItsRequest(t *testing.T) {
	e := askEngine(t)
	const big = 32 << 20
	call := func(arguments int) (string, weak.Pointer[callinfo.Info]) {
		message, err := value.ParseLazy(`{"arguments":{"file":"` + strings.Repeat("a", arguments) + `"},"other":"` + strings.Repeat("x", big) + `"}`)
		if err != nil {
			t.Fatal(err)
		}
		info := &callinfo.Info{Meta: message}
		result, err := e.Current().Call(context.Background(), info, "ask", message.Get("arguments"), CallOptions{Park: true})
		if !errors.Is(err, executor.ErrParked) {
			t.Fatal(err)
		}
		return result.State.ID, weak.Make(info)
	}
	for _, arguments := range []int{100, 2000} { // decoded at once, and when they are read
		before := testscale.Heap()
		id, info := call(arguments)
		if held := testscale.Heap() - before; info.Value() != nil || held > big/2 {
			t.Errorf("a parked call with arguments of %d bytes holds %d bytes more; its info is kept: %v", arguments, held, info.Value() != nil)
		}
		if err := e.Local().Cancel(t.Context(), runs.Who{Operator: true}, id); err != nil || e.Local().Waiting() != 0 {
			t.Error(err)
		}
	}
}

// TestSecretsOfEachRequestAreTakenOut goes on with a call with other credentials.
func TestSecretsOfEachRequestAreTakenOut(t *testing.T) {
	e := askEngine(t)
	result, err := e.Current().Call(context.Background(), &callinfo.Info{Secrets: parkedSecrets("first")}, "ask", nil, CallOptions{Park: true})
	if !errors.Is(err, executor.ErrParked) {
		t.Fatal(err)
	}
	id := result.State.ID
	if _, err := e.Current().Resume(context.Background(), &callinfo.Info{Secrets: parkedSecrets("second")}, id, CallOptions{Park: true}); !errors.Is(err, executor.ErrParked) {
		t.Fatal(err)
	}
	run, ok := e.Runs().Find(id)
	if !ok {
		t.Fatal("the run is not known")
	}
	if _, redact, _ := run.Live(); redact("first, second") != "[redacted], [redacted]" {
		t.Errorf("kept %q", redact("first, second"))
	}
}
