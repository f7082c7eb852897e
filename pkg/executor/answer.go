package executor

import (
	"fmt"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Text returns what the question asks, for people: the message for a person, the
// last text for a model, or a sentence about the roots.
func (q Question) Text() string {
	switch q.Method {
	case graph.AskModel:
		messages := q.Value.Get("messages").Elems()
		for i := len(messages) - 1; i >= 0; i-- {
			if text := textOf(messages[i]); text != "" {
				return text
			}
		}
		return ""
	case graph.AskRoots:
		return "Which folders does the client work on (roots)?"
	}
	return q.Value.Get("message").Str()
}

// textOf returns the text of a message of a conversation with a model.
func textOf(message value.Value) string {
	var all []string
	for _, block := range graph.Blocks(message.Get("content")) {
		if text := block.Get("text").Str(); text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, "\n")
}

// Result returns the result of the question's request for an answer as people write
// it. The texts "decline" and "cancel" refuse, and "cannotAsk" stands for a client that
// cannot be asked: the error is the *graph.Failure of that name. Apart from these the
// answer is:
//
//   - for a person, "accept", or an object with what was filled in;
//   - for a model, the text of its answer; an object with the members text, model and
//     stopReason; a whole result, which has content; or any other JSON, whose text
//     then is the answer of the model;
//   - for roots, a list of URIs or of objects, or an object with the member roots.
//
// The error says what an answer can be.
func (q Question) Result(answer value.Value) (value.Value, error) {
	if action := answer.Str(); action == graph.Decline || action == graph.Cancel {
		return value.ObjectOf("action", answer), nil
	}
	if answer.Str() == graph.FailCannotAsk {
		return value.Undef, &graph.Failure{Name: graph.FailCannotAsk, Message: "the given answer is that the client cannot be asked"}
	}
	switch q.Method {
	case graph.AskModel:
		return modelResult(answer), nil
	case graph.AskRoots:
		return rootsResult(answer)
	}
	switch {
	case answer.Str() == graph.Accept:
		return value.ObjectOf("action", answer), nil
	case answer.Kind() == value.Object:
		return value.ObjectOf("action", value.FromString(graph.Accept), "content", answer), nil
	}
	return value.Undef, fmt.Errorf("expected an object with what is filled in, accept, decline or cancel; found %s", graph.Describe(answer))
}

func modelResult(answer value.Value) value.Value {
	text := answer.Get("text")
	switch {
	case graph.Blocks(answer.Get("content")) != nil:
		return answer
	case answer.Kind() == value.String:
		text = answer
	case text.Kind() != value.String || !onlyAnswer(answer):
		text = value.FromString(answer.JSON())
		answer = value.Undef
	}
	b := value.NewBuilder(4)
	b.Set("role", value.FromString("assistant"))
	b.Set("content", value.ObjectOf("type", value.FromString("text"), "text", text))
	model, stop := "manual", "endTurn"
	if m := answer.Get("model").Str(); m != "" {
		model = m
	}
	if s := answer.Get("stopReason").Str(); s != "" {
		stop = s
	}
	b.Set("model", value.FromString(model))
	b.Set("stopReason", value.FromString(stop))
	return b.Value()
}

// onlyAnswer reports whether an object has no other members than an answer of a model.
func onlyAnswer(answer value.Value) bool {
	for _, m := range answer.Entries() {
		if m.Key != "text" && m.Key != "model" && m.Key != "stopReason" {
			return false
		}
	}
	return true
}

func rootsResult(answer value.Value) (value.Value, error) {
	list := answer
	if answer.Kind() == value.Object {
		list = answer.Get("roots")
	}
	if list.Kind() != value.Array {
		return value.Undef, fmt.Errorf("expected a list of URIs, an object with roots, decline or cancel; found %s", graph.Describe(answer))
	}
	roots := make([]value.Value, 0, list.Len())
	for _, root := range list.Elems() {
		if root.Kind() == value.String {
			root = value.ObjectOf("uri", root)
		}
		roots = append(roots, root)
	}
	result := value.ObjectOf("roots", value.FromArray(roots))
	return result, graph.CheckAnswer(graph.AskRoots, result)
}
