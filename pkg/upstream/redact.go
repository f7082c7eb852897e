package upstream

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// redacted stands where a secret was.
const redacted = "[redacted]"

// minSecret is the length from which a value counts as a secret. Shorter ones
// protect nothing, and replacing them would make any text unreadable.
const minSecret = 3

// maxLearned is how many secrets a redactor learns before it forgets the oldest.
const maxLearned = 64

// redactor takes secrets out of texts. It is safe for any number of
// goroutines.
type redactor struct {
	above *redactor // whose secrets it takes out as well; may be nil

	mu      sync.RWMutex
	fixed   []string
	learned []string // of tokens that come and go
	replace *strings.Replacer
}

// newRedactor takes the secrets out as they are, as they stand in JSON and in
// URLs, and line by line where they have several.
func newRedactor(secrets []string) *redactor {
	return &redactor{fixed: secrets, replace: replacer(secrets)}
}

// with returns a redactor of these secrets beside those of r.
func (r *redactor) with(secrets []string) *redactor {
	if len(secrets) == 0 {
		return r
	}
	more := newRedactor(secrets)
	more.above = r
	return more
}

// learn adds secrets that have just come to be.
func (r *redactor) learn(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range secrets {
		if len(s) < minSecret || slices.Contains(r.learned, s) {
			continue
		}
		if len(r.learned) == maxLearned {
			r.learned = r.learned[1:]
		}
		r.learned = append(r.learned, s)
	}
	r.replace = replacer(slices.Concat(r.fixed, r.learned))
}

func replacer(secrets []string) *strings.Replacer {
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
	return strings.NewReplacer(pairs...)
}

// text returns s without the secrets.
func (r *redactor) text(s string) string {
	for ; r != nil; r = r.above {
		r.mu.RLock()
		replace := r.replace
		r.mu.RUnlock()
		s = replace.Replace(s)
	}
	return s
}

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
