package nodes

import (
	"context"
	"fmt"
	"net/url"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Ask asks the person at the client (MCP 2025-11-25, Elicitation). Its output is
// what was filled in.
var Ask = &graph.Kind{
	Name:   "ask",
	Doc:    "Asks the person at the client; its output is what was filled in",
	Asks:   graph.AskPerson,
	Decode: decodeAsk,
}

// askTimeout is timeoutMs of a node that does not set it, as JSON.
const askTimeout = "600000"

func decodeAsk(f *graph.Fields) graph.Step {
	s := &question{declined: graph.NoEdge}
	s.message = f.Scalar("message", "What the person is asked", []string{"string"})
	s.form = f.Form("schema", "A form to fill in: a JSON Schema of an object with flat properties; without it the person only accepts or declines")
	s.url = f.Scalar("url", "A page to visit instead of a form; accepting means consent, not that the visit is over", []string{"string"}, graph.Optional)
	f.Check("url", s.url, "an absolute URL", func(v value.Value) bool { return absolute(v) })
	if f.Has("url") && f.Has("schema") {
		f.Problem("url", diag.CodeConflict, `has both "url" and "schema"`, "ask for a form or for a visit; use two nodes for both")
	}
	s.next = f.Next()
	s.declined = f.Edge("declined", "The node to go to if the person declines or cancels; without it that is the failure declined", graph.Optional)
	f.LabelEdge(s.declined, "declined", false)
	f.Timeout(askTimeout)
	f.Catch()
	return s
}

func absolute(v value.Value) bool {
	u, err := url.Parse(v.Str())
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// question is the step of an ask node.
type question struct {
	message, url   *graph.Template // url is nil for a form
	form           *graph.Form
	next, declined int
}

// Begin returns the params of elicitation/create as the value of the action.
func (s *question) Begin(ctx context.Context, in *graph.Input) (graph.Action, error) {
	message, err := evalText(ctx, in, s.message)
	if err != nil {
		return graph.Action{}, err
	}
	b := value.NewBuilder(3)
	if s.url == nil {
		b.Set("message", message)
		b.Set("requestedSchema", s.form.Schema())
		return graph.Action{Value: b.Value(), Edge: s.next, Do: graph.Ask}, nil
	}
	link, err := evalText(ctx, in, s.url)
	if err == nil && !absolute(link) {
		pos, end := s.url.Place()
		err = &graph.PosError{Pos: pos, End: end, Err: fmt.Errorf("expected an absolute URL to visit, found %s", graph.Describe(link))}
	}
	b.Set("mode", value.FromString("url"))
	b.Set("message", message)
	b.Set("url", link)
	return graph.Action{Value: b.Value(), Edge: s.next, Do: graph.Ask}, err
}

// evalText returns a text, which other values become as JSON.
func evalText(ctx context.Context, in *graph.Input, t *graph.Template) (value.Value, error) {
	v, err := t.Eval(ctx, in.Env)
	if err != nil || v.Kind() == value.String {
		return v, err
	}
	return value.FromString(asText(v)), nil
}

// asText returns a value as text: a string as it is, others as JSON.
func asText(v value.Value) string {
	switch v.Kind() {
	case value.String:
		return v.Str()
	case value.Undefined, value.Func:
		return ""
	}
	return v.JSON()
}

// End implements graph.Ender. The answer is the result of elicitation/create.
func (s *question) End(ctx context.Context, _ *graph.Input, answer value.Value) (graph.Output, error) {
	action := answer.Get("action")
	if action.Str() == "accept" {
		content := answer.Get("content")
		if s.url != nil || content.IsUndefined() || content.IsNull() {
			content = noArgs
		}
		return graph.Output{Value: content, Edge: s.next}, s.form.Check(ctx, content)
	}
	if s.declined == graph.NoEdge {
		return graph.Output{}, &graph.Failure{Name: graph.FailDeclined, Message: fmt.Sprintf("the person chose to %s", action.Str())}
	}
	return graph.Output{Value: value.FromEntries([]value.Entry{{Key: "action", Value: action}}), Edge: s.declined}, nil
}
