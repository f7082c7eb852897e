// Package placetest checks what every place of runs has to do. A new place passes
// [Run] to be one.
package placetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// File is the file with the tools that the checks call. It needs no server.
const File = `version: "1.0"
server: {name: places, version: "1"}
tools:
  - name: asks
    description: Asks
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: ask}
      - {id: ask, type: ask, message: "Why?", schema: {type: object, properties: {why: {type: string}}}, next: exit}
      - {id: exit, type: exit}
  - name: brief
    description: Asks for a short time
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: ask}
      - {id: ask, type: ask, message: "Now?", timeoutMs: 300, next: exit}
      - {id: exit, type: exit}
  - name: says
    description: Says what it is told
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: exit}
      - {id: exit, type: exit}
  - name: fails
    description: Fails
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: choose}
      - {id: choose, type: switch, conditions: [{rule: true, target: stop}, {target: exit}]}
      - {id: stop, type: fail, error: unlucky, message: no luck}
      - {id: exit, type: exit}
`

// Program is the file as the place knows it.
type Program interface {
	Digest() string
	Graph(tool string) (*graph.Graph, error)
}

// patience is how long something may take on a busy machine.
const patience = 60 * time.Second

// operator sees all runs.
var operator = runs.Who{Operator: true}

type suite struct {
	*testing.T
	view    runs.View
	place   runs.Place // nil for a view
	program Program
	of      runs.Program // nil for a view
	begin   func(context.Context, *runs.Call) (id string, err error)
}

// Run checks a place in which workers of the program are at work.
func Run(t *testing.T, place runs.Place, program runs.Program) {
	own := suite{view: place, place: place, program: program, of: program, begin: func(ctx context.Context, c *runs.Call) (string, error) {
		at, err := place.Start(ctx, c)
		if err != nil {
			return "", err
		}
		if at.ID != c.Info.RunID || at.Status.Over() {
			return "", fmt.Errorf("it began as %+v, with the id %s", at, c.Info.RunID)
		}
		return at.ID, nil
	}}
	own.run(t, checksOfViews)
	own.run(t, map[string]func(*suite){
		"a call goes on with its answer": (*suite).goesOn,
		"a call asks":                    (*suite).asks,
		"a call fails":                   (*suite).fails,
		"a run belongs to its caller":    (*suite).owned,
		"answers are given once":         (*suite).used,
		"a call goes on without caller":  (*suite).left,
		"an answer comes too late":       (*suite).late,
		"a client cannot be asked":       (*suite).refuses,
		"a run gives its slot back":      (*suite).slots,
	})
}

// RunView checks a view of runs that begin starts.
func RunView(t *testing.T, view runs.View, program Program, begin func(context.Context, *runs.Call) (id string, err error)) {
	own := suite{view: view, program: program, begin: begin}
	own.run(t, checksOfViews)
}

var checksOfViews = map[string]func(*suite){
	"a run is started, answered and followed": (*suite).answered,
	"a run is cancelled":                      (*suite).cancelled,
	"a run that failed":                       (*suite).failed,
	"a run that is not there":                 (*suite).missing,
	"runs are listed":                         (*suite).listed,
}

func (s *suite) run(t *testing.T, checks map[string]func(*suite)) {
	for name, check := range checks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := *s
			own.T = t
			check(&own)
		})
	}
}

func parse(s *suite, text string) value.Value {
	s.Helper()
	v, err := value.Parse(text)
	if err != nil {
		s.Fatal(err)
	}
	return v
}

// call returns a call of a tool by a caller, who can come back to it with a check.
func (s *suite) call(tool, args, caller, check string) *runs.Call {
	s.Helper()
	g, err := s.program.Graph(tool)
	if err != nil {
		s.Fatal(err)
	}
	c := &runs.Call{Run: executor.NewRun(g, parse(s, args), 7), Program: s.of, Info: &callinfo.Info{Caller: caller}}
	if check != "" {
		c.Claim = &runs.Claim{Check: check, Created: time.Now(), Keep: time.Hour}
	}
	return c
}

func (s *suite) start(c *runs.Call) string {
	s.Helper()
	id, err := s.begin(s.Context(), c)
	if err != nil || id == "" {
		s.Fatal(id, err)
	}
	return id
}

// until looks at a run until it is as it should be.
func (s *suite) until(id string, fits func(*runs.State) bool) *runs.State {
	s.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		at, err := s.view.Look(s.Context(), operator, id, runs.Whole)
		if err == nil && fits(at) {
			return at
		}
		if time.Now().After(end) {
			s.Fatalf("the run is %+v, %v", at, err)
		}
	}
}

func waits(at *runs.State) bool { return at.Status == runs.Waiting && len(at.Questions) == 1 }
func over(at *runs.State) bool  { return at.Status.Over() && !at.Ended.IsZero() }

const because = `{"action":"accept","content":{"why":"because"}}`

func (s *suite) answered() {
	id := s.start(s.call("asks", `{"n":1}`, "", ""))
	at := s.until(id, waits)
	if q := at.Questions[0]; q.Params.Get("message").Str() != "Why?" || q.Node != "ask" || q.Path != "ask" || q.Method != graph.AskPerson || q.Approval {
		s.Errorf("it asks %+v", q)
	}
	if at.Tool != "asks" || at.Version != s.program.Digest() || at.Args.JSON() != `{"n":1}` || at.Count != 2 || len(at.Active) != 1 || at.Active[0].State != "asking" {
		s.Errorf("it is %+v", at)
	}
	var nodes []string
	for e, err := range s.view.Follow(s.Context(), operator, id, 0) {
		switch {
		case err != nil:
			s.Fatal(err)
		case e.Asked != nil:
			if err := s.view.Answer(s.Context(), operator, id, []runs.Answer{{Question: "none", Value: parse(s, because)}}); !errors.Is(err, runs.ErrNotAsked) {
				s.Errorf("an answer to nothing: %v", err)
			}
			if err := s.view.Answer(s.Context(), operator, id, []runs.Answer{{Question: e.Asked.ID, Value: parse(s, because)}}); err != nil {
				s.Fatal(err)
			}
		case e.Over != nil:
			if e.Over.Status != runs.Completed || e.Over.Result.JSON() != `{"why":"because"}` || e.Over.Err != nil {
				s.Errorf("it ended as %+v", e.Over)
			}
			nodes = append(nodes, "over")
		default:
			nodes = append(nodes, e.Record.Get("node").Str())
		}
	}
	if want := []string{"entry", "ask", "ask", "ask", "exit", "over"}; !slices.Equal(nodes, want) {
		s.Errorf("it went %v, want %v", nodes, want)
	}
	at = s.until(id, over)
	if at.Status != runs.Completed || at.Result.JSON() != `{"why":"because"}` || at.Args.JSON() != `{"n":1}` || len(at.Questions) != 0 {
		s.Errorf("after its end it is %+v", at)
	}
	last := 0
	for e, err := range s.view.Follow(s.Context(), operator, id, 4) {
		if err != nil {
			s.Fatal(err)
		}
		if e.Over == nil {
			last = int(e.Record.Get("index").Float())
		}
	}
	if last != 4 {
		s.Errorf("the last record is %d", last)
	}
}

func (s *suite) asks() {
	c := s.call("asks", `{}`, "", "")
	var records []string
	c.Ask = func(context.Context, *executor.Run, executor.Question) (value.Value, error) {
		return parse(s, because), nil
	}
	c.Hooks = []executor.Hooks{{NodeDone: func(_ context.Context, _ *executor.Run, rec executor.Record) { records = append(records, rec.Node) }}}
	if at, err := s.place.Do(s.Context(), c); err != nil || at.Status != runs.Completed || at.Result.JSON() != `{"why":"because"}` {
		s.Errorf("it ended as %+v, %v", at, err)
	}
	if want := []string{"entry", "ask", "exit"}; !slices.Equal(records, want) || !c.Run.Done() {
		s.Errorf("the hooks were told of %v, want %v", records, want)
	}
}

func (s *suite) fails() {
	at, err := s.place.Do(s.Context(), s.call("fails", `{}`, "", ""))
	if err != nil || at.Status != runs.Failed || at.Failure().Name != "unlucky" {
		s.Fatalf("it ended as %+v, %v", at, err)
	}
	if at = s.until(at.ID, over); at.Status != runs.Failed || at.Failure().Name != "unlucky" || at.Failure().Message != "no luck" {
		s.Errorf("it is kept as %+v", at)
	}
}

func (s *suite) failed() {
	id := s.start(s.call("fails", `{}`, "", ""))
	if at := s.until(id, over); at.Status != runs.Failed || at.Failure().Name != "unlucky" || at.Failure().Message != "no luck" || at.Failure().Node != "stop" {
		s.Errorf("it is kept as %+v", at)
	}
}

func (s *suite) cancelled() {
	id := s.start(s.call("asks", `{}`, "", ""))
	s.until(id, waits)
	if err := s.view.Cancel(s.Context(), operator, id); err != nil {
		s.Fatal(err)
	}
	if at := s.until(id, over); at.Status != runs.Canceled {
		s.Errorf("it ended as %+v", at)
	}
	if err := s.view.Cancel(s.Context(), operator, id); !errors.Is(err, runs.ErrOver) {
		s.Errorf("cancelled again: %v", err)
	}
}

func (s *suite) owned() {
	id := s.start(s.call("asks", `{}`, "anna", "check"))
	asked := s.until(id, waits).Questions[0].ID
	answer := []runs.Answer{{Question: asked, Value: parse(s, because)}}
	for _, w := range []runs.Who{{}, {Caller: "anna"}, {Caller: "anna", Check: "another"}, {Caller: "bert", Check: "check"}, {Check: "check"}} {
		if _, err := s.view.Look(s.Context(), w, id, runs.Status); !errors.Is(err, runs.ErrNotFound) {
			s.Errorf("%+v looks at it: %v", w, err)
		}
		for _, err := range s.view.Follow(s.Context(), w, id, 0) {
			if !errors.Is(err, runs.ErrNotFound) {
				s.Fatalf("%+v follows it: %v", w, err)
			}
		}
		if err := s.view.Answer(s.Context(), w, id, answer); !errors.Is(err, runs.ErrNotFound) {
			s.Errorf("%+v answers it: %v", w, err)
		}
		if err := s.view.Cancel(s.Context(), w, id); !errors.Is(err, runs.ErrNotFound) {
			s.Errorf("%+v cancels it: %v", w, err)
		}
	}
	anna := runs.Who{Caller: "anna", Check: "check"}
	at, err := s.view.Look(s.Context(), anna, id, runs.Status)
	if err != nil || len(at.Questions) != 1 || at.Caller != "anna" {
		s.Errorf("its caller sees %+v, %v", at, err)
	}
	if err := s.view.Cancel(s.Context(), anna, id); err != nil {
		s.Error(err)
	}
}

func (s *suite) used() {
	id := s.start(s.call("asks", `{}`, "anna", "check"))
	asked := s.until(id, waits).Questions[0].ID
	anna := runs.Who{Caller: "anna", Check: "check"}
	check := func(when string) {
		s.Helper()
		for _, test := range []struct {
			who          runs.Who
			asked, given string
			want         error
		}{
			{anna, "q", "a", nil}, {anna, "q", "a", nil}, {anna, "q", "b", runs.ErrUsed}, {anna, "r", "b", nil}, {anna, "r", "a", runs.ErrUsed},
			{runs.Who{Caller: "bert", Check: "check"}, "q", "a", runs.ErrNotFound},
		} {
			if err := s.place.Use(s.Context(), test.who, id, test.asked, test.given); !errors.Is(err, test.want) {
				s.Errorf("%s %s is answered with %s: %v, want %v", when, test.asked, test.given, err, test.want)
			}
		}
	}
	check("at first")
	if err := s.place.Answer(s.Context(), anna, id, []runs.Answer{{Question: asked, Value: parse(s, because)}}); err != nil {
		s.Fatal(err)
	}
	s.until(id, over)
	check("after the end")
}

func (s *suite) missing() {
	const id = "no-such-run"
	if _, err := s.view.Look(s.Context(), operator, id, runs.Brief); !errors.Is(err, runs.ErrNotFound) {
		s.Errorf("a look: %v", err)
	}
	for _, err := range s.view.Follow(s.Context(), operator, id, 0) {
		if !errors.Is(err, runs.ErrNotFound) {
			s.Fatalf("followed: %v", err)
		}
	}
	if err := s.view.Answer(s.Context(), operator, id, nil); !errors.Is(err, runs.ErrNotFound) {
		s.Errorf("an answer: %v", err)
	}
	if err := s.view.Cancel(s.Context(), operator, id); !errors.Is(err, runs.ErrNotFound) {
		s.Errorf("a cancel: %v", err)
	}
	for _, err := range s.view.List(s.Context(), operator, runs.Filter{Before: id}) {
		if !errors.Is(err, runs.ErrNotFound) {
			s.Fatalf("a list behind it: %v", err)
		}
	}
}

func (s *suite) listed() {
	own := map[string]bool{}
	for range 3 {
		id := s.start(s.call("asks", `{}`, "", ""))
		s.until(id, waits)
		own[id] = true
	}
	ended := s.until(s.start(s.call("says", `{}`, "carl", "")), over)
	// Lists may be late.
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		found, pages := s.pages(runs.Filter{Running: true}, 2)
		all, _ := s.pages(runs.Filter{}, 50)
		missing := 0
		for id := range own {
			if found[id] != 1 || all[id] != 1 {
				missing++
			}
		}
		if missing == 0 && pages > 1 && found[ended.ID] == 0 && all[ended.ID] == 1 {
			break
		}
		if time.Now().After(end) {
			s.Fatalf("%d runs are missing in %v of %d pages", missing, found, pages)
		}
	}
	for id := range own {
		if err := s.view.Cancel(s.Context(), operator, id); err != nil {
			s.Error(err)
		}
	}
}

// pages lists runs in pages, and returns how often each run is there.
func (s *suite) pages(f runs.Filter, count int) (found map[string]int, pages int) {
	s.Helper()
	found = map[string]int{}
	for more := true; more && pages < 1000; pages++ {
		list, others, err := runs.ListSome(s.Context(), s.view, operator, f, count)
		if errors.Is(err, runs.ErrNotFound) && f.Before != "" {
			return found, 0 // another test has ended it
		}
		if err != nil {
			s.Fatal(err)
		}
		for _, one := range list {
			found[one.ID]++
			f.Before = one.ID
		}
		more = others
	}
	return found, pages
}
