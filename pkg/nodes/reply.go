package nodes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// What of a reply is a node's output. Without a mode it is the structured
// content if there is some, else the first block.
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
	// Message is the text of the tool.
	Message string
	// Reply is the whole reply.
	Reply value.Value
}

// Error returns the message.
func (e *ToolError) Error() string { return e.Message }

// FailureName returns the name that rules of retry and catch know it by.
func (e *ToolError) FailureName() string { return graph.FailToolError }

// FailureReply returns the reply.
func (e *ToolError) FailureReply() value.Value { return e.Reply }

var errNoStructure = errors.New("the reply has no structuredContent, which `output: structured` needs")

// blocksOf returns the content of a reply, or undefined if it has none.
func blocksOf(reply value.Value) (value.Value, error) {
	content := reply.Get("content")
	switch content.Kind() {
	case value.Array, value.Undefined:
		return content, nil
	case value.Null:
		return value.Undef, nil
	}
	return value.Undef, fmt.Errorf("the content of the reply must be a list of blocks, found %s; to use the reply unchanged, set `output: result`",
		graph.Describe(content))
}

// OutputModes returns the values of "output" of an mcp node.
func OutputModes() []string { return slices.Clone(outputModes) }

// Output returns the output of an mcp node whose call got this reply, the result
// object of tools/call (MCP, Server Features, Tools). mode is one of
// [OutputModes], or empty. It is undefined if the reply has no content. A reply
// with isError is a *[ToolError].
func Output(reply value.Value, mode string) (value.Value, error) {
	if reply.Get("isError").Bool() {
		return value.Undef, &ToolError{failure(reply, reply.Get("content")), reply}
	}
	structured := reply.Get("structuredContent")
	switch {
	case mode == modeResult:
		return reply, nil
	case mode == modeStructured && structured.IsUndefined():
		return value.Undef, errNoStructure
	case mode == modeStructured, mode == "" && !structured.IsUndefined():
		return structured, nil
	}
	content, err := blocksOf(reply)
	switch {
	case err != nil:
		return value.Undef, err
	case mode == modeText:
		text, _ := joined(content)
		return value.FromString(text), nil
	case mode == modeContent && content.IsUndefined():
		return value.FromArray(nil), nil
	case mode == modeContent:
		return content, nil
	}
	return first(content), nil
}

// first reads the first content block.
func first(content value.Value) value.Value {
	if content.Len() == 0 {
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

// joined returns all text blocks, and whether there is one.
func joined(content value.Value) (string, bool) {
	var texts []string
	for _, block := range content.Elems() {
		if block.Get("type").Str() == "text" {
			texts = append(texts, block.Get("text").Str())
		}
	}
	return strings.Join(texts, "\n"), len(texts) > 0
}

// failure returns the message of a reply with isError.
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
	return "the tool reported an error without a message"
}
