package placetest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

func (s *suite) goesOn() {
	c := s.call("asks", `{}`, "anna", "check")
	at, err := s.place.Do(s.Context(), c)
	if err != nil || at.Status != runs.Waiting {
		s.Fatalf("it waits: %+v, %v", at, err)
	}
	anna := runs.Who{Caller: "anna", Check: "check"}
	asked := s.until(at.ID, waits).Questions[0].ID
	if err := s.view.Answer(s.Context(), anna, at.ID, []runs.Answer{{Question: asked, Value: parse(s, because)}}); err != nil {
		s.Fatal(err)
	}
	for _, w := range []runs.Who{{Caller: "bert", Check: "check"}, {Caller: "anna", Check: "another"}, {Caller: "anna"}} {
		other := s.call("asks", `{}`, w.Caller, w.Check)
		other.ID, other.Run = at.ID, nil
		if st, err := s.place.Do(s.Context(), other); !errors.Is(err, runs.ErrNotFound) {
			s.Errorf("%+v goes on with it: %+v, %v", w, st, err)
		}
		if st, err := s.place.Start(s.Context(), other); !errors.Is(err, runs.ErrNotFound) {
			s.Errorf("%+v lets it go on: %+v, %v", w, st, err)
		}
	}
	for _, when := range []string{"with its answer", "again"} {
		c := s.again(at.ID, "anna", "check")
		if got, err := s.place.Do(s.Context(), c); err != nil || got.Status != runs.Completed || got.Result.JSON() != `{"why":"because"}` {
			s.Errorf("%s it ended as %+v, %v", when, got, err)
		}
	}
}

// again returns a call that goes on with a run.
func (s *suite) again(id, caller, check string) *runs.Call {
	c := s.call("asks", `{}`, caller, check)
	c.ID, c.Run = id, nil
	return c
}

func (s *suite) left() {
	at, err := s.place.Do(s.Context(), s.call("asks", `{}`, "anna", "check"))
	if err != nil || at.Status != runs.Waiting || len(at.Questions) != 1 {
		s.Fatalf("it waits: %+v, %v", at, err)
	}
	anna := runs.Who{Caller: "anna", Check: "check"}
	s.until(at.ID, waits)
	if err := s.view.Answer(s.Context(), anna, at.ID, []runs.Answer{{Question: at.Questions[0].ID, Value: parse(s, because)}}); err != nil {
		s.Fatal(err)
	}
	if st, err := s.place.Start(s.Context(), s.again(at.ID, "anna", "check")); err != nil || st.ID != at.ID {
		s.Fatalf("it goes on: %+v, %v", st, err)
	}
	s.until(at.ID, over)
	if at, err = s.view.Look(s.Context(), anna, at.ID, runs.Status); err != nil || at.Status != runs.Completed || at.Result.JSON() != `{"why":"because"}` {
		s.Errorf("it ended as %+v, %v", at, err)
	}
}

func (s *suite) late() {
	id := s.start(s.call("brief", `{}`, "anna", "check"))
	if at := s.until(id, over); at.Status != runs.Failed || at.Failure().Name != graph.FailTimeout {
		s.Errorf("it ended as %+v", at)
	}
	err := s.view.Answer(s.Context(), runs.Who{Caller: "anna", Check: "check"}, id, []runs.Answer{{Question: ":1", Value: parse(s, because)}})
	if !errors.Is(err, runs.ErrOver) && !errors.Is(err, runs.ErrNotFound) && !errors.Is(err, runs.ErrNotAsked) {
		s.Errorf("an answer that is too late: %v", err)
	}
}

func (s *suite) refuses() {
	c := s.call("asks", `{}`, "anna", "check")
	c.Refuses = map[string]*graph.Failure{graph.AskPerson: {Name: graph.FailCannotAsk, Message: "no screen"}}
	if at := s.until(s.start(c), over); at.Status != runs.Failed || at.Failure().Name != graph.FailCannotAsk || at.Failure().Message != "no screen" {
		s.Errorf("it ended as %+v", at)
	}
}

// slot counts how often it is held.
type slot struct{ held, acquired atomic.Int32 }

func (s *slot) Release() { s.held.Store(0) }

func (s *slot) Acquire(context.Context) error {
	s.held.Add(1)
	s.acquired.Add(1)
	return nil
}

func (s *suite) slots() {
	c, own := s.call("asks", `{}`, "anna", "check"), &slot{}
	own.held.Store(1)
	c.Slot = own
	id := s.start(c)
	free := func(when string) {
		s.Helper()
		for end := time.Now().Add(patience); own.held.Load() != 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				s.Fatalf("%s it holds its slot", when)
			}
		}
	}
	at := s.until(id, waits)
	free("while it waits")
	if err := s.view.Answer(s.Context(), operator, id, []runs.Answer{{Question: at.Questions[0].ID, Value: parse(s, because)}}); err != nil {
		s.Fatal(err)
	}
	s.until(id, over)
	free("after its end")
	if n := own.acquired.Load(); n > 1 {
		s.Errorf("it took its slot again %d times", n)
	}
}
