package server

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yosida95/uritemplate/v3"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxURI is the longest URI that can name a resource, in bytes.
const maxURI = 8 << 10

// template is a compiled URI template (RFC 6570). The library checks and expands
// templates; its matching takes minutes for some URIs, so this is another one.
type template struct {
	shape       *regexp.Regexp // with a group for each expression; takes linear time
	expressions []expression
	variables   []string
}

// expression is an expression of a template, such as {?a,b*}.
type expression struct {
	operator
	variables []variable
}

type variable struct {
	name    string
	explode bool // has any number of values
	prefix  int  // how many characters of the value it expands to; 0: all
}

// match is what a URI gives one variable, percent-encoded.
type match struct {
	values   []string
	prefixes []string // of {name:3}
}

// operator is how an expression expands (RFC 6570, appendix A).
type operator struct {
	first, sep string
	named      bool // name=value
	reserved   bool // values have reserved characters unencoded
}

var operators = map[byte]operator{
	'+': {"", ",", false, true}, '#': {"#", ",", false, true}, '.': {".", ".", false, false}, '/': {"/", "/", false, false},
	';': {";", ";", true, false}, '?': {"?", "&", true, false}, '&': {"&", "&", true, false},
}

// Classes of characters of URIs (RFC 3986, section 2), for a regular expression.
const (
	unreservedClass = `A-Za-z0-9\-._~`
	reservedClass   = `:/?#\[\]@!$&'()*+,;=`
)

func newTemplate(text string) (*template, error) {
	checked, err := uritemplate.New(text)
	if err != nil {
		return nil, fmt.Errorf("resource template %q: %w", text, err)
	}
	t := &template{variables: checked.Varnames()}
	var shape strings.Builder
	shape.WriteString(`\A`)
	for rest := text; rest != ""; {
		literal, more, found := strings.Cut(rest, "{")
		shape.WriteString(regexp.QuoteMeta(literal))
		if !found {
			break
		}
		inner, after, _ := strings.Cut(more, "}") // it is there: the library has checked it
		e := newExpression(inner)
		e.appendShape(&shape)
		t.expressions = append(t.expressions, e)
		rest = after
	}
	shape.WriteString(`\z`)
	if t.shape, err = regexp.Compile(shape.String()); err != nil {
		return nil, fmt.Errorf("resource template %q: %w", text, err)
	}
	return t, nil
}

func newExpression(inner string) expression {
	e := expression{operator: operator{sep: ","}}
	if of, ok := operators[inner[0]]; ok {
		e.operator, inner = of, inner[1:]
	}
	for spec := range strings.SplitSeq(inner, ",") {
		name, explode := strings.CutSuffix(spec, "*")
		name, length, _ := strings.Cut(name, ":")
		prefix, _ := strconv.Atoi(length) // digits: the library has checked it
		e.variables = append(e.variables, variable{name, explode, prefix})
	}
	return e
}

// appendShape appends the regular expression of what the expression can expand to.
func (e *expression) appendShape(to *strings.Builder) {
	class := unreservedClass + ","
	if e.reserved {
		class = unreservedClass + reservedClass
	}
	if e.named {
		class += "="
	}
	if e.several() {
		class += regexp.QuoteMeta(e.sep)
	}
	one, times := fmt.Sprintf(`[%s]|%%[0-9A-Fa-f][0-9A-Fa-f]`, class), "*"
	if n := e.variables[0].prefix; n > 0 && n <= maxCounted && !e.several() && !e.named {
		one, times = fmt.Sprintf(`[%s]|%s`, class, encodedCharacter), fmt.Sprintf("{0,%d}", n)
	}
	fmt.Fprintf(to, `(?:%s((?:%s)%s))?`, regexp.QuoteMeta(e.first), one, times)
}

// maxCounted is the longest prefix that the regular expression counts, so that what
// stands behind it gets the rest. It bounds the size of the expression.
const maxCounted = 64

// encodedCharacter is a regular expression for one percent-encoded character (RFC 3629).
const encodedCharacter = `%[0-7][0-9A-Fa-f]|%[C-Fc-f][0-9A-Fa-f](?:%[89ABab][0-9A-Fa-f]){1,3}`

// several reports whether the expression can expand to more than one value.
func (e *expression) several() bool { return len(e.variables) > 1 || e.variables[0].explode }

// match returns the variables of a URI as an object of strings, percent-decoded; a
// variable with an asterisk is an array of them. A variable whose bytes are not UTF-8
// does not match. The time that it takes is in proportion to the length of the URI.
func (t *template) match(uri string) (value.Value, bool) {
	if len(uri) > maxURI {
		return value.Undef, false
	}
	at := t.shape.FindStringSubmatchIndex(uri)
	if at == nil {
		return value.Undef, false
	}
	found := map[string]*match{}
	for i, e := range t.expressions {
		from, to := at[2*i+2], at[2*i+3]
		if from >= 0 && !e.read(uri[from:to], found) {
			return value.Undef, false
		}
	}
	return t.values(found)
}

// read adds the values that a text gives the variables of the expression. It reports
// false if the expression does not expand to it.
func (e *expression) read(text string, into map[string]*match) bool {
	parts := []string{text}
	if e.several() {
		parts = strings.Split(text, e.sep)
	}
	if e.named {
		for _, part := range parts {
			name, v, _ := strings.Cut(part, "=")
			at := slices.IndexFunc(e.variables, func(v variable) bool { return v.name == name })
			if at < 0 || !add(into, e.variables[at], v) {
				return part == "" && text == ""
			}
		}
		return true
	}
	for i, v := range e.variables {
		after := len(e.variables) - i - 1
		switch {
		case len(parts) == 0:
			return true // the others are undefined
		case v.explode:
			n := max(1, len(parts)-after)
			for _, part := range parts[:n] {
				if !add(into, v, part) {
					return false
				}
			}
			parts = parts[n:]
		case after == 0 && e.reserved: // a value may have the separator itself
			return add(into, v, strings.Join(parts, e.sep))
		default:
			if !add(into, v, parts[0]) {
				return false
			}
			parts = parts[1:]
		}
	}
	return len(parts) == 0
}

// add adds a value. It reports false if the variable already has another one, or if the
// value is longer than the prefix that the variable expands to.
func add(into map[string]*match, of variable, text string) bool {
	m := into[of.name]
	if m == nil {
		m = &match{}
		into[of.name] = m
	}
	switch {
	case of.prefix > 0:
		decoded, err := url.PathUnescape(text)
		if err != nil || utf8.RuneCountInString(decoded) > of.prefix {
			return false
		}
		m.prefixes = append(m.prefixes, text)
	case len(m.values) > 0 && !of.explode:
		return len(m.values) == 1 && m.values[0] == text
	default:
		m.values = append(m.values, text)
	}
	return true
}

// decoded returns the values, percent-decoded. Of a variable that stands in the template
// with prefixes alone, the value is the longest one. It reports false if a value is not
// UTF-8, or does not begin with the prefixes.
func (m *match) decoded() ([]string, bool) {
	values, prefixes := slices.Clone(m.values), slices.Clone(m.prefixes)
	for _, list := range [][]string{values, prefixes} {
		for i, one := range list {
			text, err := url.PathUnescape(one)
			if err != nil || !utf8.ValidString(text) {
				return nil, false
			}
			list[i] = text
		}
	}
	if len(values) == 0 {
		values = []string{slices.MaxFunc(prefixes, func(a, b string) int { return len(a) - len(b) })}
	}
	for _, p := range prefixes {
		if !strings.HasPrefix(values[0], p) {
			return nil, false
		}
	}
	return values, true
}

// values returns the decoded variables in the order of the template.
func (t *template) values(found map[string]*match) (value.Value, bool) {
	exploded := map[string]bool{}
	for _, e := range t.expressions {
		for _, v := range e.variables {
			exploded[v.name] = exploded[v.name] || v.explode
		}
	}
	b := value.NewBuilder(len(t.variables))
	for _, name := range t.variables {
		m := found[name]
		if m == nil {
			continue
		}
		texts, ok := m.decoded()
		if !ok {
			return value.Undef, false
		}
		if !exploded[name] {
			b.Set(name, value.FromString(texts[0]))
			continue
		}
		list := make([]value.Value, len(texts))
		for i, text := range texts {
			list[i] = value.FromString(text)
		}
		b.Set(name, value.FromArray(list))
	}
	return b.Value(), true
}
