package server

import (
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Prompt is one prompt as clients see it (MCP 2025-11-25, Prompts).
type Prompt struct {
	Name        string
	Title       string
	Description string
	// Arguments are the arguments in the order in which clients see them. Nil means
	// that they are not known, and not checked.
	Arguments []PromptArgument
	Icons     value.Value // undefined if there are none
	// RequiredScopes are the scopes that a caller over HTTP needs.
	RequiredScopes []string
	// Get returns the result of prompts/get: an object with messages, and description
	// if there is one. r.Args has the arguments, which are strings, and r.Tool is
	// "prompts/NAME". An error becomes a JSON-RPC error.
	Get CallFunc
	// Complete completes arguments; nil if nothing can be completed.
	Complete CompleteFunc
}

// PromptArgument is an argument of a prompt. Its value is a string.
type PromptArgument struct {
	Name, Title, Description string
	Required                 bool
}

func (t *Prompt) offer() *offer {
	o := &offer{
		target: promptTarget + t.Name, label: fmt.Sprintf("prompt %q", jsonrpc.Clip(t.Name)), scopes: t.RequiredScopes,
		call: t.Get, verbatim: true, complete: t.Complete,
	}
	if t.Arguments != nil {
		o.arguments = []string{}
	}
	for _, a := range t.Arguments {
		o.arguments = append(o.arguments, a.Name)
		if a.Required {
			o.required = append(o.required, a.Name)
		}
	}
	return o
}

func (t *Prompt) listed() listed {
	b := value.NewBuilder(5)
	b.Set("name", value.FromString(t.Name))
	setText(b, "title", t.Title)
	setText(b, "description", t.Description)
	var arguments []value.Value
	for _, a := range t.Arguments {
		one := value.NewBuilder(4)
		one.Set("name", value.FromString(a.Name))
		setText(one, "title", a.Title)
		setText(one, "description", a.Description)
		if a.Required {
			one.Set("required", value.True)
		}
		arguments = append(arguments, one.Value())
	}
	if len(arguments) > 0 {
		b.Set("arguments", value.FromArray(arguments))
	}
	b.Set("icons", t.Icons)
	text := b.Value().Append(nil)
	return listed{offer: t.offer(), key: t.Name, legacy: text, modern: text}
}

// setText sets a member unless the text is empty.
func setText(b *value.Builder, key, text string) {
	if text != "" {
		b.Set(key, value.FromString(text))
	}
}

// checkPrompts refuses methods of prompts if there are none.
func checkPrompts(p *snapshot, r *Request) *rpcError {
	if !p.hasPrompts() {
		return rpcErrorf(mcp.METHOD_NOT_FOUND, "%s: this server has no prompts", r.Method)
	}
	return nil
}

func (c *catalog) hasPrompts() bool { return len(c.prompts) > 0 || c.dynamic.Prompts != nil }

// findPrompt returns the prompt with this name, or the error of a request that names
// it.
func (c *catalog) findPrompt(r *Request, name string) (*offer, *rpcError) {
	o := c.promptsByName[name]
	if o == nil && c.dynamic.Prompt != nil {
		if found := c.dynamic.Prompt(r, name); found != nil {
			o = found.offer()
		}
	}
	if o == nil || c.hidden(r, o) {
		return nil, c.unknown(r, "prompt", name, c.prompts)
	}
	return o, nil
}

// checkGet refuses prompts/get for a prompt that does not exist or that the caller may
// not have, and for arguments that are missing or that it does not have.
func checkGet(p *snapshot, r *Request) *rpcError {
	if rpcErr := checkPrompts(p, r); rpcErr != nil {
		return rpcErr
	}
	o, rpcErr := p.findPrompt(r, r.params.Get("name").Str())
	if rpcErr == nil {
		rpcErr = p.scopes.check(r, o)
	}
	if rpcErr != nil {
		return rpcErr
	}
	r.offer, r.Tool = o, o.target
	for _, name := range o.required {
		if !r.Args.Has(name) {
			return rpcErrorf(mcp.INVALID_PARAMS, "%s: %s: missing required argument %q", r.Method, o.label, name)
		}
	}
	return checkStrings(r, o, "arguments", r.Args)
}

// checkStrings refuses members of args that are no strings, or that the offer does
// not know.
func checkStrings(r *Request, o *offer, member string, args value.Value) *rpcError {
	for _, e := range args.Entries() {
		if e.Value.Kind() != value.String {
			return rpcErrorf(mcp.INVALID_PARAMS, "%s: %s.%s must be a string", r.Method, member, e.Key)
		}
		if rpcErr := o.checkArgument(r, e.Key); rpcErr != nil {
			return rpcErr
		}
	}
	return nil
}
