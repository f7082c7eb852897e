package edit

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// plainText matches strings that need no quotes, whatever stands around them.
var plainText = regexp.MustCompile(`^[A-Za-z_$/.][A-Za-z0-9_$/.+()=@-]*( [A-Za-z0-9_$/.+()=@-]+)*$`)

// plainWords are strings that mean something else without quotes, here or for
// other readers of YAML.
var plainWords = map[string]bool{
	"null": true, "true": true, "false": true, "yes": true, "no": true, "on": true, "off": true,
	".nan": true, ".inf": true, "...": true,
}

func needsNoQuotes(s string) bool {
	return plainText.MatchString(s) && !plainWords[strings.ToLower(s)] && (s[0] != '.' || len(s) > 1 && !strings.ContainsAny(s[1:2], "0123456789"))
}

// scalarText returns a scalar on one line, in the style of the one that it
// replaces.
func scalarText(v value.Value, old config.Style) string {
	if v.Kind() != value.String {
		return v.JSON()
	}
	s := v.Str()
	simple := utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r == '\ufeff' || r == '\u2028' || r == '\u2029' || !unicode.IsPrint(r) && r != ' '
	})
	switch {
	case old == config.DoubleStyle || !simple:
		return escaped(s)
	case old == config.SingleStyle || !needsNoQuotes(s):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return s
}

// escaped returns a string in double quotes.
func escaped(s string) string {
	return strings.NewReplacer("\x7f", `\u007f`, "\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`, "\ufeff", `\ufeff`).
		Replace(string(value.AppendString(nil, s)))
}

// flowText returns a value on one line.
func flowText(v value.Value) string {
	var parts []string
	switch v.Kind() {
	case value.Array:
		for _, item := range v.Elems() {
			parts = append(parts, flowText(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case value.Object:
		for _, e := range v.Entries() {
			parts = append(parts, keyText(e.Key)+": "+flowText(e.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return scalarText(v, config.PlainStyle)
}

func keyText(key string) string { return scalarText(value.FromString(key), config.PlainStyle) }

// hasBreaks reports whether a string of several lines is in a value.
func hasBreaks(v value.Value) bool {
	switch v.Kind() {
	case value.Array:
		for _, item := range v.Elems() {
			if hasBreaks(item) {
				return true
			}
		}
	case value.Object:
		for _, e := range v.Entries() {
			if hasBreaks(e.Value) {
				return true
			}
		}
	case value.String:
		return strings.Contains(v.Str(), "\n") && canBeLiteral(v.Str())
	}
	return false
}

// maxFlow is how long a map or list in braces or brackets may be that is written
// for a value where nothing else tells the style.
const maxFlow = 60

// blockText returns a value behind a key or dash: what stands on the same line,
// and the lines below it at a column. item is set behind a dash.
func blockText(v value.Value, col int, item bool) (head string, body []string) {
	margin := strings.Repeat(" ", col)
	if v.Kind() == value.String && hasBreaks(v) {
		s := v.Str()
		head = "|"
		text, clipped := strings.CutSuffix(s, "\n")
		lines := strings.Split(text, "\n")
		if needsIndicator(lines) {
			head += "2"
		}
		if !clipped {
			head += "-"
		}
		for _, line := range lines {
			if line != "" {
				line = margin + line
			}
			body = append(body, line)
		}
		return head, body
	}
	isFlow := v.Kind() != value.Array && v.Kind() != value.Object || v.Len() == 0
	if !isFlow && !hasBreaks(v) && isFlat(v) {
		isFlow = utf8.RuneCountInString(flowText(v)) <= maxFlow
	}
	if isFlow {
		return flowText(v), nil
	}
	entry := func(mark, head string, lines []string) {
		if head != "" {
			head = " " + head
		}
		body = append(append(body, margin+mark+head), lines...)
	}
	if v.Kind() == value.Array {
		for _, e := range v.Elems() {
			head, lines := blockText(e, col+indentation, true)
			entry("-", head, lines)
		}
	} else {
		for _, e := range v.Entries() {
			head, lines := blockText(e.Value, col+indentation, false)
			entry(keyText(e.Key)+":", head, lines)
		}
	}
	if item {
		return strings.TrimPrefix(body[0], margin), body[1:]
	}
	return "", body
}

// isFlat reports whether a map or list holds nothing but scalars.
func isFlat(v value.Value) bool {
	for _, item := range v.Elems() {
		if k := item.Kind(); k == value.Array || k == value.Object {
			return false
		}
	}
	if v.Kind() == value.Object {
		for _, e := range v.Entries() {
			if k := e.Value.Kind(); k == value.Array || k == value.Object {
				return false
			}
		}
	}
	return true
}
