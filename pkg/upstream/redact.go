package upstream

import (
	"cmp"
	"encoding/base64"
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
	above []*redactor // whose secrets it takes out as well

	mu      sync.RWMutex
	fixed   []string
	learned []string // of tokens that come and go
	forms   *forms   // of all of them, above's included
	seen    []*forms // of above, when forms was made
}

// forms is how secrets can look in a text.
type forms struct {
	all     []string // the longest first
	replace *strings.Replacer
}

// newRedactor takes the secrets out as they are, as they stand in JSON and in
// URLs, and line by line where they have several.
func newRedactor(secrets []string) *redactor {
	return &redactor{fixed: secrets, forms: formsOf(secrets)}
}

// with returns a redactor of these secrets beside those of r.
func (r *redactor) with(secrets []string) *redactor {
	if len(secrets) == 0 {
		return r
	}
	return &redactor{above: []*redactor{r}, fixed: secrets}
}

// learn adds secrets that have just come to be.
func (r *redactor) learn(secrets ...string) {
	if len(secrets) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range secrets {
		if len(s) < minSecret || slices.Contains(r.learned, s) || slices.Contains(r.fixed, s) {
			continue
		}
		if len(r.learned) == maxLearned {
			r.learned = slices.Delete(r.learned, 0, 1)
		}
		r.learned = append(r.learned, s)
		r.forms = nil
	}
}

// secrets returns the secrets, above's included.
func (r *redactor) secrets() []string {
	if r == nil {
		return nil
	}
	above := r.fromAbove()
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Concat(r.fixed, r.learned, above)
}

func (r *redactor) fromAbove() (all []string) {
	for _, above := range r.above {
		all = append(all, above.secrets()...)
	}
	return all
}

// now returns the forms of the secrets. Those of above are among them: were
// they looked for on their own, before or after, what one of the two leaves of
// a secret of the other that contains it would stay.
func (r *redactor) now() *forms {
	if r == nil {
		return nil
	}
	seen := make([]*forms, len(r.above))
	for i, above := range r.above {
		seen[i] = above.now()
	}
	r.mu.RLock()
	f, known := r.forms, slices.Equal(r.seen, seen)
	r.mu.RUnlock()
	if f != nil && known {
		return f
	}
	above := r.fromAbove()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forms, r.seen = formsOf(slices.Concat(r.fixed, r.learned, above)), seen
	return r.forms
}

func formsOf(secrets []string) *forms {
	var all []string
	add := func(s string) {
		if len(s) >= minSecret {
			all = append(all, s)
		}
	}
	for _, s := range secrets {
		quoted := string(value.AppendString(nil, s))
		add(s)
		add(quoted[1 : len(quoted)-1])
		add(url.QueryEscape(s))
		add(strings.ReplaceAll(url.QueryEscape(s), "+", "%20"))
		add(url.PathEscape(s))
		for line := range strings.Lines(s) {
			add(strings.TrimRight(line, "\r\n"))
		}
	}
	// Where one form begins like another, the longer one has to go first.
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	all = slices.Compact(all)
	var pairs []string
	for _, f := range all {
		pairs = append(pairs, f, redacted)
	}
	return &forms{all, strings.NewReplacer(pairs...)}
}

// text returns s without the secrets.
func (r *redactor) text(s string) string {
	f := r.now()
	if f == nil {
		return s
	}
	s = f.replace.Replace(s)
	for from := 0; ; {
		i := strings.Index(s[from:], cutMark)
		if i < 0 {
			return s
		}
		i += from
		kept := f.whole(s[:i])
		if text, quoted := strings.CutSuffix(kept, `"`); quoted && len(kept) == i {
			kept = f.whole(text) + `"`
		}
		s = kept + s[i:]
		from = len(kept) + len(cutMark)
	}
}

// whole takes the start of a secret off the end of a text that was cut there.
func (f *forms) whole(text string) string {
	longest := 0
	for _, form := range f.all {
		for n := min(len(form)-1, len(text)); n >= max(minSecret, longest+1); n-- {
			if strings.HasSuffix(text, form[:n]) {
				longest = n
				break
			}
		}
	}
	if longest == 0 {
		return text
	}
	return text[:len(text)-longest] + redacted
}

// urlSecrets returns what is secret in an address with a password: itself, and
// what is sent in its place (RFC 7617).
func urlSecrets(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return nil
	}
	password, ok := u.User.Password()
	if !ok {
		return nil
	}
	return []string{password, base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))}
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
