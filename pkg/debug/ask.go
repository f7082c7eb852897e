package debug

import (
	"context"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// question is one that waits for its answer.
type question struct {
	executor.Question
	answers chan answer
}

type answer struct {
	value value.Value
	err   error
}

// questions are those that wait for their answers.
type questions struct {
	*inspector
	*events
	now func() time.Time // of the run

	mu   sync.Mutex
	open map[string]*question
}

// ask is the Ask of the driver.
func (s *questions) ask(ctx context.Context, _ *executor.Run, q executor.Question) (value.Value, error) {
	if s.env.Shown != nil {
		q = s.env.Shown(q)
	}
	one := &question{q, make(chan answer, 2)} // one from each side
	e := Event{Record: -1, Key: q.Node.Key(), Path: q.Path, Node: q.Node.ID, Kind: q.Node.Kind.Name, Question: q.ID}
	s.mu.Lock()
	s.open[q.ID] = one
	e.Type, e.Text = Ask, q.Text()
	s.emit(e)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[q.ID] == one {
			delete(s.open, q.ID)
		}
		e.Type, e.Text = Answered, ""
		s.emit(e)
	}()
	if s.env.Ask != nil {
		asked, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() {
			v, err := s.env.Ask(asked, q)
			if asked.Err() == nil {
				one.answers <- answer{v, err}
			}
		}()
	}
	select {
	case a := <-one.answers:
		return a.value, a.err
	case <-ctx.Done():
		return value.Undef, context.Cause(ctx)
	}
}

// Answer answers a question of the run with the result of its request. That of
// elicitation/create is an object with action ("accept", "decline" or "cancel") and
// content; an answer with decline or cancel refuses other requests, too. While the run
// is paused it takes note of the answer. One that does not fit the form is an error, and
// the question stays.
func (s *questions) Answer(id string, v value.Value) error {
	q, err := s.Question(id)
	if err == nil {
		err = graph.CheckAnswer(q.Method, v)
	}
	if err == nil && q.Method == graph.AskPerson {
		err = graph.CheckForm(context.Background(), q.Value, v)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	one := s.open[id]
	s.mu.Unlock()
	if one == nil { // it has just been asked
		return s.run.Answer(id, v, nil, s.now())
	}
	select {
	case one.answers <- answer{value: v}:
	default: // it has an answer
	}
	return nil
}
