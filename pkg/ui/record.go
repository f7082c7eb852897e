package ui

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

type record struct {
	Index     int       `json:"index"`
	Key       string    `json:"key"`
	Path      string    `json:"path"`
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	Event     string    `json:"event"`
	Frame     string    `json:"frame"`
	Execution int       `json:"execution"`
	Item      *int      `json:"item,omitempty"`
	Branch    string    `json:"branch,omitempty"`
	Start     time.Time `json:"start"`
	End       time.Time `json:"end"`
	MS        float64   `json:"ms"`
	State     string    `json:"state" ts:"'done' | 'failed' | 'caught' | 'cancelled' | 'pinned' | 'waiting'"`
	Output    any       `json:"output,omitempty"`
	Error     *failure  `json:"error,omitempty"`
	Via       string    `json:"via,omitempty"`
	Next      string    `json:"next,omitempty"` // a key
	Server    string    `json:"server,omitempty"`
	Tool      string    `json:"tool,omitempty"`
	Arguments any       `json:"arguments,omitempty"`
	Unsent    []string  `json:"unsent,omitempty"`
	Reply     any       `json:"reply,omitempty"`
	Attempts  []attempt `json:"attempts,omitempty"`
	FromCache bool      `json:"fromCache,omitempty"`
	Tries     int       `json:"tries,omitempty"`
}

type attempt struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	Error string    `json:"error,omitempty"`
}

type failure struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	File    string `json:"file,omitempty"`
	Span    *place `json:"span,omitempty"`
	Key     string `json:"key,omitempty"`
	Path    string `json:"path,omitempty"`
	Detail  any    `json:"detail,omitempty"`
}

type activity struct {
	Key       string     `json:"key"`
	Path      string     `json:"path"`
	Execution int        `json:"execution"`
	Attempt   int        `json:"attempt"`
	State     string     `json:"state"`
	Start     *time.Time `json:"start,omitempty"`
	Server    string     `json:"server,omitempty"`
	Tool      string     `json:"tool,omitempty"`
	// What is known of the calls of durable runs.
	Worker   string   `json:"worker,omitempty"`
	Progress *float64 `json:"progress,omitempty"`
	Total    *float64 `json:"total,omitempty"`
	Message  string   `json:"message,omitempty"`
}

type question struct {
	ID       string      `json:"id"`
	Key      string      `json:"key"`
	Path     string      `json:"path"`
	Method   string      `json:"method" ts:"'elicitation/create' | 'sampling/createMessage' | 'roots/list'"`
	Message  string      `json:"message"`
	Schema   value.Value `json:"schema,omitzero"`
	URL      string      `json:"url,omitempty"`
	System   string      `json:"system,omitempty"`
	Messages []said      `json:"messages,omitempty"`
	Until    *time.Time  `json:"until,omitempty"`
}

// said is a message of a conversation with a model.
type said struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// keyOf returns the key of what a path of a run of g leads to; the path itself if
// nothing is there any more.
func keyOf(g *graph.Graph, path string) string {
	if n := nodeAt(g, path); n != nil {
		return n.Key()
	}
	return g.Name + "#" + path
}

// recordOf returns a record of a run of g to be shown.
func recordOf(g *graph.Graph, rec *executor.Record, s shower) *record {
	path := rec.NodePath()
	r := &record{
		Index: rec.Index, Key: keyOf(g, path), Path: path, ID: rec.Node, Type: rec.Kind, Event: rec.Event.String(),
		Frame: rec.Frame, Execution: rec.Execution, Start: rec.Start.UTC(), End: rec.End.UTC(),
		MS: float64(rec.End.Sub(rec.Start).Microseconds()) / 1000, State: stateOf(rec),
		Output: s.short(rec.Output), Via: rec.Via, Server: rec.Server, Tool: rec.Tool, Arguments: s.short(rec.Arguments),
		Reply: s.short(rec.Reply), FromCache: rec.FromCache, Tries: rec.Try,
	}
	if rec.Reply.IsUndefined() && rec.ReplyBytes > 0 {
		r.Reply = cut{cutInfo{Bytes: rec.ReplyBytes}} // it is not kept
	}
	for _, text := range rec.Unsent {
		r.Unsent = append(r.Unsent, s.text(text))
	}
	for _, one := range rec.AttemptTimes {
		a := attempt{Start: one.Start.UTC(), End: one.End.UTC()}
		if one.Err != nil {
			a.Error = s.text(one.Err.Error())
		}
		r.Attempts = append(r.Attempts, a)
	}
	n := nodeAt(g, path)
	if n != nil {
		if way := n.Way(rec.Edge); way != nil && way.To != nil && rec.Via != "" {
			r.Next = way.To.Key()
		}
		if owner := n.Graph.Owner; owner != nil {
			slot, _ := strconv.Atoi(rec.Frame[strings.LastIndexByte(rec.Frame, '.')+1:])
			if owner.Spread.Each {
				r.Item = &slot
			} else if slot < len(owner.Spread.Names) {
				r.Branch = owner.Spread.Names[slot]
			}
		}
	}
	if rec.Err != nil {
		r.Error = failureOf(g, rec.Err, s)
	}
	return r
}

// stateOf returns what a record says of its execution.
func stateOf(rec *executor.Record) string {
	switch rec.Event {
	case executor.Opened, executor.Answered:
		return "waiting"
	case executor.Cancelled:
		return "cancelled"
	case executor.Retried:
		return "failed"
	}
	switch {
	case rec.Pinned:
		return "pinned"
	case rec.Err == nil:
		return "done"
	case rec.Via != "":
		return "caught"
	}
	return "failed"
}

// failureOf returns an error of a run of g to be shown.
func failureOf(g *graph.Graph, err error, s shower) *failure {
	f := executor.FailureOf(err)
	out := &failure{Name: f.Name, Message: s.text(f.Message), Path: f.Path}
	if g != nil && f.Path != "" {
		out.Key = keyOf(g, f.Path)
	}
	if at := deepest(err); at != nil && !at.Pos.IsZero() {
		span := placeOf(at.Pos, at.End)
		out.File, out.Span = at.File, &span
	}
	detail := f.Data
	if detail.IsUndefined() {
		detail = f.Reply
	}
	out.Detail = s.short(detail)
	return out
}

func activityOf(g *graph.Graph, a *executor.Activity) activity {
	out := activity{
		Key: keyOf(g, a.Path), Path: a.Path, Execution: a.Execution, Attempt: a.Try, State: a.State, Server: a.Server, Tool: a.Tool,
	}
	if !a.Start.IsZero() {
		out.Start = ptr(a.Start.UTC())
	}
	return out
}

func questionOf(g *graph.Graph, q *executor.Question, s shower) question {
	v := s.whole(q.Value)
	shown := *q
	shown.Value = v
	out := question{
		ID: q.ID, Key: keyOf(g, q.Path), Path: q.Path, Method: q.Method, Message: shown.Text(), Schema: v.Get("requestedSchema"),
		System: v.Get("systemPrompt").Str(),
	}
	for _, m := range v.Get("messages").Elems() {
		one := said{Role: m.Get("role").Str()}
		for _, block := range graph.Blocks(m.Get("content")) {
			if kind := block.Get("type").Str(); kind == "text" {
				one.Text += block.Get("text").Str()
			} else {
				one.Text += "(" + kind + ")"
			}
		}
		out.Messages = append(out.Messages, one)
	}
	if u := v.Get("url"); u.Kind() == value.String {
		out.URL = u.Str()
	}
	if !q.Until.IsZero() {
		out.Until = ptr(q.Until.UTC())
	}
	return out
}

// deepest returns the innermost failure of a node in an error, or nil.
func deepest(err error) *executor.NodeError {
	var at *executor.NodeError
	for next := (*executor.NodeError)(nil); errors.As(err, &next); err = next.Err {
		at = next
	}
	return at
}
