package ui

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestSessionIsControlled(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	events := s.follow("")
	id := s.start(`{"tool":"sizes","args":{"names":["a","b"]},"startPaused":true,"pins":{"twice":{"pinned":true}}}`)
	at := "/api/sessions/" + id + "/"
	run := inState(t, events, id, "paused")
	if run.Get("paused").Get("why").Str() != "start" || run.Get("paused").Get("at").Float() != -1 || !run.Get("session").Bool() {
		t.Errorf("it is paused as %s", run.JSON())
	}
	told := s.follow("?after=0&runs=" + id)
	s.post(at+"breakpoints", `{"breakpoints":[{"node":"sizes#each[].info","when":"$name = 'b'"}],"breakOn":{"failure":"any"}}`)
	s.post(at+"resume", `{}`)
	run = until(t, events, func(e value.Value) bool { return e.Get("run").Get("paused").Get("why").Str() == "breakpoint" }).Get("run")
	if run.Get("paused").Get("path").Str() != "each[1].info" || run.Get("breakpoints").Len() != 1 || run.Get("breakOn").Get("failure").Str() != "any" {
		t.Errorf("it is paused as %s", run.JSON())
	}
	if v := s.get("/api/runs/" + id + "/document").Get("variables"); v.JSON() != `{"name":"b","index":1}` {
		t.Errorf("the variables are %s", v.JSON())
	}
	if v := s.post("/api/runs/"+id+"/eval", `{"expression":"$name & '!'"}`); v.JSON() != `{"value":"b!"}` {
		t.Errorf("eval yields %s", v.JSON())
	}
	if v := s.post("/api/runs/"+id+"/eval", `{"expression":"$name","record":0}`); v.JSON() != `{}` {
		t.Errorf("eval at the entry yields %s", v.JSON())
	}
	s.post(at+"setOutput", `{"node":"entry","value":{"names":["other"]}}`)
	if v := s.post("/api/runs/"+id+"/eval", `{"expression":"$.entry.names"}`); v.JSON() != `{"value":["other"]}` {
		t.Errorf("eval after setOutput yields %s", v.JSON())
	}
	s.post(at+"runTo", `{"node":"exit"}`)
	until(t, events, func(e value.Value) bool { return e.Get("run").Get("paused").Get("path").Str() == "exit" })
	if v := s.post("/api/runs/"+id+"/eval", `{"expression":"$.twice"}`); v.JSON() != `{"value":{"pinned":true}}` {
		t.Errorf("the pinned node yielded %s", v.JSON())
	}
	if status, code := s.code("POST", at+"pause", `{}`); status != http.StatusConflict || code != "wrong_state" {
		t.Errorf("pausing what is paused: %d %s", status, code)
	}
	s.post(at+"step", `{}`)
	if run := inState(t, events, id, "done"); run.Get("can").Len() != 0 {
		t.Errorf("it ended as %s", run.JSON())
	}
	if status, code := s.code("POST", at+"step", `{}`); status != http.StatusConflict || code != "wrong_state" {
		t.Errorf("a step after the end: %d %s", status, code)
	}
	var kinds []string
	until(t, told, func(e value.Value) bool {
		if kind := e.Get("type").Str(); kind == "record" || kind == "task" {
			kinds = append(kinds, kind+" "+e.Get("active").Get("path").Str()+e.Get("record").Get("path").Str()+" "+e.Get("record").Get("state").Str())
		}
		return e.Get("run").Get("state").Str() == "done"
	})
	all := strings.Join(kinds, ", ")
	for _, want := range []string{"task each[0].info", "record each[1].info done", "record twice pinned", "record entry done, ", "record exit done"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %s", want, all)
		}
	}
	if strings.Contains(all, "times") {
		t.Errorf("the pinned node was executed: %s", all)
	}
}

func TestSessionFromAnotherRun(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	events := s.follow("")
	first := s.start(`{"tool":"sizes","args":{"names":["a"]}}`)
	inState(t, events, first, "done")
	next := s.start(`{"tool":"sizes","from":{"run":"` + first + `","step":1,"set":{"node":"entry","value":{"names":["x","y"]}}}}`)
	inState(t, events, next, "done")
	pairs := s.get("/api/runs/compare?a=" + first + "&b=" + next).Get("pairs").Elems()
	var got []string
	for _, p := range pairs {
		got = append(got, p.Get("path").Str()+" "+p.Get("same").JSON())
	}
	if all := strings.Join(got, ", "); !strings.HasPrefix(all, "entry true, each[0].info false, each false, twice>entry true") || !strings.Contains(all, "each[1].info false") {
		t.Errorf("the comparison is %s", all)
	}
}

func TestSessionIsAnsweredAndStopped(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	events := s.follow("")
	id := s.start(`{"tool":"asks"}`)
	q := inState(t, events, id, "waiting").Get("questions").Elems()[0]
	if q.Get("message").Str() != "Which?" || q.Get("key").Str() != "asks#ask" || q.Get("schema").Get("properties").Len() != 1 {
		t.Errorf("the question is %s", q.JSON())
	}
	if status, code := s.code("POST", "/api/sessions/"+id+"/answer", `{"question":"`+q.Get("id").Str()+`","action":"accept","content":{"a":5}}`); status != http.StatusBadRequest {
		t.Errorf("a form that does not fit: %d %s", status, code)
	}
	s.post("/api/sessions/"+id+"/answer", `{"question":"`+q.Get("id").Str()+`","action":"accept","content":{"a":"b"}}`)
	inState(t, events, id, "done")
	if v := s.get("/api/runs/" + id).Get("run").Get("result"); v.JSON() != `{"a":"b"}` {
		t.Errorf("the result is %s", v.JSON())
	}
	id = s.start(`{"tool":"asks"}`)
	inState(t, events, id, "waiting")
	s.post("/api/sessions/"+id+"/stop", `{}`)
	inState(t, events, id, "stopped")
	if v := s.get("/api/runs?state=stopped").Get("runs"); v.Len() != 1 || !v.Elems()[0].Get("session").Bool() {
		t.Errorf("the stopped runs are %s", v.JSON())
	}
}

func TestModelsAndRootsAreAnswered(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	events := s.follow("")
	id := s.start(`{"tool":"thinks"}`)
	q := inState(t, events, id, "waiting").Get("questions").Elems()[0]
	if q.Get("method").Str() != "sampling/createMessage" || q.Get("system").Str() != "Be brief." || q.Get("messages").Len() != 3 ||
		!strings.HasPrefix(q.Get("messages").JSON(), `[{"role":"user","text":"Which?"},{"role":"user","text":"(image)"},{"role":"user","text":"Answer with JSON`) {
		t.Errorf("the question is %s", q.JSON())
	}
	answer := func(q value.Value, action, content string) {
		s.post("/api/sessions/"+id+"/answer", `{"question":"`+q.Get("id").Str()+`","action":"`+action+`","content":`+content+`}`)
	}
	answer(q, "accept", `"decline"`) // is no number
	for {
		q = inState(t, events, id, "waiting").Get("questions").Elems()[0]
		if q.Get("messages").Len() == 5 {
			break
		}
	}
	answer(q, "accept", `"7"`)
	for q.Get("method").Str() != "roots/list" {
		q = inState(t, events, id, "waiting").Get("questions").Elems()[0]
	}
	if status, code := s.code("POST", "/api/sessions/"+id+"/answer", `{"question":"`+q.Get("id").Str()+`","action":"accept","content":7}`); status != http.StatusBadRequest {
		t.Errorf("roots that are a number: %d %s", status, code)
	}
	answer(q, "accept", `["file:///a"]`)
	inState(t, events, id, "done")
	if v := s.get("/api/runs/" + id).Get("run").Get("result"); v.JSON() != `{"roots":[{"uri":"file:///a"}]}` {
		t.Errorf("the result is %s", v.JSON())
	}
	id = s.start(`{"tool":"thinks"}`)
	answer(inState(t, events, id, "waiting").Get("questions").Elems()[0], "decline", "null")
	inState(t, events, id, "failed")
}

func TestSessionsThatCannotBegin(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	for body, want := range map[string]string{
		`{"tool":"nothing"}`: "refused",
		`{"tool":"sizes"}`:   "bad_arguments",
		`{"tool":"asks","breakpoints":[{"node":"nothing"}]}`:                    "bad_breakpoint",
		`{"tool":"asks","breakpoints":[{"node":"ask","when":"$$$("}]}`:          "bad_breakpoint",
		`{"tool":"asks","breakOn":{"failure":"some"}}`:                          "bad_request",
		`{"tool":"asks","from":{"run":"nothing","step":0}}`:                     "not_found",
		`{"tool":"asks","args":{},"args":{}, "more":1}`:                         "bad_request",
		`{"tool":"asks","breakpoints":[` + strings.Repeat(`{},`, 1000) + `{}]}`: "bad_request",
	} {
		if _, code := s.code("POST", "/api/sessions", body); code != want {
			t.Errorf("%.100s: %s, want %s", body, code, want)
		}
	}
	for range maxSessions {
		s.start(`{"tool":"asks"}`)
	}
	if status, code := s.code("POST", "/api/sessions", `{"tool":"asks"}`); status != http.StatusTooManyRequests || code != "too_many_sessions" {
		t.Errorf("one session too many: %d %s", status, code)
	}
}

// TestFailureIsTheSameEverywhere compares what the event of the end says of a failure
// with the list of runs and with the run, which is read from what is kept: a failure in
// the tool itself, in a body, and in an expression.
func TestFailureIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	s := serve(t, strings.Replace(tools, "tool: stat,", "tool: fail,", 1), nil)
	events := s.follow("?runs=")
	for _, body := range []string{
		`{"tool":"fails","args":{}}`, `{"tool":"sizes","args":{"names":["a"]}}`, `{"tool":"double","args":{"n":"three"}}`,
	} {
		id := s.start(body)
		told := inState(t, events, id, "failed").Get("error")
		var listed value.Value
		for _, run := range s.get("/api/runs").Get("runs").Elems() {
			if run.Get("id").Str() == id {
				listed = run.Get("error")
			}
		}
		shown := s.get("/api/runs/" + id)
		for _, member := range []string{"name", "message", "file", "span", "key", "path"} {
			want := told.Get(member)
			if want.IsUndefined() {
				t.Errorf("%s: the event has no %s: %s", body, member, told.JSON())
			}
			for where, got := range map[string]value.Value{"list": listed, "run": shown.Get("run").Get("error")} {
				if !value.Equal(got.Get(member), want) {
					t.Errorf("%s: %s of the %s: %s, the event has %s", body, member, where, got.Get(member).JSON(), want.JSON())
				}
			}
		}
		for _, rec := range shown.Get("records").Elems() {
			if e := rec.Get("error"); !e.IsUndefined() && e.Get("path").Str() == told.Get("path").Str() && e.Get("message").Str() != told.Get("message").Str() {
				t.Errorf("%s: its record says %s", body, e.JSON())
			}
		}
	}
}
