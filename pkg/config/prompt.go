package config

import (
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// Prompt is one prompt as it is written.
type Prompt struct {
	Offer
	Arguments []Argument
	// Messages is the list of messages; nil where the prompt has nodes.
	Messages *Node
}

// Argument is one argument of a prompt. Its value is a string.
type Argument struct {
	Name, Title, Description string
	Required                 bool
	Complete                 *Completion // nil if there is none
	// Node is the argument as it is written.
	Node *Node
}

func decodePrompt(d *decoder, n *Node, index int, first map[string]Text) *Prompt {
	owner := ownerOf(n, "prompt", index)
	s := d.newSection(n, owner, promptSettings, nil)
	p := &Prompt{Offer: decodeOffer(s, Prompts)}
	checkUnique(d, p.Name, "prompt name", first)
	if name := p.Name.String(); name != "" && !isToolName(name) {
		w := p.Name.Problem(diag.CodeToolName, "clients may reject the name of "+owner)
		w.Hint = "use at most 128 ASCII letters, digits, _, - and ."
		d.report(w)
	}
	names := map[string]Text{}
	for i, a := range listedMaps(d, s.optional("arguments", List), "argument", " of "+owner) {
		if a != nil {
			p.Arguments = append(p.Arguments, decodeArgument(d, a, i, owner, names))
		}
	}
	messages, hasMessages := n.Field("messages")
	_, hasNodes := n.Field("nodes")
	switch {
	case hasMessages && hasNodes:
		s.reportConflict(messages.Key, owner+` has both "messages" and "nodes"`, "nodes")
	case hasMessages:
		p.Messages = s.optional("messages", List)
		for i, m := range listedMaps(d, p.Messages, "message", " of "+owner) {
			if m != nil {
				decodeMessage(d, m, fmt.Sprintf("message %d of %s", i+1, owner))
			}
		}
		if f, ok := n.Field("catch"); ok {
			s.reportConflict(f.Key, owner+` has "catch" beside "messages", which have no nodes to go to`, "messages")
		}
	case !hasNodes:
		m := n.Missing(owner, "messages")
		m.Message = owner + ` has neither "messages" nor "nodes"`
		m.Hint = `write messages: [{role: user, text: "…"}]`
		d.report(m)
	}
	return p
}

func decodeArgument(d *decoder, n *Node, index int, of string, first map[string]Text) Argument {
	owner := ownerOf(n, "argument", index) + " of " + of
	s := d.newSection(n, owner, argumentSettings, nil)
	a := Argument{
		Name: s.literal("name"), Title: s.literal("title"), Description: s.literal("description"),
		Required: s.boolean("required"), Complete: decodeCompletion(d, n.Get("complete"), `"complete" of `+owner), Node: n,
	}
	if a.Name != "" {
		checkUnique(d, n.Get("name").Text(), "argument name", first)
	}
	return a
}

// decodeMessage checks what a message says without its expressions.
func decodeMessage(d *decoder, n *Node, owner string) {
	s := d.newSection(n, owner, messageSettings, nil)
	if role := n.Get("role"); role != nil && !role.IsString() {
		d.report(d.notAString(role, "role"))
	} else {
		s.choice("role")
	}
	text, hasText := n.Field("text")
	_, hasContent := n.Field("content")
	switch {
	case hasText && hasContent:
		s.reportConflict(text.Key, owner+` has both "text" and "content"`, "content")
	case hasText && !text.Value.IsString() && text.Value.Kind() != Map:
		d.report(d.notAString(text.Value, "text"))
	case !hasText && !hasContent:
		m := n.Missing(owner, "text")
		m.Message = owner + ` has neither "text" nor "content"`
		d.report(m)
	}
	s.optional("content", Map)
}
