package ui

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func parse(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestDurableRunIsFollowed looks at a run from its beginning to its end: records, calls
// under way with their progress, a question and its answer, the result.
func TestDurableRunIsFollowed(t *testing.T) {
	t.Parallel()
	s, f := withDurable(t, tools)
	r := f.ran(t, s.engine.Load(), "d1", "asks", `{}`)
	records := r.Count
	f.change(func() {
		r.Status, r.Ended, r.Count = runs.Running, time.Time{}, 1
		r.Active = []executor.Activity{{Path: "ask", Node: "ask", Execution: 1, Try: 1, State: "running", Start: time.Now()}}
		r.Calls = []runs.Upstream{{ID: ":1#1.2", Worker: "w@host", Progress: parse(t, `{"progress":3,"total":4,"message":"at `+secret+`"}`)}}
	})
	if v := s.get("/api/durable").Get("runs").Elems(); len(v) != 1 || v[0].Get("state").Str() != "running" || !v[0].Get("durable").Get("known").Bool() || v[0].Get("can").JSON() != `["cancel"]` {
		t.Fatalf("the list has %v", v)
	}
	run := s.get("/api/runs/d1")
	if a := run.Get("run").Get("active").Elems(); len(a) != 1 || a[0].Get("key").Str() != "asks#ask" || a[0].Get("worker").Str() != "w@host" ||
		a[0].Get("progress").Float() != 3 || a[0].Get("total").Float() != 4 || strings.Contains(a[0].JSON(), secret) {
		t.Errorf("under way are %v", a)
	}
	if got := run.Get("records").Elems(); len(got) != 1 || got[0].Get("key").Str() != "asks#entry" {
		t.Errorf("the records are %v", got)
	}
	events := s.follow("?runs=d1")
	f.change(func() {
		r.Status, r.Count, r.Active, r.Calls = runs.Waiting, 2, nil, nil
		r.Questions = []runs.Question{{ID: ":1", Path: "ask", Method: "elicitation/create", Params: parse(t, `{"message":"Which?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`)}}
	})
	until(t, events, func(e value.Value) bool { return e.Get("record").Get("event").Str() == "opened" })
	waiting := inState(t, events, "d1", "waiting")
	if q := waiting.Get("questions").Elems(); len(q) != 1 || q[0].Get("message").Str() != "Which?" || q[0].Get("key").Str() != "asks#ask" {
		t.Errorf("it asks %v", q)
	}
	if list := s.get("/api/durable").Get("runs").Elems(); list[0].Get("questions").Len() != 1 {
		t.Errorf("a list takes its question away: %s", list[0].JSON())
	}
	const answer = "/api/durable/d1/answer"
	for body, want := range map[string]int{
		`{"question":":1","action":"nod"}`:                        http.StatusBadRequest,
		`{"question":":2","action":"accept"}`:                     http.StatusConflict,
		`{"question":":1","action":"accept","content":{"a":5}}`:   http.StatusBadRequest,
		`{"question":":1","action":"accept","content":{"a":"x"}}`: http.StatusOK,
	} {
		if status, _ := s.code("POST", answer, body); status != want {
			t.Errorf("%s: %d, want %d", body, status, want)
		}
	}
	f.change(func() {
		if len(f.done) != 1 || f.done[0] != `answer d1 :1 {"action":"accept","content":{"a":"x"}}` {
			t.Errorf("it was answered %v", f.done)
		}
		r.Status, r.Ended, r.Count, r.Questions = runs.Completed, time.Now(), records, nil
	})
	until(t, events, func(e value.Value) bool { return e.Get("record").Get("path").Str() == "exit" })
	inState(t, events, "d1", "done")
	run = s.get("/api/runs/d1")
	if v := run.Get("run").Get("result"); v.JSON() != `{"a":"x"}` || run.Get("records").Len() != records {
		t.Errorf("it ended as %s", run.JSON())
	}
	if v := s.get("/api/runs/d1/document?record=2").Get("document"); v.Get("entry").JSON() != "{}" {
		t.Errorf("the document is %s", v.JSON())
	}
	if v := s.post("/api/runs/d1/eval", `{"expression":"$.ask.a"}`); v.JSON() != `{"value":"x"}` {
		t.Errorf("eval yields %s", v.JSON())
	}
	if status, code := s.code("POST", "/api/durable/d1/cancel", `{}`); status != http.StatusConflict || code != "wrong_state" {
		t.Errorf("cancelling what is over: %d %s", status, code)
	}
	looks := f.count("Look")
	s.get("/api/runs/d1")
	if f.count("Look") != looks {
		t.Error("a run that is over was looked at again")
	}
}

// TestDurableRunOfAnotherVersion shows the records alone, also of a tool that the file
// does not have, and no secret of the file.
func TestDurableRunOfAnotherVersion(t *testing.T) {
	t.Parallel()
	s, f := withDurable(t, tools)
	for _, tool := range []string{"fails", "sizes"} {
		r := f.ran(t, s.engine.Load(), "old-"+tool, tool, `{"names":["a"]}`)
		f.change(func() {
			r.Version, r.Tool = "another", "gone"
			for i, rec := range r.all {
				r.all[i] = parse(t, strings.ReplaceAll(rec.JSON(), "[redacted]", secret))
			}
		})
	}
	run := s.get("/api/runs/old-sizes")
	last := run.Get("records").Elems()
	if len(last) < 5 || run.Get("run").Get("durable").Get("known").Bool() || run.Get("run").Get("durable").Get("version").Str() != "another" ||
		last[2].Get("key").Str() != "gone#each[0].info" || last[2].Get("server").Str() != "files" || last[2].Get("next").Str() != "" {
		t.Errorf("it is shown as %s", run.JSON())
	}
	if strings.Contains(run.JSON(), secret) {
		t.Error("a secret of the file is shown")
	}
	if v := s.get("/api/runs/old-sizes/value?part=args"); v.Get("value").JSON() != `{"names":["a"]}` {
		t.Errorf("the arguments are %s", v.JSON())
	}
	if v := s.get("/api/runs/old-sizes/value?record=0&part=output"); v.Get("value").JSON() != `{"names":["a"]}` {
		t.Errorf("an output is %s", v.JSON())
	}
	if v := s.get("/api/runs/old-sizes/export"); v.Get("records").Len() != len(last) {
		t.Errorf("the export is %s", v.JSON())
	}
	failed := s.get("/api/runs/old-fails").Get("run")
	if failed.Get("state").Str() != "failed" || failed.Get("error").Get("path").Str() != "stop" || failed.Get("error").Get("name").Str() == "" {
		t.Errorf("the failed one is %s", failed.JSON())
	}
	for method, path := range map[string][2]string{
		"GET":  {"/api/runs/old-sizes/document?record=1"},
		"POST": {"/api/runs/old-sizes/eval", `{"expression":"1"}`},
		"FORK": {"/api/sessions", `{"tool":"sizes","from":{"run":"old-sizes","step":1}}`},
		"TEST": {"/api/runs/old-sizes/export?as=test"},
	} {
		real := map[string]string{"FORK": "POST", "TEST": "GET"}[method]
		if real == "" {
			real = method
		}
		if status, code := s.code(real, path[0], path[1]); status != http.StatusConflict || code != "no_graph" {
			t.Errorf("%s: %d %s", path[0], status, code)
		}
	}
}

func TestDurableTroublesAreSaidAndHeal(t *testing.T) {
	t.Parallel()
	s, f := withDurable(t, tools)
	r := f.ran(t, s.engine.Load(), "d1", "asks", `{}`)
	f.change(func() { r.Status, r.Ended, r.Count = runs.Running, time.Time{}, 1 })
	f.change(func() { f.down = errors.New("connection refused with " + secret) })
	status, code := s.code("GET", "/api/runs/d1", "")
	if status != http.StatusServiceUnavailable || code != unreachable {
		t.Errorf("a run that was never reached: %d %s", status, code)
	}
	list := s.get("/api/durable")
	if p := list.Get("problem").Str(); !strings.Contains(p, "Temporal at nowhere:7233 cannot be reached") || strings.Contains(p, secret) || list.Get("runs").Len() != 0 {
		t.Errorf("the list is %s", list.JSON())
	}
	if p := s.get("/api/state").Get("durable").Get("problem").Str(); p == "" {
		t.Error("the state has no problem")
	}
	events := s.follow("?runs=d1")
	f.change(func() { f.down = nil })
	until(t, events, func(e value.Value) bool { return e.Get("type").Str() == "durable" && e.Get("text").IsUndefined() })
	problem := func(code string) {
		t.Helper()
		until(t, events, func(e value.Value) bool {
			run := e.Get("run")
			return run.Get("id").Str() == "d1" && run.Get("durable").Get("code").Str() == code
		})
	}
	s.get("/api/runs/d1")
	problem("")
	f.change(func() { r.noWorker = true })
	problem(noWorker)
	if status, code := s.code("POST", "/api/durable/d1/answer", `{"question":":1","action":"accept"}`); status != http.StatusConflict {
		t.Errorf("an answer to nothing: %d %s", status, code)
	}
	f.change(func() { r.noWorker, r.Problem = false, "the latest step was not done" })
	problem(stuck)
	f.change(func() { r.Problem, f.down = "", errors.New("gone") })
	problem(unreachable)
	if v := s.get("/api/runs/d1"); v.Get("records").Len() != 1 {
		t.Errorf("what is known is not shown: %s", v.JSON())
	}
	f.change(func() { f.down = nil })
	problem("")
	f.change(func() { f.refuse = runs.ErrNoWorker })
	if status, code := s.code("POST", "/api/durable/d1/cancel", `{}`); status != http.StatusServiceUnavailable || code != noWorker {
		t.Errorf("a command without a worker: %d %s", status, code)
	}
	f.change(func() { f.refuse = nil })
	s.post("/api/durable/d1/cancel", `{}`)
	f.change(func() {
		if len(f.done) != 1 || f.done[0] != "cancel d1" {
			t.Errorf("the commands are %v", f.done)
		}
		f.runs = nil
	})
	problem("not_found")
}

func TestDurableRunIsStarted(t *testing.T) {
	t.Parallel()
	s, f := withDurable(t, tools)
	events := s.follow("")
	for body, want := range map[string]int{
		`{"tool":"sizes","args":{}}`:             http.StatusUnprocessableEntity,
		`{"tool":"sizes","args":[1]}`:            http.StatusBadRequest,
		`{"tool":"none","args":{}}`:              http.StatusNotFound,
		`{"tool":"sizes","args":{},"paused":{}}`: http.StatusBadRequest,
	} {
		if status, _ := s.code("POST", "/api/durable", body); status != want {
			t.Errorf("%s: %d, want %d", body, status, want)
		}
	}
	id := s.post("/api/durable", `{"tool":"sizes","args":{"names":["a"]}}`).Get("id").Str()
	run := inState(t, events, id, "running")
	f.change(func() {
		if len(f.started) != 1 || f.runs[0].ID != id || f.started[0].Program.Digest() != s.engine.Load().Digest() || f.started[0].Run.Args().JSON() != `{"names":["a"]}` {
			t.Errorf("started were %+v", f.started)
		}
		f.down = errors.New("gone")
	})
	if !run.Get("durable").Get("known").Bool() {
		t.Errorf("it is %s", run.JSON())
	}
	if status, code := s.code("POST", "/api/durable", `{"tool":"asks"}`); status != http.StatusServiceUnavailable || code != unreachable {
		t.Errorf("a start without Temporal: %d %s", status, code)
	}
}

func TestDurableRunsAreListedInParts(t *testing.T) {
	t.Parallel()
	s, f := withDurable(t, tools)
	began := time.Now()
	for i := range 2*newestRuns + 20 {
		d := runs.Summary{ID: fmt.Sprint("r", i), Tool: "asks", Status: runs.Completed, Began: began.Add(-time.Duration(i) * time.Second), Ended: began}
		if i == 2*newestRuns+10 {
			d.Status, d.Ended = runs.Waiting, time.Time{}
		}
		f.runs = append(f.runs, &fakeRun{State: runs.State{Summary: d}})
	}
	seen := map[string]bool{}
	first := s.get("/api/durable")
	if first.Get("runs").Len() != newestRuns+1 || first.Get("runs").Elems()[newestRuns].Get("state").Str() != "waiting" {
		t.Errorf("the first part has %d runs, without the one under way", first.Get("runs").Len())
	}
	for part, next := first, ""; ; {
		for _, r := range part.Get("runs").Elems() {
			seen[r.Get("id").Str()] = true
		}
		if next = part.Get("next").Str(); next == "" {
			break
		}
		part = s.get("/api/durable?cursor=" + next)
	}
	if len(seen) != 2*newestRuns+20 {
		t.Errorf("%d runs are listed", len(seen))
	}
	if status, _ := s.code("GET", "/api/durable?cursor="+strings.Repeat("x", maxCursor+1), ""); status != http.StatusBadRequest {
		t.Errorf("a long cursor: %d", status)
	}
	// One that is not among the newest has ended: pages are told nevertheless.
	events := s.follow("")
	inState(t, events, fmt.Sprint("r", 2*newestRuns+10), "waiting")
	f.change(func() { r := f.find(fmt.Sprint("r", 2*newestRuns+10)); r.Status, r.Ended = runs.Canceled, time.Now() })
	inState(t, events, fmt.Sprint("r", 2*newestRuns+10), "cancelled")
}

func TestAPageWithoutDurableRuns(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	if v := s.get("/api/state").Get("durable"); !v.IsUndefined() {
		t.Errorf("the state has %s", v.JSON())
	}
	for _, r := range [][3]string{
		{"GET", "/api/durable"}, {"POST", "/api/durable", `{"tool":"asks"}`}, {"POST", "/api/durable/x/cancel", `{}`},
	} {
		if status, _ := s.code(r[0], r[1], r[2]); status != http.StatusNotFound {
			t.Errorf("%s %s: %d", r[0], r[1], status)
		}
	}
	d, _ := withDurable(t, tools)
	for _, id := range []string{"none", strings.Repeat("x", maxRunID+1)} {
		if status, _ := d.code("GET", "/api/runs/"+id, ""); status != http.StatusNotFound {
			t.Errorf("a run that is not there: %d", status)
		}
		if status, _ := d.code("POST", "/api/durable/"+id+"/cancel", `{}`); status != http.StatusNotFound {
			t.Errorf("cancelling it: %d", status)
		}
	}
	local := d.start(`{"tool":"sizes","args":{"names":["a"]}}`)
	if v := d.get("/api/runs/" + local).Get("run"); !v.Get("session").Bool() || !v.Get("durable").IsUndefined() {
		t.Errorf("a run of this process is %s", v.JSON())
	}
}
