package suite

import (
	"regexp"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// plain are strings that YAML takes for strings without quotes, whatever its version.
var plain = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./+-]*( [A-Za-z0-9_./+-]+)*$`)

// words are plain scalars that some reader of YAML takes for something else.
var words = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n|\.inf|\.nan)$`)

// flowWidth is the length up to which maps and lists stand on one line, in bytes.
const flowWidth = 80

// YAML returns a value as YAML in block style; short maps and lists in it stand on one
// line, and long texts in lines of their own. It ends with a line break. Undefined is "(nothing)".
func YAML(v value.Value) string {
	if v.IsUndefined() {
		return "(nothing)\n"
	}
	var b strings.Builder
	block(&b, v, 0, "")
	return b.String()
}

// block writes a value behind what stands on its line already, such as "key:".
func block(b *strings.Builder, v value.Value, indent int, before string) {
	space := ""
	if before != "" {
		space = " "
	}
	pad := strings.Repeat("  ", indent)
	switch {
	case v.Kind() == value.String && isBlock(v.Str()):
		b.WriteString(space + "|")
		text := v.Str()
		switch trimmed := strings.TrimRight(text, "\n"); {
		case trimmed == text:
			b.WriteString("-")
		case trimmed+"\n" != text:
			b.WriteString("+")
		}
		b.WriteString("\n")
		for line := range strings.Lines(strings.TrimSuffix(text, "\n") + "\n") {
			if line != "\n" {
				b.WriteString(pad)
			}
			b.WriteString(line)
		}
		return
	case v.Kind() == value.Array && v.Len() > 0 && (before == "" || !isShort(v)):
		if before == "-" {
			b.WriteString(space)
		} else if before != "" {
			b.WriteString("\n")
		}
		for i, e := range v.Elems() {
			if i > 0 || before != "-" {
				b.WriteString(pad)
			}
			b.WriteString("-")
			block(b, e, indent+1, "-")
		}
		return
	case v.Kind() == value.Object && v.Len() > 0 && (before == "" || !isShort(v)):
		if before == "-" {
			b.WriteString(space)
		} else if before != "" {
			b.WriteString("\n")
		}
		for i, e := range v.Entries() {
			if i > 0 || before != "-" {
				b.WriteString(pad)
			}
			b.WriteString(scalar(e.Key) + ":")
			block(b, e.Value, indent+1, ":")
		}
		return
	}
	b.WriteString(space + Flow(v) + "\n")
}

// isBlock reports whether a text is better read in lines of its own.
func isBlock(text string) bool {
	if !strings.Contains(strings.TrimRight(text, "\n"), "\n") || strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\n") {
		return false
	}
	for _, r := range text {
		if r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffd {
			return false
		}
	}
	return true
}

// isShort reports whether a map or list fits a line, and holds no lines of text.
func isShort(v value.Value) bool {
	return !v.LongerThan(flowWidth) && len(Flow(v)) <= flowWidth && !hasBlock(v)
}

func hasBlock(v value.Value) bool {
	for _, e := range v.Elems() {
		if hasBlock(e) {
			return true
		}
	}
	for _, e := range v.Entries() {
		if hasBlock(e.Value) {
			return true
		}
	}
	return v.Kind() == value.String && isBlock(v.Str())
}

// Flow returns a value as YAML on one line.
func Flow(v value.Value) string {
	switch v.Kind() {
	case value.String:
		return scalar(v.Str())
	case value.Array:
		parts := make([]string, v.Len())
		for i, e := range v.Elems() {
			parts[i] = Flow(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case value.Object:
		parts := make([]string, 0, v.Len())
		for _, e := range v.Entries() {
			if !e.Value.IsUndefined() {
				parts = append(parts, scalar(e.Key)+": "+Flow(e.Value))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return v.JSON()
}

// scalar returns a string as a scalar of YAML.
func scalar(s string) string {
	if plain.MatchString(s) && !words.MatchString(s) {
		return s
	}
	return string(value.AppendString(nil, s))
}
