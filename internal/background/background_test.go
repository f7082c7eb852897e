package background_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/background"
	"github.com/mcpgraph/mcpgraph/internal/language"
	"github.com/mcpgraph/mcpgraph/internal/virtualtime"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/scheduler"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry/exporters"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// What engines of one process share, as mcpgraph serve and mcpgraph toolkit have it. It is
// made with the process.
var (
	shared = scheduler.New()
	budget = memory.New(256 << 20)
	kept   = runs.New(runs.Limits{Memory: budget})
)

// parts are what a process starts when it needs it for the first time. Each uses it.
var parts = map[string]func() error{
	"regular expressions": func() error {
		// Both need backtracking: the lookahead, and a character beyond U+FFFF.
		for _, source := range []string{`$match("aab", /a(?=b)/).match`, `$match("x\uD83D\uDE00", /x./).match`} {
			program, err := jsonata.Compile(source)
			if err != nil {
				return err
			}
			if _, err := program.Eval(context.Background(), value.Undef, nil); err != nil {
				return err
			}
		}
		return nil
	},
	"resolver": func() error {
		_, err := net.DefaultResolver.LookupHost(context.Background(), "localhost")
		return err
	},
	"processes": func() error {
		p := upstream.New([]*config.Upstream{{Name: "s", Transport: config.Stdio, Command: "true"}}, upstream.Options{})
		_, err := p.Tools(context.Background(), nil, "s")
		if err == nil || !strings.Contains(err.Error(), "ended") && !strings.Contains(err.Error(), "exit") {
			return fmt.Errorf("got %v", err)
		}
		return p.Close(context.Background())
	},
	"scheduler": func() error {
		task := shared.Task("caller")
		for range 100 {
			task.Yield(context.Background())
		}
		task.Release()
		return nil
	},
	"memory": func() error {
		account := budget.Account("caller")
		defer account.Close()
		return account.Grow(16 << 20) // enough to begin the timer that gives memory back to the system
	},
	"kept runs": func() error {
		before := len(kept.All())
		if err := call(file, mcpgraph.WithRuns(kept), mcpgraph.WithMemory(budget)); err != nil {
			return err
		}
		if n := len(kept.All()) - before; n != 1 {
			return fmt.Errorf("%d runs were kept", n)
		}
		return nil
	},
	"telemetry": func() error { return call(file, mcpgraph.WithTelemetry(process.telemetry)) },
	"caches and limits": func() error {
		inner, err := mcpgraph.LoadBytes("inner.yaml", []byte(file))
		if err != nil {
			return err
		}
		defer inner.Close()
		return call(fmt.Sprintf(calling, "command: none"), mcpgraph.WithServer("up", inner.ServeStdio))
	},
	"connections": func() error {
		return call(fmt.Sprintf(calling, "url: "+process.web.URL+"/mcp"))
	},
	"schemas": func() error {
		source, err := value.Parse(`{"type": "object", "properties": {"at": {"format": "date-time"}, "name": {"pattern": "^a(?=b)"}}}`)
		if err != nil {
			return err
		}
		schema, err := graph.NewSchema(source)
		if err != nil {
			return err
		}
		v, err := value.Parse(`{"at": "2026-01-02T03:04:05Z", "name": "ab"}`)
		return errors.Join(err, schema.ValidateContext(context.Background(), v))
	},
	"dates and words": func() error {
		program, err := jsonata.Compile(`[$fromMillis(0, "[D1o] [MNn] [Y]"), $toMillis("2 January 1970", "[D1] [MNn] [Y]"), $formatInteger(21, "w"), $parseInteger("twenty-one", "w")]`)
		if err == nil {
			_, err = program.Eval(context.Background(), value.Undef, nil)
		}
		return err
	},
	"editing": func() error {
		if _, err := edit.Format("tools.yaml", []byte(file)); err != nil {
			return err
		}
		d := language.New("tools.yaml", file, language.Options{Read: os.ReadFile, Getenv: os.LookupEnv, Config: true}, nil)
		if items, _ := language.Complete(d, len(file)); len(d.Diagnostics) > 0 || len(items) == 0 {
			return fmt.Errorf("%d items, %v", len(items), d.Diagnostics)
		}
		return nil
	},
	"engine": func() error {
		dir, err := os.MkdirTemp("", "background")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, "tools.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			return err
		}
		e, err := mcpgraph.Load(path)
		if err != nil {
			return err
		}
		if _, err = e.Call(context.Background(), "t", map[string]any{"text": "aab"}); err != nil {
			return err
		}
		return e.Close()
	},
}

// call calls the tool t of a file.
func call(text string, opts ...mcpgraph.Option) error {
	e, err := mcpgraph.LoadBytes("tools.yaml", []byte(text), opts...)
	if err != nil {
		return err
	}
	_, err = e.Call(context.Background(), "t", map[string]any{"text": "aab"})
	return errors.Join(err, e.Close())
}

// calling has a tool that calls the tool t of a server, with all that stands between.
const calling = `version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  up: {%s, cache: {ttlMs: 60000, tools: ["*"]}, retry: {maxAttempts: 2}, rateLimit: {limit: 100, periodMs: 1000}, circuitBreaker: {failureThreshold: 5}}
tools:
  - name: t
    description: d
    inputSchema: {type: object, properties: {text: {type: string}}}
    nodes:
      - {id: entry, type: entry, next: first}
      - {id: first, type: mcp, server: up, tool: t, args: {text: {expr: $.entry.text}}, next: again}
      - {id: again, type: mcp, server: up, tool: t, args: {text: {expr: $.entry.text}}, next: exit}
      - {id: exit, type: exit}
`

const file = `version: "1.0"
server: {name: t, version: "1"}
tools:
  - name: t
    description: d
    inputSchema: {type: object, properties: {text: {type: string, pattern: "a(?=b)"}}}
    nodes:
      - {id: entry, type: entry, next: wait}
      - {id: wait, type: wait, ms: 10, next: look}
      - {id: look, type: transform, transform: {expr: '$match($.entry.text, /a(?=b)/).match'}, next: exit}
      - {id: exit, type: exit}
`

const variable = "BACKGROUND_TEST"

func TestMain(m *testing.M) {
	if order, name, ok := strings.Cut(os.Getenv(variable), " "); ok {
		err := process.start()
		if err == nil {
			err = errors.Join(use(order, parts[name]), process.end(name))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process is what a program sets up before it runs anything, and a server for it.
var process program

type program struct {
	web       *httptest.Server // an MCP server, and a collector of spans
	spans     atomic.Int64     // requests to the collector
	exporters *exporters.Exporters
	telemetry *telemetry.Telemetry
}

func (p *program) start() error {
	inner, err := mcpgraph.LoadBytes("inner.yaml", []byte(file))
	if err != nil {
		return err
	}
	handler, err := inner.Handler(server.HTTPOptions{})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	mux.HandleFunc("/v1/", func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/traces") {
			p.spans.Add(1)
		}
	})
	p.web = httptest.NewServer(mux)
	for name, v := range map[string]string{"ENDPOINT": p.web.URL, "PROTOCOL": "http/protobuf"} {
		if err := os.Setenv("OTEL_EXPORTER_OTLP_"+name, v); err != nil {
			return err
		}
	}
	if p.exporters, err = exporters.FromEnvironment(context.Background(), exporters.Options{}); err != nil {
		return err
	}
	p.telemetry, err = telemetry.New(telemetry.Options{Tracers: p.exporters.Tracers, Meters: p.exporters.Meters, Logs: p.exporters.Logs})
	return err
}

// end sends what has not been sent, as programs do.
func (p *program) end(part string) error {
	err := p.exporters.Shutdown(context.Background())
	if p.web.Close(); err == nil && part == "telemetry" && p.spans.Load() == 0 {
		err = errors.New("the collector got no span")
	}
	return err
}

// use uses a part of a new process in bubbles (b) and outside of them (o).
func use(order string, part func() error) error {
	for i, where := range order {
		var err error
		if where == 'b' {
			if broken := virtualtime.Run(func() { err = part() }); broken != nil {
				return fmt.Errorf("step %d: %w", i, broken)
			}
		} else {
			err = part()
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}

// TestNothingOfTheProcessIsBornInABubble starts each part first in a bubble of virtual
// time, and first outside.
func TestNothingOfTheProcessIsBornInABubble(t *testing.T) {
	t.Parallel()
	for name := range parts {
		for _, order := range []string{"bobo", "obob"} {
			t.Run(name+" "+order, func(t *testing.T) {
				t.Parallel()
				child := exec.CommandContext(t.Context(), os.Args[0])
				child.Env = append(os.Environ(), variable+"="+order+" "+name)
				if out, err := child.CombinedOutput(); err != nil {
					t.Errorf("%v: %.3000s", err, out)
				}
			})
		}
	}
}

func TestWhatIsStartedOutlivesTheBubble(t *testing.T) {
	t.Parallel()
	began, ticks := time.Now(), make(chan time.Time)
	err := virtualtime.Run(func() {
		background.Do(func() {
			go func() {
				for range 2 {
					time.Sleep(time.Millisecond)
					ticks <- time.Now()
				}
			}()
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if at := <-ticks; at.Before(began) {
			t.Errorf("it is %v there", at)
		}
	}
	if err := virtualtime.Run(func() { background.Do(func() {}) }); errors.Is(err, virtualtime.ErrDeadlock) {
		t.Error(err)
	}
}
