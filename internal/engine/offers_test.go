package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// offersHead has tools that prompts call: each counts as one call.
const offersHead = `
version: "1.0"
server: {name: t, version: "1"}
executionLimits: {maxNodeExecutions: 60}
tools:
  - name: double
    description: d
    private: true
    inputSchema: {type: object, properties: {n: {type: string}}, required: [n]}
    nodes:
      - {id: entry, type: entry, next: d}
      - {id: d, type: transform, transform: {expr: '{"twice": $.entry.n & $.entry.n}'}, next: exit}
      - {id: exit, type: exit}
  - name: slow
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: wait}
      - {id: wait, type: wait, ms: 300, next: list}
      - {id: list, type: transform, transform: {expr: '["a"]'}, next: exit}
      - {id: exit, type: exit}
  - name: refuse
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: which}
      - {id: which, type: switch, conditions: [{rule: {var: $.entry.fine}, next: exit}], next: no}
      - {id: no, type: fail, error: refused, message: not today}
      - {id: exit, type: exit}
`

func program(t *testing.T, text string) *Program {
	t.Helper()
	e, err := New(context.Background(), "t.yaml", Options{
		Log: slog.New(slog.DiscardHandler), Runs: runs.New(runs.Limits{}), Getenv: func(string) (string, bool) { return "", false },
		Read: func(path string) ([]byte, error) {
			if path != "t.yaml" {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e.Current()
}

// kinds counts the executions of a run outside of called tools, by the type of node.
func kinds(r *executor.Run) map[string]int {
	all := map[string]int{}
	for rec := range r.Records(0) {
		if rec.Frame == "" && rec.Event == executor.Done {
			all[rec.Kind]++
		}
	}
	return all
}

func TestMessagesCallToolsOnceForEachArguments(t *testing.T) {
	t.Parallel()
	p := program(t, offersHead+`
prompts:
  - name: review
    arguments: [{name: number, required: true}, {name: tone}]
    messages:
      - {role: user, text: {expr: '$call("double", {"n": number}).twice & $call("double", {"n": number}).twice & tone'}}
      - {role: assistant, text: {expr: '$join($map(["x", "y", "x"], function($v) { $call("double", {"n": $v}).twice }))'}}
      - {role: user, text: {expr: '{"late": $call("double", {"n": $string($millis() + $random())}).twice ~> $length() > 2}'}}
      - {role: user, content: {type: image, data: {expr: $base64encode(number)}, mimeType: image/png}}
`)
	args, _ := value.Parse(`{"number": "3"}`)
	r, err := p.Call(t.Context(), nil, "prompts/review", args, CallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"messages":[{"role":"user","content":{"type":"text","text":"3333"}},` +
		`{"role":"assistant","content":{"type":"text","text":"xxyyxx"}},` +
		`{"role":"user","content":{"type":"text","text":"{\"late\":true}"}},` +
		`{"role":"user","content":{"type":"image","data":"Mw==","mimeType":"image/png"}}]}`
	if got := r.Value.JSON(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := fmt.Sprint(kinds(r.Run)); got != "map[call:4 entry:1 exit:1 messages:5]" {
		t.Errorf("executions: %s", got)
	}
	if list := p.opts.Runs.List(""); len(list) != 1 || list[0].Graph().Name != "prompts/review" {
		t.Errorf("kept runs: %v", list)
	}
}

func TestMessagesFailAsTheirCallsDo(t *testing.T) {
	t.Parallel()
	p := program(t, offersHead+`
prompts:
  - {name: refused, messages: [{role: user, text: {expr: $call("refuse")}}]}
  - {name: wrong, messages: [{role: user, text: {expr: '$call("double", {"m": 1})'}}]}
  - {name: computed, messages: [{role: user, text: {expr: '($f := $call; $f("slow", {}))'}}]}
  - {name: endless, messages: [{role: user, text: {expr: '$map([1..100], function($i) { $call("double", {"n": $string($i)}) })'}}]}
  - {name: broken, messages: [{role: user, text: {expr: '1 + "a"'}}]}
  - {name: block, messages: [{role: user, content: {type: image, data: {expr: '1'}, mimeType: image/png}}]}
`)
	for name, want := range map[string]string{
		"refused":  "not today",
		"wrong":    `the arguments do not match the inputSchema of tool "double"`,
		"computed": `$call needs the name of the tool as a literal text`,
		"endless":  "maximum node executions (60) reached",
		"broken":   "T2002",
		"block":    `the data of a block of type "image" must be a string`,
	} {
		r, err := p.Call(t.Context(), nil, "prompts/"+name, nil, CallOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
		if r == nil || !r.Value.IsUndefined() {
			t.Errorf("%s: got a result", name)
		}
	}
}

func TestResultsOfPromptsAndResources(t *testing.T) {
	t.Parallel()
	text := offersHead + "prompts:\n"
	nodes := func(expr string) string {
		return fmt.Sprintf(`[{id: entry, type: entry, next: make}, {id: make, type: transform, transform: {expr: %q}, next: exit}, {id: exit, type: exit}]`, expr)
	}
	type outcome struct{ expr, want, wrong string }
	message := func(text string) string {
		return `{"role":"user","content":{"type":"text","text":"` + text + `"}}`
	}
	prompts := []outcome{
		{`"hi"`, `{"messages":[` + message("hi") + `]}`, ""},
		{`[]`, `{"messages":[]}`, ""},
		{`{"description": "d", "messages": [{"role": "user", "text": "hi"}]}`, `{"description":"d","messages":[` + message("hi") + `]}`, ""},
		{`{"text": "hi"}`, `{"messages":[` + message("hi") + `]}`, ""},
		{`{"type": "text", "text": "hi"}`, `{"messages":[` + message("hi") + `]}`, ""},
		{`[{"role": "user", "content": "hi"}, "hi"]`, `{"messages":[` + message("hi") + `,` + message("hi") + `]}`, ""},
		{`3`, "", "expected a list of messages, found the number 3"},
		{`nothing`, "", "expected a list of messages, found null"},
		{`[3]`, "", "message 1: expected an object with role and text or content, found the number 3"},
		{`{"role": "system", "text": "hi"}`, "", `its role is the string "system"`},
		{`{"role": "user", "text": "a", "content": "b"}`, "", "it has both text and content"},
		{`{"role": "user"}`, "", "expected a text or a content block, found nothing"},
		{`{"role": "user", "content": {"type": "video"}}`, "", `its type is the string "video"`},
		{`{"description": 3, "messages": []}`, "", "description must be a string"},
	}
	resources := []outcome{
		{`"hi"`, `[{"uri":"r://N","text":"hi"}]`, ""},
		{`{"a": 1}`, `[{"uri":"r://N","mimeType":"application/json","text":"{\"a\":1}"}]`, ""},
		{`{"text": "hi", "by": "me"}`, `[{"uri":"r://N","mimeType":"application/json","text":"{\"text\":\"hi\",\"by\":\"me\"}"}]`, ""},
		{`null`, `[{"uri":"r://N","mimeType":"application/json","text":"null"}]`, ""},
		{`[]`, `[{"uri":"r://N","mimeType":"application/json","text":"[]"}]`, ""},
		{`{"blob": "aGk=", "mimeType": "image/png"}`, `[{"uri":"r://N","blob":"aGk=","mimeType":"image/png"}]`, ""},
		{`[{"text": "a", "uri": "r://other"}, {"text": "b"}]`, `[{"uri":"r://other","text":"a"},{"uri":"r://N","text":"b"}]`, ""},
		{`nothing`, `[{"uri":"r://N","mimeType":"application/json","text":"null"}]`, ""},
		{`{"text": "a", "blob": "aGk="}`, "", "they have both text and blob"},
		{`{"blob": "!"}`, "", "blob is not base64"},
		{`{"text": 3}`, "", "text must be a string, found the number 3"},
	}
	for i, o := range prompts {
		text += fmt.Sprintf("  - {name: p%d, nodes: %s}\n", i, nodes(o.expr))
	}
	text += "resources:\n"
	for i, o := range resources {
		text += fmt.Sprintf("  - {name: r%d, uri: \"r://%d\", nodes: %s}\n", i, i, nodes(o.expr))
	}
	p := program(t, text)
	check := func(name string, o outcome) {
		t.Helper()
		r, err := p.Call(t.Context(), nil, name, nil, CallOptions{})
		var failure *graph.Failure
		switch {
		case o.wrong == "" && err != nil:
			t.Errorf("%s: %v", o.expr, err)
		case o.wrong == "" && r.Value.JSON() != o.want:
			t.Errorf("%s: got %s, want %s", o.expr, r.Value.JSON(), o.want)
		case o.wrong != "" && (!errors.As(err, &failure) || failure.Name != graph.FailResult || failure.Node != "exit" || !strings.Contains(err.Error(), o.wrong)):
			t.Errorf("%s: got %v, want %s", o.expr, err, o.wrong)
		}
	}
	for i, o := range prompts {
		check(fmt.Sprintf("prompts/p%d", i), o)
	}
	for i, o := range resources {
		o.want = strings.ReplaceAll(o.want, "r://N", fmt.Sprintf("r://%d", i))
		check(fmt.Sprintf("resources/r%d", i), o)
	}
}

func TestTemplateVariablesAreTheArgumentsOfAResource(t *testing.T) {
	t.Parallel()
	p := program(t, offersHead+`
resources:
  - name: by-day
    uriTemplate: report://{day:4}{?page}
    mimeType: text/plain
    nodes:
      - {id: entry, type: entry, next: make}
      - {id: make, type: transform, transform: {expr: '$.entry.day & "/" & $.entry.page'}, next: exit}
      - {id: exit, type: exit}
`)
	for args, want := range map[string]string{
		`{"day": "a b"}`:            `[{"uri":"report://a%20b","mimeType":"text/plain","text":"a b/"}]`,
		`{"day": "a", "page": "2"}`: `[{"uri":"report://a?page=2","mimeType":"text/plain","text":"a/2"}]`,
		`{"page": "2"}`:             `resource "by-day": invalid arguments: missing required property "day"`,
		`{"day": 1}`:                `resource "by-day": invalid arguments: day: expected a string`,
		`{"day": "12345"}`:          `resource "by-day": invalid arguments: day: expected a string of at most 4 characters, found the string "12345"`,
		`{"day": "a", "size": "2"}`: `resource "by-day": invalid arguments: unexpected property "size"`,
	} {
		v, _ := value.Parse(args)
		r, err := p.Call(t.Context(), nil, "resources/by-day", v, CallOptions{})
		got := fmt.Sprint(err)
		if err == nil {
			got = r.Value.JSON()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", args, got, want)
		}
	}
	v, _ := value.Parse(`{"day": "a b"}`)
	r, err := p.Call(t.Context(), nil, "resources/by-day", v, CallOptions{URI: "report://a%20%62"})
	if err != nil || r.Value.Elems()[0].Get("uri").Str() != "report://a%20%62" {
		t.Errorf("got %v, %v", r, err)
	}
	if names := fmt.Sprint(len(p.Tools()), len(p.Published()), len(p.Offers())); names != "3 2 1" {
		t.Errorf("tools, published tools and offers: %s", names)
	}
}

// A variable with an asterisk is a list of texts (RFC 6570, 2.4.2), as the server that
// takes a URI apart has it.
func TestExplodedTemplateVariablesAreLists(t *testing.T) {
	t.Parallel()
	p := program(t, offersHead+`
resources:
  - name: file
    uriTemplate: "file://x{/path*}{?tag*,page}"
    mimeType: text/plain
    nodes:
      - {id: entry, type: entry, next: make}
      - {id: make, type: transform, transform: {expr: '$join($.entry.path, "|") & "/" & $count($.entry.tag)'}, next: exit}
      - {id: exit, type: exit}
`)
	for args, want := range map[string]string{
		`{"path": ["a", "b/c"]}`:                          `[{"uri":"file://x/a/b%2Fc","mimeType":"text/plain","text":"a|b/c/0"}]`,
		`{"path": ["a"], "tag": ["t", "u"], "page": "2"}`: `[{"uri":"file://x/a?tag=t&tag=u&page=2","mimeType":"text/plain","text":"a/2"}]`,
		`{"path": "a"}`:                                   `resource "file": invalid arguments: path: expected an array`,
		`{"path": [1]}`:                                   `resource "file": invalid arguments: path[0]: expected a string`,
		`{"path": ["a"], "page": [1]}`:                    `resource "file": invalid arguments: page: expected a string`,
		`{}`:                                              `resource "file": invalid arguments: missing required property "path"`,
	} {
		v, _ := value.Parse(args)
		r, err := p.Call(t.Context(), nil, "resources/file", v, CallOptions{})
		got := fmt.Sprint(err)
		if err == nil {
			got = r.Value.JSON()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", args, got, want)
		}
	}
}

const completing = offersHead + `
prompts:
  - name: review
    arguments:
      - {name: tone, complete: [Friendly, formal, Épais, strict]}
      - {name: many, complete: {expr: '[1..250]'}}
      - {name: known, complete: {expr: '[tone & "!", known & "?", $call("double", {"n": known}).twice]'}}
      - {name: slow, complete: {expr: $call("slow")}}
      - {name: failing, complete: {expr: $call("refuse")}}
      - {name: shape, complete: {expr: '[{"a": 1}]'}}
      - {name: none}
    messages: [{role: user, text: hi}]
`

func TestComplete(t *testing.T) {
	t.Parallel()
	p := program(t, completing)
	known, _ := value.Parse(`{"tone": "kind"}`)
	for _, c := range []struct{ argument, typed, want string }{
		{"tone", "", "[Friendly formal Épais strict] 4 <nil>"},
		{"tone", "F", "[Friendly formal] 2 <nil>"},
		{"tone", "éP", "[Épais] 1 <nil>"},
		{"tone", "x\xff", "[] 0 <nil>"},
		{"tone", "friendlyy", "[] 0 <nil>"},
		{"known", "k", "[kind! k? kk] 3 <nil>"},
		{"none", "", "[] 0 <nil>"},
	} {
		values, total, err := p.Complete(t.Context(), nil, "prompts/review", c.argument, c.typed, known)
		if got := fmt.Sprint(values, total, err); got != c.want {
			t.Errorf("%s %q: got %s, want %s", c.argument, c.typed, got, c.want)
		}
	}
	if values, total, err := p.Complete(t.Context(), nil, "prompts/review", "many", "", known); len(values) != 100 || total != 250 || err != nil {
		t.Errorf("%d values of %d, %v", len(values), total, err)
	}
	for argument, want := range map[string]string{"failing": "not today", "shape": "found an object in it", "other": `prompt "review" has no argument "other"`} {
		if values, _, err := p.Complete(t.Context(), nil, "prompts/review", argument, "", known); err == nil || !strings.Contains(err.Error(), want) || values != nil {
			t.Errorf("%s: got %v, %v", argument, values, err)
		}
	}
	if _, _, err := p.Complete(t.Context(), nil, "double", "n", "", known); err == nil {
		t.Error("an argument of a tool was completed")
	}
	if list := p.opts.Runs.List(""); len(list) != 0 {
		t.Errorf("runs of completions are kept: %v", list)
	}
}

func TestCompletionThatTakesLongFindsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := program(t, completing)
		values, _, err := p.Complete(t.Context(), nil, "prompts/review", "slow", "", value.Undef)
		if values != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, %v", values, err)
		}
	})
}

func TestCompletionsAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	p := program(t, completing)
	slots := &p.engine.completions
	for range maxSearchesPerCaller {
		if !slots.take("ann") {
			t.Fatal("no slot")
		}
	}
	if _, _, err := p.Complete(t.Context(), &callinfo.Info{Caller: "ann"}, "prompts/review", "many", "", value.Undef); !errors.Is(err, errBusyCompleting) {
		t.Errorf("got %v", err)
	}
	if _, total, err := p.Complete(t.Context(), &callinfo.Info{Caller: "bob"}, "prompts/review", "many", "", value.Undef); total != 250 || err != nil {
		t.Errorf("got %d, %v", total, err)
	}
	for range maxSearchesPerCaller {
		slots.release("ann")
	}
	if slots.all != 0 || len(slots.callers) != 0 {
		t.Errorf("%d slots are taken, of %v", slots.all, slots.callers)
	}
}
