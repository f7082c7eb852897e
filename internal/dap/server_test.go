package dap_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/dap"
)

var names = object{"names": []string{"a", "bcd", "ef"}}

func TestBreakpointsStandAtLinesOfTheFile(t *testing.T) {
	c := connect(t)
	var set []any
	c.launch("report", names, false, func() {
		set = c.ask("setBreakpoints", object{"source": object{"path": c.path}, "breakpoints": []object{
			{"line": 12}, // in the block of list
			{"line": 20, "condition": "$item = 'bcd'"}, // size
			{"line": 21, "hitCondition": "3"},          // double
			{"line": 22},                               // next: sum, of sizes
			{"line": 24, "logMessage": "{$.sum.sum} in all"},
			{"line": 2}, {"line": 14},
			{"line": 20, "condition": "$item ="}, {"line": 20, "hitCondition": "many"},
		}})["breakpoints"].([]any)
	})
	var got []string
	for _, b := range set {
		b := b.(object)
		got = append(got, fmt.Sprint(b["verified"], " ", b["line"], " ", b["message"]))
	}
	want := []string{
		"true 9 <nil>", "true 20 <nil>", "true 21 <nil>", "true 15 <nil>", "true 24 <nil>", "false 2 no node stands in this line",
		"false 14 no node stands in this line", "false 20 condition: the expression ends where a value was expected (S0207), at byte 7",
		`false 20 the hit condition "many" is not a number from 1 on`,
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Errorf("breakpoint %d: got %q, want %q", i, got[i], want[i])
		}
	}
	c.at("breakpoint", "list (transform)", 9)
	c.ask("continue", object{"threadId": 1})
	c.at("breakpoint", "sizes (map)", 15)
	c.ask("continue", object{"threadId": 1})
	frames := c.at("breakpoint", "sizes[1].size (transform)", 20)
	if len(frames) != 2 || frames[1]["name"] != "sizes (map)" || frames[0]["source"].(object)["path"] != c.path {
		t.Errorf("%v", frames)
	}
	c.ask("continue", object{"threadId": 1})
	c.at("breakpoint", "sizes[2].double (transform)", 21)
	c.ask("continue", object{"threadId": 1})
	if code := c.event("exited")["exitCode"]; code != float64(0) {
		t.Errorf("exit code %v", code)
	}
	c.event("terminated")
	if !strings.Contains(c.output, "12 in all\n") || !strings.Contains(c.output, `{"sum":12}`+"\n") {
		t.Errorf("the output is %s", c.output)
	}
	if c.ask("disconnect", nil); c.end() != nil {
		t.Error("the adapter failed")
	}
}

func TestStepsGoOverIntoAndOut(t *testing.T) {
	c := connect(t)
	c.launch("report", names, true, nil)
	c.at("entry", "entry (entry)", 8)
	thread := object{"threadId": 1}
	c.ask("next", thread)
	c.at("step", "list (transform)", 9)
	c.ask("next", thread)
	c.at("step", "sizes (map)", 15)
	c.ask("stepIn", thread)
	c.at("step", "sizes[0].size (transform)", 20)
	c.ask("stepOut", thread)
	c.at("step", "sum (call total)", 23)
	c.ask("stepIn", thread)
	frames := c.at("step", "sum>start (entry)", 29)
	if len(frames) != 2 || frames[1]["name"] != "sum (call total)" {
		t.Errorf("%v", frames)
	}
	c.ask("stepOut", thread)
	c.at("step", "exit (exit)", 24)
	c.ask("stepOut", thread) // nothing is around: to the end
	c.event("terminated")
}

func TestValuesAreShownInPartsAndCanBeSet(t *testing.T) {
	c := connect(t)
	c.launch("report", names, false, func() {
		for _, b := range c.ask("setFunctionBreakpoints", object{"breakpoints": []object{{"name": "sizes[].double", "hitCondition": "2"}, {"name": "nope"}}})["breakpoints"].([]any) {
			if b := b.(object); b["verified"] != (b["line"] == float64(21)) {
				t.Errorf("%v", b)
			}
		}
	})
	frames := c.at("breakpoint", "sizes[1].double (transform)", 21)
	document := c.scope(frames[0], "Document")
	all := c.variables(object{"variablesReference": document})
	if all["size"]["value"] != "3" || all["entry"]["evaluateName"] != "$.entry" || all["list"]["type"] != "object" {
		t.Errorf("%v", all)
	}
	list := c.variables(object{"variablesReference": all["list"]["variablesReference"]})
	many := list["many"]
	if many["indexedVariables"] != float64(5000) || many["evaluateName"] != "$.list.many" || !strings.HasPrefix(many["value"].(string), "[1,2,3") || len(many["value"].(string)) > 220 {
		t.Errorf("%v", many)
	}
	part := c.variables(object{"variablesReference": many["variablesReference"], "filter": "indexed", "start": 4000, "count": 3})
	if len(part) != 3 || part["[4001]"]["value"] != "4002" || part["[4001]"]["evaluateName"] != "$.list.many[4001]" {
		t.Errorf("%v", part)
	}
	if whole := c.variables(object{"variablesReference": many["variablesReference"]}); len(whole) != 1001 || whole["…"]["value"] != "4000 more" {
		t.Errorf("%d elements at once", len(whole))
	}
	if vars := c.variables(object{"variablesReference": c.scope(frames[0], "Variables")}); vars["$item"]["value"] != `"bcd"` || vars["$index"]["value"] != "1" {
		t.Errorf("%v", vars)
	}
	if args := c.variables(object{"variablesReference": c.scope(frames[0], "Arguments")}); args["names"]["value"] != `["a","bcd","ef"]` {
		t.Errorf("%v", args)
	}
	for _, e := range []struct{ context, expression, want string }{
		{"watch", "$item & '!'", `"bcd!"`}, {"repl", "$.size", "3"}, {"hover", "size", "3"}, {"watch", "$.nothing", "undefined"},
		{"clipboard", "$.entry", "{\n  \"names\": [\n    \"a\",\n    \"bcd\",\n    \"ef\"\n  ]\n}"},
	} {
		if got := c.ask("evaluate", object{"expression": e.expression, "context": e.context, "frameId": frames[0]["id"]}); got["result"] != e.want {
			t.Errorf("%s is %v, want %s", e.expression, got["result"], e.want)
		}
	}
	if got := c.ask("evaluate", object{"expression": "$.size", "frameId": frames[1]["id"]}); got["result"] != "undefined" {
		t.Errorf("around the body, size is %v", got["result"])
	}
	targets := c.ask("completions", object{"frameId": frames[0]["id"], "text": "$sum($.si", "column": 10})["targets"].([]any)
	if len(targets) != 2 || targets[0].(object)["label"] != "$.size" || targets[0].(object)["start"] != float64(6) {
		t.Errorf("%v", targets)
	}
	if set := c.ask("setVariable", object{"variablesReference": document, "name": "size", "value": "100"}); set["value"] != "100" {
		t.Errorf("%v", set)
	}
	entry := all["entry"]["variablesReference"]
	name := c.variables(object{"variablesReference": entry})["names"]["variablesReference"]
	c.ask("setVariable", object{"variablesReference": name, "name": "[0]", "value": `"zz"`})
	if got := c.ask("evaluate", object{"expression": "$.entry.names[0]"}); got["result"] != `"zz"` {
		t.Errorf("after setVariable, it is %v", got["result"])
	}
	for value, want := range map[string]string{"bcd": "strings need quotes", "": "not JSON"} {
		if _, err := c.try("setVariable", object{"variablesReference": document, "name": "size", "value": value}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	c.ask("evaluate", object{"expression": "/pin add {\"sum\": 1}", "context": "repl"})
	c.ask("continue", object{"threadId": 1})
	if _, err := c.try("variables", object{"variablesReference": document}); err == nil {
		t.Error("references live on when the run goes on")
	}
	c.event("terminated")
	if !strings.Contains(c.output, `{"sum":1}`) {
		t.Errorf("the output is %s", c.output)
	}
}

func TestFailuresAreExceptions(t *testing.T) {
	c := connect(t)
	c.launch("fails", nil, false, func() { c.ask("setExceptionBreakpoints", object{"filters": []string{"uncaught"}}) })
	c.at("exception", "bad (transform)", 37)
	info := c.ask("exceptionInfo", object{"threadId": 1})
	if info["exceptionId"] != "expression" || !strings.Contains(info["description"].(string), "It broke") || info["breakMode"] != "unhandled" {
		t.Errorf("%v", info)
	}
	c.ask("continue", object{"threadId": 1})
	if code := c.event("exited")["exitCode"]; code != float64(1) {
		t.Errorf("exit code %v", code)
	}
	if _, err := c.try("setExceptionBreakpoints", object{"filters": []string{"some"}}); err == nil {
		t.Error("an unknown filter is taken")
	}
}

func TestQuestionsPauseAndRestart(t *testing.T) {
	c := connect(t)
	c.launch("asks", nil, false, nil)
	for !strings.Contains(c.output, "How many?") {
		c.ask("threads", nil)
	}
	c.ask("pause", object{"threadId": 1})
	c.at("pause", "ask (ask)", 44)
	threads := c.ask("threads", nil)["threads"].([]any)
	if len(threads) != 1 || threads[0].(object)["name"] != "ask" {
		t.Errorf("%v", threads)
	}
	if _, err := c.try("evaluate", object{"expression": "/answer 5", "context": "repl"}); err == nil || !strings.Contains(err.Error(), "/answer {…}") {
		t.Errorf("got %v", err)
	}
	c.ask("restart", nil)
	c.output = ""
	for !strings.Contains(c.output, "How many?") {
		c.ask("threads", nil)
	}
	c.ask("evaluate", object{"expression": `/answer {"n": 5}`, "context": "repl"})
	c.event("terminated")
	if !strings.Contains(c.output, `{"n":5}`) {
		t.Errorf("the output is %s", c.output)
	}
	c.ask("restart", nil)
	c.ask("terminate", nil)
	if code := c.event("exited"); code["exitCode"] != float64(1) && c.event("exited")["exitCode"] != float64(1) {
		t.Errorf("exit code %v", code)
	}
}

func TestTheEndOfTheInputStopsTheRun(t *testing.T) {
	c := connect(t)
	c.launch("asks", nil, false, nil)
	c.in.Close()
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

func TestBadRequestsAreErrors(t *testing.T) {
	c := connect(t)
	for _, r := range []struct {
		command   string
		arguments any
		want      string
	}{
		{"threads", nil, "needs a run: launch one"}, {"attach", object{}, "attach is not supported"}, {"fly", nil, `unknown command "fly"`},
		{"initialize", object{"pathFormat": "uri"}, `the path format "uri"`}, {"restart", nil, "needs a run"},
		{"launch", []int{1}, "arguments of launch"}, {"launch", object{}, "missing program"}, {"launch", object{"program": c.path + "x"}, "errors"},
		{"launch", object{"program": c.path}, `missing tool; expected "asks", "fails", "report" or "total"`},
		{"launch", object{"program": c.path, "tool": "none"}, "none"}, {"launch", object{"program": c.path, "tool": "report", "args": 5}, "args is not a JSON object"},
	} {
		if _, err := c.try(r.command, r.arguments); err == nil || !strings.Contains(err.Error(), r.want) {
			t.Errorf("%s: got %v, want %q", r.command, err, r.want)
		}
	}
	c.launch("report", names, true, nil)
	c.at("entry", "entry (entry)", 8)
	for _, r := range []struct {
		command   string
		arguments any
		want      string
	}{
		{"launch", object{"program": c.path}, "launched already"}, {"variables", object{"variablesReference": 99999}, "no reference 99999"},
		{"variables", object{"variablesReference": -1}, "no reference -1"}, {"scopes", object{"frameId": 7777}, "no reference 7777"},
		{"stackTrace", object{"threadId": 777}, "no thread 777"}, {"evaluate", object{"expression": "$.x ="}, "the expression ends"},
		{"evaluate", object{"expression": "/fly", "context": "repl"}, "unknown command"}, {"evaluate", object{"expression": "/pin entry x", "context": "repl"}, "not JSON"},
		{"evaluate", object{"expression": "/answer {}", "context": "repl"}, "asks nothing"}, {"gotoTargets", object{}, "not supported"},
		{"exceptionInfo", object{"threadId": 1}, "not paused at a failure"}, {"pause", object{"threadId": 1}, "cannot pause"},
		{"stackTrace", "nonsense", ""}, {"setBreakpoints", object{"breakpoints": make([]object, 501)}, "more than 500"},
	} {
		if _, err := c.try(r.command, r.arguments); err == nil || !strings.Contains(err.Error(), r.want) {
			t.Errorf("%s: got %v, want %q", r.command, err, r.want)
		}
	}
	other := c.ask("setBreakpoints", object{"source": object{"path": "/elsewhere.yaml"}, "breakpoints": []object{{"line": 9}}})
	if b := other["breakpoints"].([]any)[0].(object); b["verified"] != false || !strings.Contains(b["message"].(string), "this file is not debugged") {
		t.Errorf("%v", b)
	}
	if _, err := io.WriteString(c.in, "garbage\r\n\r\nContent-Length: 3\r\n\r\n{]}Content-Length: 99999999\r\n"); err != nil {
		t.Fatal(err)
	}
	c.in.Close()
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

// FuzzMessages shows that no message ends the adapter, or brings a panic.
func FuzzMessages(f *testing.F) {
	for _, text := range []string{
		`{"seq":1,"type":"request","command":"initialize","arguments":{}}`, `{"seq":2,"type":"request","command":"launch","arguments":{"program":"x"}}`,
		`{"seq":1,"type":"request","command":"variables","arguments":{"variablesReference":-5,"start":-1,"count":-1}}`, `{"type":"event"}`, `[]`, `{"seq":"x","type":"request"}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10_000 {
			return
		}
		frame := func(s string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(s), s) }
		last := `{"seq":9,"type":"request","command":"initialize","arguments":{}}`
		var out strings.Builder
		err := dap.Serve(t.Context(), strings.NewReader(text+"\r\n\r\n"+frame(text)+frame(text)+frame(last)), &out, dap.Options{})
		if err != nil && !strings.Contains(err.Error(), "reading from the editor") {
			t.Errorf("%v", err)
		}
	})
}
