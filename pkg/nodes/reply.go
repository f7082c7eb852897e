package nodes

import (
	"errors"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// What of a reply is a node's output. Without a mode it is the structured
// content where there is some, else the first block.
const (
	modeText       = "text"       // all text blocks, joined by newlines
	modeStructured = "structured" // structuredContent, or an error
	modeContent    = "content"    // the list of blocks
	modeResult     = "result"     // the whole reply
	modeFirstBlock = "first"      // the first block, even beside structured content
)

// outputModes are those that a file can name.
var outputModes = []string{modeText, modeStructured, modeContent, modeResult}

// ToolError is the failure of a node whose call was answered with isError.
type ToolError struct {
	// Message is what the tool said.
	Message string
}

// Error returns the message.
func (e *ToolError) Error() string { return e.Message }

var errNoStructure = errors.New("the reply has no structuredContent, which `output: structured` asks for")

// output takes a node's output from the result object of tools/call (MCP,
// Server Features, Tools). It is undefined where the reply has no content.
func output(reply value.Value, mode string) (value.Value, error) {
	content := reply.Get("content")
	if reply.Get("isError").Bool() {
		return value.Undef, &ToolError{failure(reply, content)}
	}
	structured := reply.Get("structuredContent")
	switch mode {
	case modeText:
		text, _ := joined(content)
		return value.FromString(text), nil
	case modeStructured:
		if structured.IsUndefined() {
			return value.Undef, errNoStructure
		}
		return structured, nil
	case modeContent:
		if content.Kind() != value.Array {
			return value.FromArray(nil), nil
		}
		return content, nil
	case modeResult:
		return reply, nil
	case modeFirstBlock:
		return first(content), nil
	}
	if !structured.IsUndefined() {
		return structured, nil
	}
	return first(content), nil
}

// first reads the first content block.
func first(content value.Value) value.Value {
	if content.Len() == 0 || content.Kind() != value.Array {
		return value.Undef
	}
	block := content.Elems()[0]
	text := block.Get("text")
	if block.Get("type").Str() != "text" || text.Kind() != value.String {
		return block
	}
	if v, err := value.ParseLazy(text.Str()); err == nil {
		return v
	}
	return text
}

// joined gives all text blocks, and whether there is one.
func joined(content value.Value) (string, bool) {
	var texts []string
	for _, block := range content.Elems() {
		if block.Get("type").Str() == "text" {
			texts = append(texts, block.Get("text").Str())
		}
	}
	return strings.Join(texts, "\n"), len(texts) > 0
}

// failure gives what a reply with isError says.
func failure(reply, content value.Value) string {
	if text, ok := joined(content); ok && strings.TrimSpace(text) != "" {
		return text
	}
	if structured := reply.Get("structuredContent"); !structured.IsUndefined() {
		return structured.JSON()
	}
	if content.Len() > 0 {
		return content.JSON()
	}
	return "the tool reports an error and does not say which"
}
