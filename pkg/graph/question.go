package graph

import (
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// The requests of the client that an [Ask] can be (MCP 2025-11-25, Elicitation,
// Sampling, Roots).
const (
	AskPerson = "elicitation/create"
	AskModel  = "sampling/createMessage"
	AskRoots  = "roots/list"
)

// The actions of an answer. An answer to any request may have the last two as its
// member action: the client refused.
const (
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel"
)

// Refused returns the failure of an answer that refuses, nil for other answers.
func Refused(answer value.Value) *Failure {
	switch action := answer.Get("action").Str(); action {
	case Decline, Cancel:
		return &Failure{Name: FailDeclined, Message: fmt.Sprintf("the client chose to %s", action)}
	}
	return nil
}

// CheckAnswer returns a *Failure named FailAnswer if v does not have the shape of
// the result of the request: elicitation/create, sampling/createMessage or
// roots/list. An answer that refuses (see [Refused]) answers every request.
func CheckAnswer(method string, v value.Value) error {
	if v.Kind() == value.Object && Refused(v) != nil {
		return nil
	}
	wrong := ""
	switch method {
	case AskModel:
		wrong = wrongMessage(v)
	case AskRoots:
		wrong = wrongRoots(v)
	default:
		if v.Kind() != value.Object || v.Get("action").Str() != Accept {
			wrong = `the client's answer has no action of "accept", "decline" or "cancel"`
		}
	}
	if wrong == "" {
		return nil
	}
	return &Failure{Name: FailAnswer, Message: wrong}
}

// wrongMessage returns what is wrong with a CreateMessageResult.
func wrongMessage(v value.Value) string {
	if v.Kind() != value.Object {
		return "the client's answer is " + Describe(v) + "; expected a message of a model"
	}
	for _, key := range []string{"role", "model", "stopReason"} {
		if one := v.Get(key); !one.IsUndefined() && !one.IsNull() && one.Kind() != value.String {
			return fmt.Sprintf("the client's answer has the %s %s; expected a string", key, Describe(one))
		}
	}
	blocks := Blocks(v.Get("content"))
	if blocks == nil {
		return "the client's answer has no content"
	}
	for _, block := range blocks {
		kind := block.Get("type")
		if block.Kind() != value.Object || kind.Kind() != value.String {
			return "the client's answer has content without a type"
		}
		if kind.Str() == "text" && block.Get("text").Kind() != value.String {
			return "the client's answer has content of type text without a text"
		}
	}
	return ""
}

// Blocks returns the content of a message as a list: it may be one block, or a
// list of them since revision 2025-11-25. It is nil if there is none.
func Blocks(content value.Value) []value.Value {
	switch content.Kind() {
	case value.Object:
		return []value.Value{content}
	case value.Array:
		return content.Elems()
	}
	return nil
}

// wrongRoots returns what is wrong with a ListRootsResult.
func wrongRoots(v value.Value) string {
	roots := v.Get("roots")
	if v.Kind() != value.Object || roots.Kind() != value.Array {
		return "the client's answer has no list of roots"
	}
	for _, root := range roots.Elems() {
		if root.Kind() != value.Object || root.Get("uri").Kind() != value.String {
			return "the client's answer has a root without a uri"
		}
	}
	return ""
}

// Schema asks for a JSON Schema. It returns nil if there is none.
func (f *Fields) Schema(name, doc string) *Schema {
	n := f.setting(config.Setting{Name: name, Doc: doc, Shape: config.ObjectSchemaShape})
	switch {
	case n == nil:
		return nil
	case n.Kind() != config.Map:
		f.report(n.Expected(f.what(name), "a map: a JSON Schema"))
		return nil
	}
	return readSchema(f.b.reporter, n, f.what(name))
}

// AnswerAgain lets the node try once more, at once, after an answer that does not
// fit. [Input.Rejected] then has that answer.
func (f *Fields) AnswerAgain() {
	f.node.Policy.Retry = append(f.node.Policy.Retry, RetryRule{Errors: []string{FailAnswer}, MaxAttempts: 2})
}

// asks is Asks; seen are the graphs that are known not to.
func asks(g *Graph, seen map[*Graph]bool) bool {
	if g == nil || seen[g] {
		return false
	}
	seen[g] = true
	for _, n := range g.Nodes {
		if n.Approval != nil || n.Kind.Asks != "" || asks(n.Callee, seen) {
			return true
		}
		for _, body := range n.Bodies {
			if asks(body, seen) {
				return true
			}
		}
	}
	return false
}

// QuestionKind returns what of a question decides which clients can answer it: its
// method, followed by " url" for an elicitation by URL.
func QuestionKind(method string, params value.Value) string {
	if method == AskPerson && params.Get("mode").Str() == "url" {
		return method + " url"
	}
	return method
}
