package engine

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestCompileText(t *testing.T) {
	const head = `
version: "1.0"
server: {name: t, version: "1"}
mcpServers: {one: {command: one}, two: {command: two}}
tools:
`
	const tool = `
  - name: double
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: d}
      - {id: d, type: transform, transform: {expr: $.entry.n * 2}, next: exit}
      - {id: exit, type: exit}
`
	read := func(path string) ([]byte, error) {
		if path != "t.yaml" {
			return nil, fs.ErrNotExist
		}
		return []byte(head + "  []\n"), nil
	}
	e, err := New(context.Background(), "t.yaml", Options{
		Log: slog.New(slog.DiscardHandler), Runs: runs.New(runs.Limits{}), Read: read, ServersOnly: true,
		Getenv: func(string) (string, bool) { return "", false },
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.CompileText(context.Background(), []byte(head+tool))
	if err != nil {
		t.Fatal(err)
	}
	args, _ := value.Parse(`{"n": 4}`)
	r, err := p.Call(t.Context(), nil, "double", args, CallOptions{})
	if err != nil || r.Value.JSON() != "8" {
		t.Errorf("got %v, %v", r, err)
	}
	for _, name := range []string{"one", "two"} {
		if !p.Pool().Has(name, e.Current().Pool()) {
			t.Errorf("the program has a server %s of its own", name)
		}
	}
	if e.Current().Has("double") {
		t.Error("the current program has changed")
	}
	p.Release()
	var load *LoadError
	if _, err := e.CompileText(context.Background(), []byte(head+"  - 1\n")); !errors.As(err, &load) {
		t.Errorf("got %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.CompileText(context.Background(), []byte(head+tool)); !errors.Is(err, errClosed) {
		t.Errorf("got %v", err)
	}
}
