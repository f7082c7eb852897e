package graph

import (
	"context"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// The fields of generated nodes.
const (
	messagesField = "messages"
	completeField = "complete"
)

// messagesKind evaluates the messages of a prompt.
var messagesKind = &Kind{
	Name:   "messages",
	Doc:    "Makes the messages of a prompt from its arguments, and from tools that they call",
	Decode: decodeMessages,
}

// completeKind evaluates what to suggest for an argument.
var completeKind = &Kind{
	Name: "complete",
	Doc:  "Finds the values to suggest for an argument",
	Decode: func(f *Fields) Step {
		s := &suggestions{}
		n := f.get(ValueField, completeField, "What to suggest", nil)
		if n != nil {
			g := f.overArguments()
			s.values, _ = g.template(n, completeField, 0)
		}
		s.composed = f.calls(n)
		return s
	},
}

// suggestions is the step of completeKind.
type suggestions struct {
	composed
	values *Template
}

// Begin implements Step.
func (s *suggestions) Begin(ctx context.Context, in *Input) (Action, error) {
	return s.begin(ctx, in, func(env *expr.Env) (value.Value, error) { return s.values.Eval(ctx, env) })
}

// overArguments returns Fields like f whose expressions read arguments alone.
func (f *Fields) overArguments() *Fields {
	return &Fields{b: f.b, src: f.src, node: f.node, scope: f.scope, site: f.site, owner: f.scope.what, over: &over{}}
}

func decodeMessages(f *Fields) Step {
	s := &composition{}
	n := f.get(ValueField, messagesField, "The messages", nil)
	if n != nil {
		g := f.overArguments()
		for i, item := range n.Items() {
			if item.Kind() == config.Map {
				s.messages = append(s.messages, g.message(item, i))
			}
		}
	}
	s.composed = f.calls(n)
	return s
}

// message compiles one message. What its keys are is known to be right.
func (f *Fields) message(n *config.Node, index int) promptMessage {
	m := promptMessage{role: n.Get("role").Value(), src: n}
	if text := n.Get("text"); text != nil && (text.IsString() || text.Kind() == config.Map) {
		if text.Kind() == config.Map && text.Get(exprKey) == nil {
			f.report(text.Expected(f.what(fmt.Sprintf("messages[%d].text", index)), "a string or {expr: …}"))
		} else {
			m.text, _ = f.template(text, fmt.Sprintf("messages[%d].text", index), 0)
		}
	}
	if content := n.Get("content"); content != nil && content.Kind() == config.Map {
		var live bool
		m.content, live = f.template(content, fmt.Sprintf("messages[%d].content", index), 0)
		if !live {
			if err := CheckContent(content.Value()); err != nil {
				f.report(content.Problem(diag.CodeValue, fmt.Sprintf("%s: %v", f.what(fmt.Sprintf("messages[%d].content", index)), err)))
			}
		}
	}
	return m
}

// composition is the step of messagesKind.
type composition struct {
	composed
	messages []promptMessage
}

// promptMessage is one message of a prompt: a text, or any other content.
type promptMessage struct {
	role          value.Value
	text, content *Template // one is nil
	src           *config.Node
}

// Begin implements Step.
func (s *composition) Begin(ctx context.Context, in *Input) (Action, error) {
	return s.begin(ctx, in, func(env *expr.Env) (value.Value, error) {
		messages := make([]value.Value, 0, len(s.messages))
		for i := range s.messages {
			m := &s.messages[i]
			content, err := m.eval(ctx, env)
			if err != nil {
				return value.Undef, err
			}
			messages = append(messages, messageValue(m.role, content))
		}
		return value.FromEntries([]value.Entry{{Key: messagesField, Value: value.FromArray(messages)}}), nil
	})
}

// eval returns the content of a message.
func (m *promptMessage) eval(ctx context.Context, env *expr.Env) (value.Value, error) {
	if m.text != nil {
		v, err := m.text.Eval(ctx, env)
		switch {
		case err != nil:
			return v, err
		case v.IsUndefined(), v.Kind() == value.Func:
			v = value.FromString("")
		case v.Kind() != value.String:
			if v, err = WithoutFunctions(ctx, v); err != nil {
				return v, err
			}
			v = value.FromString(v.JSON())
		}
		return textContent(v), nil
	}
	v, err := m.content.Eval(ctx, env)
	if err == nil {
		if wrong := CheckContent(v); wrong != nil {
			err = &PosError{Pos: m.content.src.Pos(), End: m.content.src.End(), Err: &Failure{Name: FailResult, Message: "the content of the message: " + wrong.Error()}}
		}
	}
	return v, err
}

func textContent(text value.Value) value.Value {
	return value.FromEntries([]value.Entry{{Key: "type", Value: value.FromString("text")}, {Key: "text", Value: text}})
}

func messageValue(role, content value.Value) value.Value {
	return value.FromEntries([]value.Entry{{Key: "role", Value: role}, {Key: "content", Value: content}})
}
