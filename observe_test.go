package mcpgraph_test

import (
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// asking serves the engine over pipes. It returns a function that sends a
// request and returns the response.
func asking(t *testing.T, e *mcpgraph.Engine) func(method, params string) value.Value {
	c := serve(t, e)
	return func(method, params string) value.Value {
		t.Helper()
		_, answer := c.ask(method, params)
		return answer
	}
}

func TestClientReadsItsRunsWhereTheyAreExposed(t *testing.T) {
	e := mustLoad(t, twoTools, mcpgraph.WithCaller(&caller{reply: found}), mcpgraph.WithExposedRuns())
	send := asking(t, e)
	if caps := send("initialize", initialize).Get("result").Get("capabilities"); !caps.Has("resources") {
		t.Errorf("the server can do %s", caps.JSON())
	}
	read := func(uri string) value.Value {
		t.Helper()
		answer := send("resources/read", `{"uri":"`+uri+`"}`)
		contents := answer.Get("result").Get("contents").Elems()
		if len(contents) != 1 || contents[0].Get("mimeType").Str() != "application/json" {
			t.Fatalf("reading %s gives %s", uri, answer.JSON())
		}
		v, err := value.Parse(contents[0].Get("text").Str())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if got := read("mcpgraph://runs").JSON(); got != `{"runs":[]}` {
		t.Errorf("before any run there are %s", got)
	}
	send("tools/call", `{"name":"look_up","arguments":{"key":"k"}}`)
	send("tools/call", `{"name":"pick","arguments":{"value":7}}`)
	list := read("mcpgraph://runs").Get("runs").Elems()
	if len(list) != 2 || list[0].Get("tool").Str() != "pick" || list[1].Get("tool").Str() != "look_up" {
		t.Fatalf("there are %s", read("mcpgraph://runs").JSON())
	}
	run := read(list[1].Get("uri").Str())
	if run.Get("arguments").JSON() != `{"key":"k"}` || run.Get("result").JSON() != `{"found":"k"}` || run.Get("status").Str() != "ok" {
		t.Errorf("the run is %s", run.JSON())
	}
	var walk []string
	for _, r := range run.Get("history").Elems() {
		walk = append(walk, r.Get("node").Str()+" "+r.Get("attempts").JSON()+" "+r.Get("next").Str())
	}
	if got := strings.Join(walk, ", "); got != "entry null ask, ask 1 exit, exit null " {
		t.Errorf("it went %s", got)
	}
	if answer := send("resources/read", `{"uri":"mcpgraph://runs/nope"}`); answer.Get("error").Get("code").JSON() != "-32002" {
		t.Errorf("a run that is not there gives %s", answer.JSON())
	}
}

func TestRunsAreNotExposedUnasked(t *testing.T) {
	e := mustLoad(t, twoTools, mcpgraph.WithCaller(&caller{reply: found}))
	send := asking(t, e)
	if caps := send("initialize", initialize).Get("result").Get("capabilities"); caps.Has("resources") {
		t.Errorf("the server can do %s", caps.JSON())
	}
	send("tools/call", `{"name":"pick","arguments":{"value":7}}`)
	if answer := send("resources/read", `{"uri":"mcpgraph://runs"}`); !answer.Has("error") {
		t.Errorf("reading the runs gives %s", answer.JSON())
	}
	if len(e.Runs().List("")) != 1 {
		t.Error("the run was not kept")
	}
}
