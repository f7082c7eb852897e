package nodes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// conversation returns the messages that the node has.
func (s *sample) conversation(ctx context.Context, in *graph.Input) ([]value.Value, error) {
	if s.prompt != nil {
		v, err := s.prompt.Eval(ctx, in.Env)
		if err != nil {
			return nil, err
		}
		if v.Kind() == value.Array {
			list, err := messagesOf(v)
			return list, misplaced(s.prompt, err)
		}
		text := asText(v)
		if text == "" || v.IsNull() {
			return nil, misplaced(s.prompt, errors.New("the prompt is empty"))
		}
		return []value.Value{say("user", text)}, nil
	}
	list := make([]value.Value, len(s.messages))
	for i, m := range s.messages {
		if m.text != nil {
			text, err := evalText(ctx, in, m.text)
			if err != nil {
				return nil, err
			}
			list[i] = say(m.role, text.Str())
			continue
		}
		content, err := m.content.Eval(ctx, in.Env)
		if err == nil {
			err = misplaced(m.content, wrongContent(content))
		}
		if err != nil {
			return nil, err
		}
		list[i] = value.ObjectOf("role", value.FromString(m.role), "content", content)
	}
	if len(list) == 0 {
		return nil, errors.New("there are no messages for the model")
	}
	return list, nil
}

// messagesOf reads a list of messages: a text is one of the user, others have role
// and text or content.
func messagesOf(v value.Value) ([]value.Value, error) {
	if n := v.Len(); n == 0 || n > maxMessages {
		return nil, fmt.Errorf("expected 1 to %d messages, found %d", maxMessages, n)
	}
	list := make([]value.Value, 0, v.Len())
	for i, m := range v.Elems() {
		role, content := m.Get("role"), m.Get("content")
		if text := m.Get("text"); content.IsUndefined() {
			content = text
		}
		switch {
		case m.Kind() == value.String:
			role, content = value.Undef, m
		case m.Kind() != value.Object:
			return nil, fmt.Errorf("message %d is %s; expected a text, or an object with role and text", i, graph.Describe(m))
		}
		who := "user"
		if !role.IsUndefined() && !role.IsNull() {
			if who = role.Str(); who != "user" && who != "assistant" {
				return nil, fmt.Errorf(`message %d has the role %s; expected "user" or "assistant"`, i, role.Preview(60))
			}
		}
		if content.Kind() == value.String {
			list = append(list, say(who, content.Str()))
			continue
		}
		if err := wrongContent(content); err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		list = append(list, value.ObjectOf("role", value.FromString(who), "content", content))
	}
	return list, nil
}

// wrongContent refuses what is no content of a message.
func wrongContent(v value.Value) error {
	blocks := graph.Blocks(v)
	if len(blocks) == 0 {
		return fmt.Errorf("expected a block of content or a list of blocks, found %s", graph.Describe(v))
	}
	for _, block := range blocks {
		if block.Get("type").Kind() != value.String {
			return fmt.Errorf("expected a block of content with a type, found %s", block.Preview(60))
		}
	}
	return nil
}

// say returns a message with one text.
func say(role, text string) value.Value {
	return value.ObjectOf("role", value.FromString(role), "content", textBlock(text))
}

func textBlock(text string) value.Value {
	return value.ObjectOf("type", value.FromString("text"), "text", value.FromString(text))
}

// instructed returns the messages with what the model has to know about the schema.
func (s *sample) instructed(list []value.Value) []value.Value {
	if s.schema == nil {
		return list
	}
	instruction := "Answer with JSON alone, without any other text. It must fit this JSON Schema:\n" + s.schema.Raw()
	last := list[len(list)-1]
	content := last.Get("content")
	if last.Get("role").Str() != "user" || content.Get("type").Str() != "text" {
		return append(list, say("user", instruction))
	}
	list[len(list)-1] = say("user", content.Get("text").Str()+"\n\n"+instruction)
	return list
}

// maxQuoted bounds what a second prompt quotes of the first answer, in bytes.
const maxQuoted = 64 << 10

// again returns the messages of a second attempt: they have the answer that did not
// fit, and what was wrong with it.
func (s *sample) again(list []value.Value, in *graph.Input) []value.Value {
	if in.Rejected == nil {
		return list
	}
	if text, _ := textOf(in.Rejected.Answer); text != "" {
		list = append(list, say("assistant", textline.Prefix(text, maxQuoted)))
	}
	return append(list, say("user", "This answer cannot be used: "+in.Rejected.Reason+". Answer again, with JSON alone that fits the JSON Schema."))
}

// textOf returns the text of an answer, and the blocks that are no text.
func textOf(answer value.Value) (text string, others []value.Value) {
	var all strings.Builder
	for _, block := range graph.Blocks(answer.Get("content")) {
		if block.Get("type").Str() == "text" {
			all.WriteString(block.Get("text").Str())
		} else {
			others = append(others, block)
		}
	}
	return all.String(), others
}

// parsed returns the JSON of an answer, if it fits the schema.
func (s *sample) parsed(ctx context.Context, text, stopReason string) (value.Value, error) {
	v, err := value.Parse(withoutFence(text))
	if err != nil {
		wrong := "the answer of the model: " + err.Error()
		if stopReason == "maxTokens" {
			wrong += "; it ends at maxTokens"
		}
		return value.Undef, &graph.Failure{Name: graph.FailAnswer, Message: wrong}
	}
	err = s.schema.ValidateContext(ctx, v)
	var wrong *graph.SchemaError
	if errors.As(err, &wrong) {
		err = &graph.Failure{Name: graph.FailAnswer, Message: "the answer of the model does not fit the schema: " + wrong.Error()}
	}
	return v, err
}

// withoutFence returns the JSON of an answer. Many models write it as a code block.
func withoutFence(text string) string {
	text = strings.TrimSpace(text)
	inner, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text
	}
	if _, inner, ok = strings.Cut(inner, "\n"); !ok {
		return text
	}
	if inner, ok = strings.CutSuffix(inner, "```"); !ok {
		return text
	}
	return strings.TrimSpace(inner)
}
