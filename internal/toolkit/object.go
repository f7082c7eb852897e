package toolkit

import (
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// optional returns a text, or undefined if it is empty.
func optional(s string) value.Value {
	if s == "" {
		return value.Undef
	}
	return value.FromString(s)
}

// with returns an object with more members.
func with(v value.Value, pairs ...any) value.Value {
	b := value.NewBuilder(v.Len() + len(pairs)/2)
	for _, e := range v.Entries() {
		b.Set(e.Key, e.Value)
	}
	for _, e := range value.ObjectOf(pairs...).Entries() {
		b.Set(e.Key, e.Value)
	}
	return b.Value()
}

// whole returns a number of a request, no more than a billion; 0 if it is none. A JSON
// number can be greater than an int.
func whole(v value.Value) int {
	if v.Kind() != value.Number {
		return 0
	}
	return int(min(v.Float(), 1e9))
}

// literal returns the value of a JSON text of this program.
func literal(text string) value.Value {
	v, err := value.Parse(text)
	if err != nil {
		panic(err) // a mistake in this package, which its tests find
	}
	return v
}

// effect is what a tool does, for its annotations.
type effect string

const (
	reads    effect = `{"readOnlyHint":true,"openWorldHint":false}`
	looks    effect = `{"readOnlyHint":true,"openWorldHint":true}` // connects to servers
	edits    effect = `{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}`
	adds     effect = `{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false}`
	callsOut effect = `{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}`
)

// define returns a server.Tool; properties and out are JSON texts.
func define(name, description string, e effect, properties, required, out string) server.Tool {
	input := `{"type":"object","properties":{` + properties + `},"additionalProperties":false`
	if required != "" {
		input += `,"required":[` + required + `]`
	}
	return server.Tool{
		Name: name, Description: description, InputSchema: literal(input + "}"), OutputSchema: literal(out), Annotations: literal(string(e)),
	}
}
