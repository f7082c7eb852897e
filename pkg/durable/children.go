package durable

import (
	"context"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxFollowed is how many runs one look at a run and its children asks: those that can
// have questions, outer ones first.
const maxFollowed = 50

// followChildren adds what happens in the children of a run that can ask something. It
// reports whether anything was new. Children that cannot be asked now are left for later.
func (c *Client) followChildren(ctx context.Context, run *executor.Run, budget *int) (changed bool, err error) {
	for _, d := range run.Detached() {
		callee := d.Task.Node().Callee
		if !callee.Asks() {
			continue
		}
		if *budget--; *budget < 0 {
			return changed, nil
		}
		child := d.Child
		if child == nil {
			child = executor.NewRun(callee, d.Args, childSeed(run.Seed(), d.Task.ID()))
			run.Attach(d.Frame, child)
		}
		if child.Done() {
			continue
		}
		list, _, _, err := c.records(ctx, d.Run, child.NextIndex())
		switch {
		case ctx.Err() != nil:
			return changed, ctx.Err()
		case err != nil:
			continue // it has not begun, or no worker answers now
		}
		if err := added(child, list, nil); err != nil {
			return changed, err
		}
		more, err := c.followChildren(ctx, child, budget)
		if changed = changed || more || len(list) > 0; err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// stateOf returns what a worker tells of a run, with the questions of its children.
func (c *Client) stateOf(ctx context.Context, id string, budget *int) (*state, error) {
	s, err := c.ownState(ctx, id)
	if err != nil {
		return nil, err
	}
	waiting := 0
	for _, child := range s.Children {
		if !child.Asks {
			continue
		}
		if *budget--; *budget < 0 {
			break
		}
		inner, err := c.stateOf(ctx, child.Run, budget)
		if err != nil {
			continue // it has not begun, or no worker answers now
		}
		if inner.Waiting || inner.childrenWait {
			waiting++
		}
		for _, q := range inner.Questions {
			q.ID, q.Path = executor.JoinID(child.Frame, q.ID), child.Path+">"+q.Path
			s.Questions = append(s.Questions, q)
		}
	}
	s.childrenWait = waiting > 0 && waiting == len(s.Children) && len(s.Active) < maxActive &&
		!slices.ContainsFunc(s.Active, func(a executor.Activity) bool { return a.State != "joining" && a.State != "asking" })
	return s, nil
}

// ownState returns what a worker tells of a run itself.
func (c *Client) ownState(ctx context.Context, id string) (*state, error) {
	s := &state{}
	if err := c.query(ctx, id, queryState, s, 0); err != nil {
		return nil, err
	}
	for more := s.More; more; {
		next := &state{}
		if err := c.query(ctx, id, queryState, next, len(s.Questions)); err != nil {
			return nil, err
		}
		s.Questions, more = append(s.Questions, next.Questions...), next.More && len(next.Questions) > 0
	}
	if s.Args == nil {
		args, _, err := c.requestOf(ctx, id)
		if err != nil {
			return nil, err
		}
		s.Args = raw(args)
	}
	return s, nil
}

// answerChild answers a question of a child, which has it under the id that JoinID
// returns.
func (c *Client) answerChild(ctx context.Context, id, question string, answer value.Value, failed error) error {
	s := &state{}
	if err := c.query(ctx, id, queryState, s, 0); err != nil {
		return err
	}
	for _, child := range s.Children {
		if inner, ok := executor.CutID(child.Frame, question); ok {
			return c.answer(ctx, child.Run, inner, answer, failed)
		}
	}
	return runs.ErrNotAsked
}
