package console_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/console"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const file = `version: "1.0"
server: {name: t, version: "1"}
mcpServers: {fake: {command: none}}
tools:
  - name: report
    description: Reports
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: sizes}
      - id: sizes
        type: map
        items: {expr: $.entry.names}
        maxConcurrency: 1
        nodes:
          - {id: info, type: mcp, server: fake, tool: stat, args: {name: {expr: $item}}, next: double}
          - {id: double, type: transform, transform: {expr: $.info.size * 2}}
        next: sum
      - {id: sum, type: call, tool: total, args: {numbers: {expr: $.sizes}}, next: exit}
      - {id: exit, type: exit}
  - name: total
    description: Adds
    inputSchema: {type: object}
    nodes:
      - {id: start, type: entry, next: add}
      - {id: add, type: transform, transform: {expr: "{'sum': $sum($.start.numbers)}"}, next: out}
      - {id: out, type: exit}
  - name: agree
    description: Asks
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: ask}
      - {id: ask, type: ask, message: Sure?, schema: {type: object, properties: {n: {type: integer}}}, next: exit}
      - {id: exit, type: exit}
`

type fake struct{}

func (fake) CallTool(_ context.Context, _ *callinfo.Info, _, _ string, args value.Value) (graph.ToolResult, error) {
	name := args.Get("name").Str()
	if name == "bad" {
		return graph.ToolResult{}, errors.New("no such file")
	}
	size := value.FromEntries([]value.Entry{{Key: "size", Value: value.FromInt(int64(len(name)))}})
	return graph.ToolResult{Reply: value.FromEntries([]value.Entry{{Key: "structuredContent", Value: size}}), Attempts: 1}, nil
}

// buffer is a strings.Builder for several goroutines. changed is told of each write.
type buffer struct {
	mu   sync.Mutex
	text strings.Builder
	seen func(text string)
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Write(p)
	if b.seen != nil {
		b.seen(b.text.String())
	}
	return len(p), nil
}

func load(t *testing.T) *mcpgraph.Engine {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := mcpgraph.Load(path, mcpgraph.WithCaller(fake{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// start begins a session of a tool.
func start(t *testing.T, e *mcpgraph.Engine, tool, args string) *debug.Session {
	t.Helper()
	in, err := value.Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Debug(t.Context(), tool, in, mcpgraph.WithDebug(debug.Options{StartPaused: true, BreakOn: debug.BreakOn{Failure: debug.BreakOnUncaught}}))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// typed runs commands and returns what was said, with the folder of the file left out.
func typed(t *testing.T, tool, args string, commands ...string) (said string, s *debug.Session) {
	t.Helper()
	e := load(t)
	s = start(t, e, tool, args)
	_, sources := e.Diagnostics()
	out := &buffer{}
	err := console.Run(t.Context(), s, console.Options{
		In: strings.NewReader(strings.Join(commands, "\n") + "\n"), Out: out, Width: 80, Sources: sources,
		Clean: func(text string) string { return strings.ReplaceAll(text, "\x1b", "") },
		Answer: func(ctx context.Context, q executor.Question, line func(context.Context, string) (string, error)) (value.Value, error) {
			text, err := line(ctx, q.Value.Get("message").Str()+" ")
			if err != nil {
				return value.Undef, err
			}
			content := value.FromEntries([]value.Entry{{Key: "said", Value: value.FromString(text)}})
			return mcpgraph.Answer(mcpgraph.Accept, content), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(out.text.String(), filepath.Dir(s.Graph().File)+string(filepath.Separator), ""), s
}

// contains checks that texts stand in what was said, in their order.
func contains(t *testing.T, said string, texts ...string) {
	t.Helper()
	rest := said
	for _, one := range texts {
		i := strings.Index(rest, one)
		if i < 0 {
			t.Fatalf("%q is missing, or too early, in:\n%s", one, said)
		}
		rest = rest[i+len(one):]
	}
}

const names = `{"names":["a","bcd","ef"]}`

func TestStepsGoOverIntoAndOut(t *testing.T) {
	said, s := typed(t, "report", names, "s", "si", "where", "up", "vars", "down", "vars", "so", "si", "args", "", "args", "so", "c")
	contains(t, said,
		"> entry (entry) at t.yaml:9 (start)\n=>    9        - {id: entry", "  entry → "+names, "> sizes (map) at t.yaml:10 (step)",
		"> sizes[0].info (mcp, fake.stat) at t.yaml:15 (step)",
		"*0  sizes[0].info (mcp, fake.stat) at t.yaml:15\n 1  sizes (map) at t.yaml:10\n",
		"*1  sizes (map)", "there are no variables here", "*0  sizes[0].info", `$item: "a"`,
		"  sizes → [2,6,4]", "> sum (call, tool total) at t.yaml:18 (step)",
		"> sum>start (entry) at t.yaml:24 (step)", `the entry of tool "total" has not run yet; type step`,
		"> sum>add (transform)", `{"numbers":[2,6,4]}`, "> exit (exit)", "(debug) c")
	if result, err := s.Wait(t.Context()); err != nil || result.JSON() != `{"sum":12}` {
		t.Errorf("%s, %v", result.JSON(), err)
	}
}

func TestBreakpoints(t *testing.T) {
	said, _ := typed(t, "report", names, "break tools on", "bl", "s", "c", "break tools off", "c")
	contains(t, said, "     failures: uncaught\n     tools: each that is entered", "> sum>start (entry) at t.yaml:24 (entered the tool)")
	said, s := typed(t, "report", names,
		"b info when $item = 'bcd'", "b double hit 3", "b sum log {$sum($.sizes)} of {$count($.sizes)}",
		"c", "p\t$item", "c", "p $.info", "clear 1", "clear double", "clear double", "bl", "c")
	contains(t, said,
		"> sizes[1].info (mcp, fake.stat) at t.yaml:15 (breakpoint)", `"bcd"`, "> sizes[2].double", `{"size":2}`,
		"error: there is no breakpoint double; type breakpoints for the list",
		"  1  sum log {$sum($.sizes)} of {$count($.sizes)}", "  sum: 12 of 3\n")
	if _, err := s.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestValuesCanBeChanged(t *testing.T) {
	said, s := typed(t, "report", names, "pin info {\"size\": 10}", "runto sum", "set sizes [1, 2]", "p $.sizes", "unpin info", "c")
	contains(t, said, `info yields {"size":10} without being executed, until unpin info`, "> sum (call", "[1,2]")
	if result, err := s.Wait(t.Context()); err != nil || result.JSON() != `{"sum":3}` {
		t.Errorf("%s, %v", result.JSON(), err)
	}
}

func TestFailuresPauseTheRun(t *testing.T) {
	said, s := typed(t, "report", `{"names":["a","bad"]}`, "c", "p $item", "records", "records 2", "c")
	contains(t, said, "  failed: node \"sizes[1].info\" (mcp", "> sizes[1].info (mcp, fake.stat) at t.yaml:15 (failed)", `"bad"`,
		"    1  sizes (map) opened", "failed: ", `"reply": {`, `"structuredContent"`)
	if _, err := s.Wait(t.Context()); err == nil || s.State().Status != debug.StatusFailed {
		t.Errorf("%v, %v", err, s.State().Status)
	}
}

func TestErrorsNameWhatToType(t *testing.T) {
	said, s := typed(t, "report", names,
		"stp", "s now", "x", "st", "break", "break nope", "break info now", "break info hit 0", "break info hit", "break info when $item +", "break info when $itm",
		"break failures some", "break tools maybe", "clear", "clear 7", "runto", "runto nope", "print", "p $.entry +", "p $.a.b", "set", "set entry", "set entry {", "set nope 1",
		"pin", "pin sum", "pin sum x", "unpin", "unpin sum", "records 99", "records x", "list nope", "up", "down", "so", "help nope", "continue sum", "set entry 1", "where 3",
		strings.Repeat("x", 5000), "\x1b[2J\x00\xff", "# a comment", "quit")
	for _, want := range []string{
		`unknown command "stp"; did you mean "step"?`, `unexpected "now"; type the command alone`, `unknown command "x"; type help for the commands`,
		`"st" begins several commands: type one of "step", "stepin", "stepout" or "stop"`,
		"missing node; type break NODE, break NODE hit N", `unknown node "nope" in tool "report"`, `unexpected "now"`, `hit "0" is not a number from 1 on`, `missing value behind "hit"`, `missing value behind "now"`,
		"when: the expression ends", `did you mean`, `unknown failures "some"; type break failures any, uncaught or none`, "type break tools on, or break tools off",
		"missing breakpoint; type clear N", "there are no breakpoints", "missing node; type runto NODE", "missing expression; type print EXPR",
		"  $.entry +\n           ^\nerror: the expression ends where a value was expected", "undefined: there is no such value here",
		"missing node; type set NODE JSON", "missing value; type set NODE JSON", "the value is not JSON", "missing node; type pin NODE JSON", `node "sum" has no output here; type pin sum JSON`,
		"strings need quotes; type pin NODE JSON", "missing node; type unpin NODE", "there is no record 99; type records for the list", "there is no record x",
		"this is the outermost frame", "this is the innermost frame", "cannot stepOut", "to run to a node, type runto sum", "cannot set the output", `unexpected "3"; type where alone`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in:\n%s", want, said)
		}
	}
	if strings.ContainsAny(said, "\x1b") {
		t.Error("control characters reach the terminal")
	}
	if _, err := s.Wait(t.Context()); err == nil || s.State().Status != debug.StatusStopped {
		t.Errorf("%v, %v", err, s.State().Status)
	}
}

func TestEveryCommandHasHelp(t *testing.T) {
	said, _ := typed(t, "report", names, "help", "help break", "h s")
	contains(t, said, "  step, s  ", "  quit, q  ", "An empty line repeats the last step.", "break NODE [hit N]", "step, s")
}

func TestQuestionsAreAnsweredAtThePrompt(t *testing.T) {
	said, s := typed(t, "agree", `{}`, "c", "certainly")
	contains(t, said, "(debug) c\n", "Sure? certainly\n")
	if result, err := s.Wait(t.Context()); err != nil || result.JSON() != `{"said":"certainly"}` {
		t.Errorf("%s, %v", result.JSON(), err)
	}
	// The end of the input stops the run.
	_, s = typed(t, "agree", `{}`, "c")
	if _, err := s.Wait(t.Context()); err == nil || s.State().Status != debug.StatusStopped {
		t.Errorf("%v, %v", err, s.State().Status)
	}
}

func TestTheEndOfTheInputStopsTheRun(t *testing.T) {
	said, s := typed(t, "report", names, "s")
	if _, err := s.Wait(t.Context()); err == nil || s.State().Status != debug.StatusStopped || !strings.HasSuffix(said, "(debug) \n") {
		t.Errorf("%v, %v: %s", err, s.State().Status, said)
	}
}

func TestALineWithoutEndIsRefused(t *testing.T) {
	s := start(t, load(t), "report", names)
	err := console.Run(t.Context(), s, console.Options{
		In: io.MultiReader(strings.NewReader(strings.Repeat("x", 2<<20))), Out: io.Discard, Width: 80, Clean: func(s string) string { return s },
	})
	if err == nil || err.Error() != "a command is longer than 1048576 bytes" {
		t.Errorf("got %v", err)
	}
}

func TestInterruptsPauseAndStop(t *testing.T) {
	e := load(t)
	s := start(t, e, "agree", `{}`)
	in, typing := io.Pipe()
	defer typing.Close()
	interrupts := make(chan struct{}, 2)
	step := 0
	out := &buffer{}
	out.seen = func(text string) {
		switch {
		case step == 0 && strings.HasSuffix(text, "(debug) "):
			step++
			go func() { _, _ = io.WriteString(typing, "c\n") }()
		case step == 1 && strings.HasSuffix(text, "Sure? "):
			step++
			interrupts <- struct{}{}
		case step == 2 && strings.Contains(text, "> ask (ask) at") && strings.HasSuffix(text, "(debug) "):
			step++
			interrupts <- struct{}{}
			interrupts <- struct{}{}
		}
	}
	err := console.Run(t.Context(), s, console.Options{
		In: in, Out: out, Interactive: true, Width: 80, Interrupts: interrupts, Clean: func(s string) string { return s },
		Answer: func(ctx context.Context, q executor.Question, line func(context.Context, string) (string, error)) (value.Value, error) {
			_, err := line(ctx, "Sure? ")
			return value.Undef, err
		},
	})
	if _, failed := s.Wait(t.Context()); err != nil || failed == nil || s.State().Status != debug.StatusStopped || step != 3 {
		t.Errorf("%v, %v, step %d: %s", err, failed, step, out.text.String())
	}
	if !strings.Contains(out.text.String(), "Press Ctrl-C again, or type quit, to stop the run.") {
		t.Errorf("%s", out.text.String())
	}
}
