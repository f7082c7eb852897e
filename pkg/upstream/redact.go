package upstream

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// redacted stands where a secret was.
const redacted = "[redacted]"

// minSecret is the length from which a value counts as a secret. Shorter ones
// protect nothing, and replacing them would make any text unreadable.
const minSecret = 3

// redactor takes secrets out of texts. It is immutable.
type redactor struct{ replace *strings.Replacer }

// newRedactor finds the secrets as they are, as they stand in JSON and in
// URLs, and line by line where they have several.
func newRedactor(secrets []string) *redactor {
	var forms []string
	add := func(s string) {
		if len(s) >= minSecret {
			forms = append(forms, s)
		}
	}
	for _, s := range secrets {
		quoted := string(value.AppendString(nil, s))
		add(s)
		add(quoted[1 : len(quoted)-1])
		add(url.QueryEscape(s))
		add(url.PathEscape(s))
		for line := range strings.Lines(s) {
			add(strings.TrimRight(line, "\r\n"))
		}
	}
	// Where one form begins like another, the longer one has to go first.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, redacted)
	}
	return &redactor{strings.NewReplacer(pairs...)}
}

func (r *redactor) text(s string) string { return r.replace.Replace(s) }

// err returns err itself, or where its text has a secret an error without it.
func (r *redactor) err(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if clean := r.text(text); clean != text {
		return errors.New(clean)
	}
	return err
}
