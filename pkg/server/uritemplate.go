package server

import (
	"fmt"
	"regexp"
	"unicode/utf8"

	"github.com/yosida95/uritemplate/v3"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxURI is the longest URI that can name a resource, in bytes.
const maxURI = 8 << 10

// template is a compiled URI template (RFC 6570).
type template struct {
	*uritemplate.Template
	shape     *regexp.Regexp // every URI that the template can make has it
	variables []string
}

func newTemplate(text string) (*template, error) {
	t, err := uritemplate.New(text)
	if err != nil {
		return nil, fmt.Errorf("resource template %q: %w", text, err)
	}
	return &template{Template: t, shape: t.Regexp(), variables: t.Varnames()}, nil
}

// match returns the variables of a URI as an object of strings, percent-decoded; a
// list of values becomes an array. A variable whose bytes are not UTF-8 does not
// match. The time that it takes is bounded by the length of the URI and of the
// template: neither the expression nor the library goes back.
func (t *template) match(uri string) (value.Value, bool) {
	if len(uri) > maxURI || !t.shape.MatchString(uri) {
		return value.Undef, false
	}
	found := t.Match(uri)
	if found == nil {
		return value.Undef, false
	}
	b := value.NewBuilder(len(t.variables))
	for _, name := range t.variables {
		v, there := found[name]
		if !there {
			continue
		}
		var texts []value.Value
		for _, one := range v.V {
			if !utf8.ValidString(one) {
				return value.Undef, false
			}
			texts = append(texts, value.FromString(one))
		}
		if v.T == uritemplate.ValueTypeString && len(texts) == 1 {
			b.Set(name, texts[0])
		} else {
			b.Set(name, value.FromArray(texts))
		}
	}
	return b.Value(), true
}
