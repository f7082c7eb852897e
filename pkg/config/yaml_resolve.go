package config

import (
	"math"
	"math/big"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// scalarProblem is what is wrong with a scalar; its code is empty where nothing is.
type scalarProblem struct{ code, message, hint string }

// resolve returns the JSON value of a scalar by the core schema (YAML 1.2.2,
// 10.3.2).
func resolve(w *written) (value.Value, scalarProblem) {
	plain := w.style()&(quotedStyles|blockStyles) == 0
	if w.style()&yaml.TaggedStyle == 0 {
		if !plain || w.tag() == "!" {
			return value.FromString(w.raw), scalarProblem{}
		}
		return resolvePlain(w.raw)
	}
	if w.tag() == "!!str" {
		return value.FromString(w.raw), scalarProblem{}
	}
	v, bad := resolvePlain(w.raw)
	fits := false
	switch w.tag() {
	case "!!null":
		fits = v.Kind() == value.Null
	case "!!bool":
		fits = v.Kind() == value.Bool
	case "!!int":
		fits = v.Kind() == value.Number && (isBased(w.raw) || !strings.ContainsAny(w.raw, ".eE"))
	case "!!float":
		fits = v.Kind() == value.Number || bad.code == diag.CodeNumber
	case "!!merge":
		return value.FromString(w.raw), scalarProblem{}
	default:
		return value.FromString(w.raw), scalarProblem{diag.CodeTag, unknownTag(w.tag()), knownTags}
	}
	if !fits {
		return value.FromString(w.raw), scalarProblem{diag.CodeTag, quote(w.raw) + " is not a " + w.tag(), ""}
	}
	return v, bad
}

// resolvePlain returns the value of a scalar without quotes or tag.
func resolvePlain(s string) (value.Value, scalarProblem) {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return value.NullValue, scalarProblem{}
	case "true", "True", "TRUE":
		return value.True, scalarProblem{}
	case "false", "False", "FALSE":
		return value.False, scalarProblem{}
	case ".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF":
		return value.NullValue, scalarProblem{diag.CodeNumber, "JSON cannot represent the number " + s, "for a string, put quotes around it"}
	}
	text, ok := number(s)
	if !ok {
		return value.FromString(s), scalarProblem{}
	}
	v := value.FromNumberText(text)
	if math.IsInf(v.Float(), 0) && strings.ContainsAny(text, "eE.") {
		return value.NullValue, scalarProblem{diag.CodeNumber, "the number " + quote(s) + " is too large", "for a string, put quotes around it"}
	}
	return v, scalarProblem{}
}

// number returns the JSON text of an integer or float of the core schema.
func number(s string) (string, bool) {
	digits, sign := s, ""
	switch s[0] {
	case '-':
		digits, sign = s[1:], "-"
	case '+':
		digits = s[1:]
	}
	switch {
	case digits == "" || digits[0] != '.' && !isDigit(digits[0]):
		return "", false
	case isBased(s):
		return decimal(s[2:], map[byte]int{'o': 8, 'x': 16}[s[1]])
	case !isFloat(digits):
		return "", false
	}
	return sign + jsonDigits(digits), true
}

// isBased reports whether a scalar has the prefix of an octal or hexadecimal
// integer, which takes no sign.
func isBased(s string) bool {
	return strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0o")
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isFloat reports whether s is a number without its sign.
func isFloat(s string) bool {
	whole := len(s) - len(strings.TrimLeft(s, "0123456789"))
	s = s[whole:]
	if strings.HasPrefix(s, ".") {
		fraction := len(s) - 1 - len(strings.TrimLeft(s[1:], "0123456789"))
		if whole+fraction == 0 {
			return false
		}
		s = s[1+fraction:]
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && strings.TrimLeft(s, "0123456789") == ""
}

// jsonDigits writes a number of YAML as JSON has it: no leading zeros, digits on
// both sides of a point.
func jsonDigits(s string) string {
	s = strings.TrimLeft(s, "0")
	if s == "" || !isDigit(s[0]) {
		s = "0" + s
	}
	whole, rest, ok := strings.Cut(s, ".")
	if !ok {
		return s
	}
	fraction := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	if fraction == "" {
		return whole + rest
	}
	return whole + "." + rest
}

// maxBased bounds the digits of an integer that is not decimal, since turning
// them takes more than linear time.
const maxBased = 4096

func decimal(digits string, base int) (string, bool) {
	if len(digits) > maxBased {
		return "", false
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok || strings.ContainsAny(digits, "+-_") {
		return "", false
	}
	return n.String(), true
}

const knownTags = "expected !!str, !!int, !!float, !!bool, !!null, !!map or !!seq"

func unknownTag(tag string) string {
	return "unknown tag " + tag
}
