package nodes

import (
	"context"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Sample asks the model of the client (MCP 2025-11-25, Sampling). Its output is
// what the model answered.
var Sample = &graph.Kind{
	Name:   "sample",
	Doc:    "Asks the language model of the client; its output is the answer. MCP deprecates sampling since 2026-07-28",
	Asks:   graph.AskModel,
	Decode: decodeSample,
}

// Bounds of a sample node.
const (
	// defaultMaxTokens is maxTokens of a node that does not set it.
	defaultMaxTokens = 1000
	// maxMessages bounds the messages of one request.
	maxMessages = 1000
	// maxPrompt bounds the messages of one request and its system prompt, in bytes
	// of JSON.
	maxPrompt = 1 << 20
)

func decodeSample(f *graph.Fields) graph.Step {
	s := &sample{}
	s.prompt = f.Scalar("prompt", "What the model is asked; an expression can also return a list of messages", []string{"string"}, graph.Optional)
	for _, m := range f.List("messages", "A conversation instead of one prompt", graph.Optional) {
		s.messages = append(s.messages, decodeMessage(m))
	}
	f.Either("prompt", "messages")
	if f.Has("messages") && len(s.messages) == 0 {
		f.Problem("messages", diag.CodeValue, "has no messages for the model", "write a list such as [{role: user, text: Hello}]")
	}
	s.system = f.Scalar("system", "The system prompt; clients may change or ignore it", []string{"string"}, graph.Optional)
	s.schema = f.Schema("schema", "JSON Schema of the answer: the model is told to answer with JSON, which is checked and becomes the output; an answer that does not fit is asked for once more")
	s.maxTokens = f.Scalar("maxTokens", "Largest number of tokens of the answer", []string{"integer"}, graph.Optional, graph.Default("1000"))
	f.Check("maxTokens", s.maxTokens, "a whole number of tokens, 1 or more", func(v value.Value) bool { return tokens(v) == nil })
	s.temperature = f.Scalar("temperature", "How much the model may vary, from 0; the client may ignore it", []string{"number"}, graph.Optional)
	f.Check("temperature", s.temperature, "a number, 0 or more", func(v value.Value) bool { return temperature(v) == nil })
	s.hint = f.Scalar("modelHint", "A model, or a part of its name, that the client should prefer", []string{"string"}, graph.Optional)
	s.next = f.Next()
	f.Timeout(askTimeout)
	f.Catch()
	if s.schema != nil {
		f.AnswerAgain()
	}
	return s
}

func decodeMessage(f *graph.Fields) message {
	m := message{role: f.Choice("role", "Who says it", []string{"user", "assistant"}, graph.Optional, graph.Default("user"))}
	if m.role == "" {
		m.role = "user"
	}
	m.text = f.Scalar("text", "The text", []string{"string"}, graph.Optional)
	m.content = f.Value("content", "Other content instead of a text: a block of MCP, such as an image, or a list of them", graph.Optional)
	f.Either("text", "content")
	return m
}

// message is one of the messages of a sample node; it has one of text and content.
type message struct {
	role          string
	text, content *graph.Template
}

// sample is the step of a sample node, which has one of prompt and messages.
type sample struct {
	prompt, system, maxTokens, temperature, hint *graph.Template // may be nil

	messages []message
	schema   *graph.Schema // nil: the answer is text
	next     int
}

// Begin returns the params of sampling/createMessage as the value of the action.
func (s *sample) Begin(ctx context.Context, in *graph.Input) (graph.Action, error) {
	list, err := s.conversation(ctx, in)
	if err != nil {
		return graph.Action{}, err
	}
	b := value.NewBuilder(5)
	b.Set("messages", value.FromArray(s.again(s.instructed(list), in)))
	if s.system != nil {
		text, err := evalText(ctx, in, s.system)
		if err != nil {
			return graph.Action{}, err
		}
		b.Set("systemPrompt", text)
	}
	most := value.FromInt(defaultMaxTokens)
	if s.maxTokens != nil {
		if most, err = evalChecked(ctx, in, s.maxTokens, tokens); err != nil {
			return graph.Action{}, err
		}
	}
	b.Set("maxTokens", most)
	if s.temperature != nil {
		t, err := evalChecked(ctx, in, s.temperature, temperature)
		if err != nil {
			return graph.Action{}, err
		}
		b.Set("temperature", t)
	}
	if s.hint != nil {
		name, err := evalText(ctx, in, s.hint)
		if err != nil {
			return graph.Action{}, err
		}
		if name.Str() != "" {
			b.Set("modelPreferences", value.ObjectOf("hints", value.FromArray([]value.Value{value.ObjectOf("name", name)})))
		}
	}
	params := b.Value()
	if params.LongerThan(maxPrompt) {
		return graph.Action{}, &graph.Failure{Name: graph.FailArguments, Message: fmt.Sprintf("the prompt is longer than %d bytes", maxPrompt)}
	}
	return graph.Action{Value: params, Edge: s.next, Do: graph.Ask}, nil
}

// evalChecked returns a value that check accepts. Other values are errors at the
// place of the template.
func evalChecked(ctx context.Context, in *graph.Input, t *graph.Template, check func(value.Value) error) (value.Value, error) {
	v, err := t.Eval(ctx, in.Env)
	if err == nil {
		err = misplaced(t, check(v))
	}
	return v, err
}

// misplaced returns err at the place of a template.
func misplaced(t *graph.Template, err error) error {
	if err == nil {
		return nil
	}
	pos, end := t.Place()
	return &graph.PosError{Pos: pos, End: end, Err: err}
}

// tokens refuses what is no number of tokens.
func tokens(v value.Value) error {
	if n := v.Float(); v.Kind() != value.Number || !(n >= 1) || n > 1<<31 || n != float64(int64(n)) {
		return fmt.Errorf("expected a whole number of tokens, 1 or more, found %s", graph.Describe(v))
	}
	return nil
}

// temperature refuses what is no temperature.
func temperature(v value.Value) error {
	if n := v.Float(); v.Kind() != value.Number || !(n >= 0) || n > 100 {
		return fmt.Errorf("expected a temperature, 0 or more, found %s", graph.Describe(v))
	}
	return nil
}

// End implements graph.Ender. The answer is the result of sampling/createMessage.
func (s *sample) End(ctx context.Context, _ *graph.Input, answer value.Value) (graph.Output, error) {
	if refused := graph.Refused(answer); refused != nil {
		return graph.Output{}, refused
	}
	if err := graph.CheckAnswer(graph.AskModel, answer); err != nil {
		return graph.Output{}, err
	}
	text, others := textOf(answer)
	if s.schema != nil {
		v, err := s.parsed(ctx, text, answer.Get("stopReason").Str())
		return graph.Output{Value: v, Edge: s.next}, err
	}
	b := value.NewBuilder(4)
	b.Set("text", value.FromString(text))
	b.Set("model", value.FromString(answer.Get("model").Str()))
	b.Set("stopReason", value.FromString(answer.Get("stopReason").Str()))
	if len(others) > 0 {
		b.Set("content", value.FromArray(others))
	}
	return graph.Output{Value: b.Value(), Edge: s.next}, nil
}
