package cli

import (
	"fmt"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// activityLine returns what an execution waits for, for people; empty for what is shown
// in another way.
func activityLine(a *executor.Activity) string {
	until := ""
	if !a.Until.IsZero() {
		until = " until " + a.Until.UTC().Format(time.RFC3339)
	}
	switch {
	case a.State == "sleeping":
		return "waits: " + a.Path + until
	case a.State == "retrying":
		return fmt.Sprintf("waits: %s, for attempt %d%s", a.Path, a.Try+1, until)
	case a.State == "running" && a.Server != "":
		return fmt.Sprintf("calls: %s (tool %s of server %s), for %s", a.Path, a.Tool, a.Server, duration(time.Since(a.Start)))
	case a.State == "running":
		return "at work: " + a.Path
	}
	return ""
}

// members makes a JSON object of members that are there.
type members struct{ *value.Builder }

func (o members) text(key, v string) {
	if v != "" {
		o.Set(key, value.FromString(v))
	}
}

func (o members) time(key string, t time.Time) {
	if !t.IsZero() {
		o.text(key, t.UTC().Format(time.RFC3339Nano))
	}
}

func (o members) value(key string, v value.Value) {
	if !v.IsUndefined() {
		o.Set(key, v)
	}
}

func (o members) list(key string, list []value.Value) {
	if len(list) > 0 {
		o.Set(key, value.FromArray(list))
	}
}

// stateValue returns a run as JSON, with its records.
func stateValue(s *runs.State, records []value.Value) value.Value {
	o := members{value.NewBuilder(20)}
	for _, e := range summaryValue(s.Summary).Entries() {
		o.Set(e.Key, e.Value)
	}
	o.text("problem", s.Problem)
	o.value("arguments", s.Args)
	o.value("result", s.Result)
	if f := s.Failure(); f != nil {
		o.Set("failure", f.Value())
		o.text("error", f.Name)
	}
	var questions, waits, calls, children []value.Value
	for _, q := range s.Questions {
		one := members{value.NewBuilder(5)}
		one.text("id", q.ID)
		one.text("path", q.Path)
		one.text("method", q.Method)
		one.value("params", q.Params)
		one.time("until", q.Until)
		questions = append(questions, one.Value())
	}
	for _, a := range s.Active {
		one := members{value.NewBuilder(4)}
		one.text("path", a.Path)
		switch {
		case a.State == "sleeping" || a.State == "retrying":
			one.time("until", a.Until)
			waits = append(waits, one.Value())
		case a.State == "running" && a.Server != "":
			one.text("server", a.Server)
			one.text("tool", a.Tool)
			one.time("since", a.Start)
			calls = append(calls, one.Value())
		}
	}
	for _, c := range s.Children {
		one := members{value.NewBuilder(3)}
		one.text("run", c.ID)
		one.text("tool", c.Tool)
		one.text("path", c.Path)
		children = append(children, one.Value())
	}
	o.list("questions", questions)
	o.list("waits", waits)
	o.list("calls", calls)
	o.list("children", children)
	var history []value.Value
	bare := &graph.Graph{Name: s.Tool}
	for _, v := range records {
		if rec, err := executor.RecordFrom(bare, v); err == nil && rec.Event == executor.Done {
			history = append(history, runs.Execution(rec))
		}
	}
	o.Set("history", value.FromArray(history))
	o.Set("records", value.FromArray(records))
	return o.Value()
}
