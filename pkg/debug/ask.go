package debug

import (
	"context"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
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

// ask is the Ask of the driver.
func (s *Session) ask(ctx context.Context, _ *executor.Run, q executor.Question) (value.Value, error) {
	if s.env.Shown != nil {
		q = s.env.Shown(q)
	}
	one := &question{q, make(chan answer, 2)} // one from each side
	e := Event{Record: -1, Key: q.Node.Key(), Path: q.Path, Node: q.Node.ID, Kind: q.Node.Kind.Name, Question: q.ID}
	s.mu.Lock()
	s.questions[q.ID] = one
	e.Type, e.Text = Ask, q.Text()
	s.emit(e)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.questions[q.ID] == one {
			delete(s.questions, q.ID)
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

// Questions returns what the run asks, without secrets, the oldest first.
func (s *Session) Questions() []executor.Question {
	list := s.run.Questions()
	for i, q := range list {
		if s.env.Shown != nil {
			q = s.env.Shown(q)
		}
		q.Value, q.Arguments = s.env.value(q.Value), s.env.value(q.Arguments)
		list[i] = q
	}
	return list
}

// Question returns the question that the run asks under this id. The error says what it
// asks.
func (s *Session) Question(id string) (executor.Question, error) {
	asked := s.run.Questions()
	if len(asked) == 0 {
		return executor.Question{}, fmt.Errorf("the run does not ask %q: it asks nothing now", id)
	}
	ids := make([]string, len(asked))
	for i, q := range asked {
		if q.ID == id {
			return q, nil
		}
		ids[i] = q.ID
	}
	return executor.Question{}, fmt.Errorf("the run does not ask %q; it asks %s", id, diag.List(ids))
}

// Answer answers a question of the run with the result of its request. That of
// elicitation/create is an object with action ("accept", "decline" or "cancel") and
// content; an answer with decline or cancel refuses other requests, too. While the run
// is paused it takes note of the answer. One that does not fit the form is an error, and
// the question stays.
func (s *Session) Answer(id string, v value.Value) error {
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
	one := s.questions[id]
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
