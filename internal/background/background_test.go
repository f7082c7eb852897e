package background_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/background"
	"github.com/mcpgraph/mcpgraph/internal/virtualtime"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/scheduler"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// shared is something of the process, as engines have it.
var shared = scheduler.New()

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
		if err := use(order, parts[name]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
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
