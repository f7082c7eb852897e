package nodes

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Wait lets time pass. Its output is that of the node before it.
var Wait = &graph.Kind{
	Name: "wait",
	Doc:  "Waits for some time, or until a point in time; its output is that of the node before it",
	Decode: func(f *graph.Fields) graph.Step {
		s := wait{
			ms:    f.Scalar("ms", "How long to wait, in milliseconds", []string{"number"}, graph.Optional),
			until: f.Scalar("until", "When to continue: a time in RFC 3339, or milliseconds since 1970", []string{"string", "number"}, graph.Optional),
		}
		f.Either("ms", "until")
		f.Check("ms", s.ms, "a number of milliseconds, 0 or more", func(v value.Value) bool { return duration(v) == nil })
		f.Check("until", s.until, "a time in RFC 3339, such as 2026-01-31T12:00:00Z, or milliseconds since 1970", func(v value.Value) bool {
			_, err := moment(v)
			return err == nil
		})
		s.next = f.Next()
		return s
	},
}

// wait is the step of a wait node, which has one of ms and until.
type wait struct {
	ms, until *graph.Template
	next      int
}

func (s wait) Begin(ctx context.Context, in *graph.Input) (graph.Action, error) {
	t := s.ms
	if t == nil {
		t = s.until
	}
	v, err := t.Eval(ctx, in.Env)
	if err != nil {
		return graph.Action{}, err
	}
	if s.ms != nil {
		err = duration(v)
	} else {
		v, err = moment(v)
	}
	if err != nil {
		pos, end := t.Place()
		return graph.Action{}, &graph.PosError{Pos: pos, End: end, Err: err}
	}
	return graph.Action{Value: v, Edge: s.next, Do: graph.Sleep}, nil
}

// End implements graph.Ender.
func (s wait) End(_ context.Context, in *graph.Input, _ value.Value) (graph.Output, error) {
	return graph.Output{Value: in.Previous, Edge: s.next}, nil
}

// maxMilliseconds bounds times, which is about 290,000 years.
const maxMilliseconds = 1 << 53

// duration refuses what is no number of milliseconds.
func duration(v value.Value) error {
	if ms := v.Float(); v.Kind() != value.Number || !(ms >= 0) || ms > maxMilliseconds {
		return fmt.Errorf("expected a number of milliseconds to wait for, found %s", graph.Describe(v))
	}
	return nil
}

// moment returns a time as text in RFC 3339.
func moment(v value.Value) (value.Value, error) {
	switch v.Kind() {
	case value.String:
		if _, err := time.Parse(time.RFC3339Nano, v.Str()); err == nil {
			return v, nil
		}
	case value.Number:
		// The years that RFC 3339 has.
		if ms := v.Float(); math.Abs(ms) <= maxMilliseconds {
			if at := time.UnixMilli(int64(ms)).UTC(); at.Year() >= 0 && at.Year() <= 9999 {
				return value.FromString(at.Format(time.RFC3339Nano)), nil
			}
		}
	}
	return value.Undef, fmt.Errorf("expected a time in RFC 3339 or milliseconds since 1970, found %s", graph.Describe(v))
}
