package scaffold

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// draft is a pair of files before they are written.
type draft struct {
	up                      Upstream
	name                    string // of the new tool
	before                  string // the ids of nodes, in the flat layout
	target                  Target
	input                   value.Value // cleaned
	arguments, reply, given value.Value // given is the result that the reply gives
	real                    bool
}

// maxReply is how long the reply of a real call may be to stand in a test, in bytes.
const maxReply = 4 << 10

// newDraft returns nil if the plan does not fit: the test would not pass.
func newDraft(u Upstream, call Call, p plan, target Target) *draft {
	d := &draft{up: u, name: target.Tool, target: target}
	if d.name == "" {
		d.name = toolName(u.Tool)
	}
	switch {
	case p.open:
		d.input = anyObject
	case p.simple:
		d.input = simplified(u.Input)
	default:
		d.input = cleaned(u.Input)
	}
	if d.input.LongerThan(maxSchema) || d.input.Get("type").Str() != "object" {
		return nil
	}
	if d.arguments = call.Arguments; d.arguments.IsUndefined() {
		d.arguments = sample(d.input, false)
	}
	if !fits(d.input, d.arguments) {
		return nil
	}
	return d.withReply(call)
}

// withReply adds the reply of the test: that of the real call, or one made up.
func (d *draft) withReply(call Call) *draft {
	for _, reply := range []struct {
		value value.Value
		real  bool
	}{{mockOf(call.Reply), true}, {d.madeUp(), false}} {
		if reply.value.IsUndefined() {
			continue
		}
		result, err := nodes.Output(resultOf(reply.value), "")
		if err != nil {
			continue
		}
		if result.IsUndefined() {
			result = value.NullValue
		}
		d.reply, d.given, d.real = reply.value, result, reply.real
		return d
	}
	return nil
}

// madeUp returns a reply that fits the upstream tool's outputSchema, if it has one that
// can be made up.
func (d *draft) madeUp() value.Value {
	if output := d.up.Output; !output.IsUndefined() && !output.LongerThan(maxSchema) {
		if output = cleaned(output); fits(output, sample(output, true)) {
			return value.ObjectOf("structured", sample(output, true))
		}
	}
	return value.ObjectOf("text", value.FromString("a reply of "+d.name))
}

// mockOf returns a reply of tools/call in the short form of test files, undefined
// if it is an error or too long.
func mockOf(reply value.Value) value.Value {
	if reply.IsUndefined() || reply.Get("isError").Bool() || reply.LongerThan(maxReply) {
		return value.Undef
	}
	content := reply.Get("content")
	if v := reply.Get("structuredContent"); v.Kind() == value.Object {
		return value.ObjectOf("structured", v)
	}
	if content.Kind() == value.Array && content.Len() == 1 {
		block := content.Elems()[0]
		if text := block.Get("text"); block.Get("type").Str() == "text" && text.Kind() == value.String {
			return value.ObjectOf("text", text)
		}
	}
	return value.ObjectOf("result", reply)
}

// resultOf undoes mockOf.
func resultOf(mock value.Value) value.Value {
	e := mock.Entries()[0]
	switch e.Key {
	case "structured":
		return value.ObjectOf("structuredContent", e.Value)
	case "text":
		return value.ObjectOf("content", value.FromArray([]value.Value{
			value.ObjectOf("type", value.FromString("text"), "text", e.Value)}))
	}
	return e.Value
}

// fits reports whether a value fits a schema that compiles.
func fits(schema, v value.Value) bool {
	s, err := graph.NewSchema(schema)
	return err == nil && !v.IsUndefined() && s.Validate(v) == nil
}

var unusable = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// toolName returns a name that every client takes.
func toolName(name string) string {
	name = strings.Trim(unusable.ReplaceAllString(name, "_"), "_")
	if name == "" {
		return "tool"
	}
	return name[:min(len(name), 128)]
}

// Bounds of descriptions, in code points.
const (
	maxToolText  = 600
	maxFieldText = 300
)

// plainText returns a text of a server on one line, without characters that command
// terminals or change the direction of text, and cut to a length.
func plainText(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	return textline.Shorten(text, limit)
}
