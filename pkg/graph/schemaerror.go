package graph

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/mcpgraph/mcpgraph/internal/jsonschema"
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxShown is how many characters of a value a message has.
const maxShown = 60

// SchemaError lists all problems of a value that does not match a schema.
type SchemaError struct {
	// Problems are sorted by path.
	Problems []SchemaProblem
}

// SchemaProblem is one place of a value that does not fit.
type SchemaProblem struct {
	// Path leads to the place, as in `options.items[2].name`; it is empty for
	// the value as a whole.
	Path string
	// Found and Expected are phrases, such as "the number 5" and "a string".
	Found, Expected string

	tokens []string
}

// maxProblems is how many problems a message lists.
const maxProblems = 20

// Error lists the problems in one line.
func (e *SchemaError) Error() string {
	parts := make([]string, 0, min(len(e.Problems), maxProblems))
	for i, p := range e.Problems {
		if i == maxProblems {
			parts = append(parts, fmt.Sprintf("and %d more", len(e.Problems)-i))
			break
		}
		parts = append(parts, p.String())
	}
	return strings.Join(parts, "; ")
}

// String returns the problem as a phrase: "depth: expected a number, found the
// string "x"".
func (p SchemaProblem) String() string { return p.sentence(p.Path) }

func (p SchemaProblem) sentence(path string) string {
	switch {
	case path != "" && p.Expected == requiredValue:
		return fmt.Sprintf("missing required property %q", path)
	case path != "" && p.Expected == noSuchKey:
		return fmt.Sprintf("unexpected property %q", path)
	}
	s := "expected " + p.Expected + ", found " + p.Found
	if path == "" {
		return s
	}
	return path + ": " + s
}

const (
	nothing       = "nothing"
	requiredValue = "a value, which is required"
	noSuchKey     = "no such key"
)

// problemsOf puts what the library found into words.
func problemsOf(err *jsonschema.ValidationError, root value.Value) []SchemaProblem {
	c := &collector{root: root}
	c.add(err)
	slices.SortStableFunc(c.problems, func(a, b SchemaProblem) int {
		if d := strings.Compare(a.Path, b.Path); d != 0 {
			return d
		}
		return strings.Compare(a.Expected, b.Expected)
	})
	return slices.CompactFunc(c.problems, func(a, b SchemaProblem) bool {
		return a.Path == b.Path && a.Expected == b.Expected
	})
}

type collector struct {
	root     value.Value
	problems []SchemaProblem
}

func (c *collector) add(err *jsonschema.ValidationError) {
	at := err.InstanceLocation
	switch k := err.ErrorKind.(type) {
	case *kind.Required:
		c.missing(at, k.Missing, requiredValue)
	case *kind.DependentRequired:
		c.missing(at, k.Missing, fmt.Sprintf("a value, which %q requires", k.Prop))
	case *kind.Dependency:
		c.missing(at, k.Missing, fmt.Sprintf("a value, which %q requires", k.Prop))
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			c.put(append(slices.Clone(at), name), noSuchKey, "")
		}
	case *kind.AnyOf:
		c.alternatives(err)
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			c.put(at, "to fit exactly one of the alternatives", "a value that fits "+strconv.Itoa(len(k.Subschemas)))
			return
		}
		c.alternatives(err)
	case *kind.PropertyNames:
		var reasons []string
		for _, cause := range err.Causes {
			inner := &collector{root: value.FromString(k.Property)}
			inner.add(cause)
			for _, p := range inner.problems {
				reasons = append(reasons, p.Expected)
			}
		}
		c.put(at, "its keys to be "+strings.Join(reasons, " and "), fmt.Sprintf("the key %q", k.Property))
	default:
		if words, ok := wanted(err.ErrorKind); ok {
			c.put(at, words, "")
			return
		}
		if len(err.Causes) > 0 {
			for _, cause := range err.Causes {
				c.add(cause)
			}
			return
		}
		c.put(at, "something else ("+err.ErrorKind.LocalizedString(english)+")", "")
	}
}

var english = message.NewPrinter(language.English)

func (c *collector) missing(at, names []string, want string) {
	for _, name := range names {
		c.put(append(slices.Clone(at), name), want, nothing)
	}
}

func (c *collector) put(tokens []string, expected, found string) {
	path, v := locate(c.root, tokens)
	if found == "" {
		found = Describe(v)
	}
	c.problems = append(c.problems, SchemaProblem{
		Path: path, Found: found, Expected: expected, tokens: slices.Clone(tokens),
	})
}

// alternatives reports a value that fits none of several schemas: as one
// problem where all object to the value itself, else by the schema that came
// furthest into it.
func (c *collector) alternatives(err *jsonschema.ValidationError) {
	at := err.InstanceLocation
	var wants []string
	var best []SchemaProblem
	depth := -1
	for _, cause := range err.Causes {
		inner := &collector{root: c.root}
		inner.add(cause)
		deep := 0
		for _, p := range inner.problems {
			deep = max(deep, len(p.tokens)-len(at))
		}
		if deep > depth || deep == depth && len(inner.problems) < len(best) {
			best, depth = inner.problems, deep
		}
		for _, p := range inner.problems {
			if len(p.tokens) == len(at) && !slices.Contains(wants, p.Expected) {
				wants = append(wants, p.Expected)
			}
		}
	}
	if depth > 0 || len(wants) == 0 {
		c.problems = append(c.problems, best...)
		return
	}
	c.put(at, either(wants), "")
}

// wanted returns what a keyword asks for.
func wanted(k jsonschema.ErrorKind) (string, bool) {
	switch k := k.(type) {
	case *kind.Type:
		return typesInWords(k.Want), true
	case *kind.Enum:
		return oneOf(k.Want), true
	case *kind.Const:
		return oneOf([]any{k.Want}), true
	case *kind.FalseSchema:
		return "no value at all", true
	case *kind.Minimum:
		return "a number of at least " + number(k.Want), true
	case *kind.Maximum:
		return "a number of at most " + number(k.Want), true
	case *kind.ExclusiveMinimum:
		return "a number greater than " + number(k.Want), true
	case *kind.ExclusiveMaximum:
		return "a number less than " + number(k.Want), true
	case *kind.MultipleOf:
		return "a multiple of " + number(k.Want), true
	case *kind.MinLength:
		return fmt.Sprintf("a string of at least %s", count(k.Want, "character")), true
	case *kind.MaxLength:
		return fmt.Sprintf("a string of at most %s", count(k.Want, "character")), true
	case *kind.Pattern:
		return "a string that matches " + k.Want, true
	case *kind.Format:
		if k.Want == "regex" {
			return "a regular expression", true
		}
		return "a string of format " + k.Want, true
	case *kind.MinItems:
		return "an array of at least " + count(k.Want, "element"), true
	case *kind.MaxItems:
		return "an array of at most " + count(k.Want, "element"), true
	case *kind.AdditionalItems:
		return "an array of fewer elements", true
	case *kind.UniqueItems:
		return fmt.Sprintf("an array without equal elements (%d and %d are)", k.Duplicates[0], k.Duplicates[1]), true
	case *kind.MinProperties:
		return "an object of at least " + count(k.Want, "key"), true
	case *kind.MaxProperties:
		return "an object of at most " + count(k.Want, "key"), true
	case *kind.Not:
		return "a value that does not fit the schema under \"not\"", true
	case *kind.Contains:
		return "an array with an element that fits \"contains\"", true
	case *kind.MinContains:
		return fmt.Sprintf("an array with at least %s that fit \"contains\"", count(k.Want, "element")), true
	case *kind.MaxContains:
		return fmt.Sprintf("an array with at most %s that fit \"contains\"", count(k.Want, "element")), true
	}
	return "", false
}

func number(r *big.Rat) string {
	f, _ := r.Float64()
	if r.IsInt() {
		return r.Num().String()
	}
	return value.FormatNumber(f)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func typesInWords(types []string) string {
	words := make([]string, len(types))
	for i, t := range types {
		switch t {
		case "null":
			words[i] = t
		case "array", "integer", "object":
			words[i] = "an " + t
		default:
			words[i] = "a " + t
		}
	}
	return either(words)
}

func oneOf(values []any) string {
	words := make([]string, len(values))
	for i, x := range values {
		v, err := value.FromAny(x)
		if err != nil {
			return "another value"
		}
		words[i] = textline.Shorten(v.JSON(), maxShown)
	}
	return either(words)
}

// either joins alternatives: "a, b or c".
func either(words []string) string {
	if n := len(words); n > 2 {
		words = []string{strings.Join(words[:n-1], ", "), words[n-1]}
	}
	return strings.Join(words, " or ")
}

// Describe returns what a value is, in words for messages: "the number 5", "an
// array".
func Describe(v value.Value) string {
	switch v.Kind() {
	case value.Undefined:
		return nothing
	case value.Null:
		return "null"
	case value.Bool:
		return "the boolean " + v.JSON()
	case value.Number:
		return "the number " + v.JSON()
	case value.String:
		return "the string " + textline.Shorten(v.JSON(), maxShown)
	case value.Array:
		return "an array of " + count(v.Len(), "element")
	case value.Object:
		return "an object"
	}
	return "a function"
}

var plainKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\p{L}_$][\p{L}\p{N}_$-]*$`)
})

// locate follows tokens into v and returns the way as a path in words.
func locate(v value.Value, tokens []string) (string, value.Value) {
	var b strings.Builder
	for _, t := range tokens {
		if v.Kind() == value.Array {
			i, err := strconv.Atoi(t)
			if err != nil || i < 0 || i >= v.Len() {
				return b.String(), value.Undef
			}
			b.WriteString("[" + t + "]")
			v = v.Elems()[i]
			continue
		}
		switch {
		case !plainKey().MatchString(t):
			b.WriteString("[" + strconv.Quote(t) + "]")
		case b.Len() > 0:
			b.WriteString("." + t)
		default:
			b.WriteString(t)
		}
		v = v.Get(t)
	}
	return b.String(), v
}
