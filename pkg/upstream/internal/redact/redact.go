// Package redact takes secrets out of texts.
package redact

import (
	"cmp"
	"encoding/base64"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Mark stands where a secret was.
const Mark = "[redacted]"

// CutMark stands where the rest of a text is not shown, as in [value.CutMark].
const CutMark = ` … (`

// MinLength is the length from which a value counts as a secret. Shorter ones
// protect nothing, and replacing them would make any text unreadable.
const MinLength = 3

// MinWordLength is the length from which a value counts as a secret where a text is not
// for people: in names that are compared, shorter ones are words like any other.
const MinWordLength = 8

// maxLearned is how many secrets a redactor learns before it forgets the one that was told
// longest ago: of tokens, and of arguments.
const maxLearned = 64

// Redactor takes secrets out of texts. It is safe for concurrent use.
type Redactor struct {
	parents []*Redactor // whose secrets it takes out as well

	mu        sync.RWMutex
	fixed     []string
	tokens    []string // that come and go, the latest last
	arguments []string // of calls; they push out no token
	forms     *forms   // of all of them, above's included
	seen      []*forms // of above, when forms was made
}

// forms is how secrets can look in a text.
type forms struct {
	all     []string // the longest first
	replace *strings.Replacer
	words   *strings.Replacer // of those from MinWordLength
}

// New returns a redactor of the secrets and of those of its parents. It
// takes them out as they are, as they stand in JSON and in each part of a URL, and line by line
// if they have several.
func New(secrets []string, parents ...*Redactor) *Redactor {
	r := &Redactor{parents: parents, fixed: secrets}
	if len(parents) == 0 {
		r.forms = formsOf(secrets)
	}
	return r
}

// With returns a redactor of these secrets beside those of r.
func (r *Redactor) With(secrets []string) *Redactor {
	if len(secrets) == 0 {
		return r
	}
	return New(secrets, r)
}

// Includes reports whether r takes out the secrets of other as well.
func (r *Redactor) Includes(other *Redactor) bool {
	return r == other || r != nil && slices.ContainsFunc(r.parents, func(above *Redactor) bool { return above.Includes(other) })
}

// Empty reports whether r has no secrets, now.
func (r *Redactor) Empty() bool {
	f := r.current()
	return f == nil || len(f.all) == 0
}

// Learn adds tokens that have just come to be, or are used.
func (r *Redactor) Learn(tokens ...string) { r.learn(&r.tokens, tokens) }

// LearnArguments adds secrets among the arguments of a call.
func (r *Redactor) LearnArguments(secrets ...string) { r.learn(&r.arguments, secrets) }

func (r *Redactor) learn(list *[]string, secrets []string) {
	if len(secrets) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range secrets {
		if len(s) < MinLength || slices.Contains(r.fixed, s) {
			continue
		}
		if i := slices.Index(*list, s); i >= 0 {
			*list = append(slices.Delete(*list, i, i+1), s)
			continue
		}
		if len(*list) == maxLearned {
			*list = slices.Delete(*list, 0, 1)
		}
		*list = append(*list, s)
		r.forms = nil
	}
}

// secrets returns the secrets, above's included.
func (r *Redactor) secrets() []string {
	if r == nil {
		return nil
	}
	above := r.ofParents()
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Concat(r.fixed, r.tokens, r.arguments, above)
}

func (r *Redactor) ofParents() (all []string) {
	for _, above := range r.parents {
		all = append(all, above.secrets()...)
	}
	return all
}

// current returns the forms of the secrets. Those of above are among them: were
// they looked for on their own, before or after, what one of the two leaves of
// a secret of the other that contains it would stay.
func (r *Redactor) current() *forms {
	if r == nil {
		return nil
	}
	r.mu.RLock()
	f, seen := r.forms, r.seen
	own := len(r.fixed) + len(r.tokens) + len(r.arguments)
	r.mu.RUnlock()
	if own == 0 && len(r.parents) == 1 {
		return r.parents[0].current()
	}
	if f != nil && r.parentsAre(seen) {
		return f
	}
	seen = make([]*forms, len(r.parents))
	for i, above := range r.parents {
		seen[i] = above.current()
	}
	above := r.ofParents()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forms, r.seen = formsOf(slices.Concat(r.fixed, r.tokens, r.arguments, above)), seen
	return r.forms
}

// parentsAre reports whether the parents have the same secrets as when these were
// their forms.
func (r *Redactor) parentsAre(seen []*forms) bool {
	for i, above := range r.parents {
		if i >= len(seen) || above.current() != seen[i] {
			return false
		}
	}
	return true
}

func formsOf(secrets []string) *forms {
	var all []string
	add := func(s string) {
		if len(s) >= MinLength {
			all = append(all, s)
		}
	}
	for _, s := range secrets {
		for _, s := range append(inURLs(s), s) {
			quoted, goQuoted := string(value.AppendString(nil, s)), strconv.Quote(s)
			add(s)
			add(quoted[1 : len(quoted)-1])
			add(goQuoted[1 : len(goQuoted)-1])
		}
		for line := range strings.Lines(s) {
			add(strings.TrimRight(line, "\r\n"))
		}
	}
	// Where one form begins like another, the longer one has to go first.
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	all = slices.Compact(all)
	var pairs []string
	words := 0
	for _, f := range all {
		if pairs = append(pairs, f, Mark); len(f) >= MinWordLength {
			words = len(pairs)
		}
	}
	return &forms{all, strings.NewReplacer(pairs...), strings.NewReplacer(pairs[:words]...)}
}

// inURLs returns how a secret can stand in a URL: as each part of it encodes the secret,
// with hexadecimal digits in either case, and decoded if it is written with percent signs.
func inURLs(s string) (all []string) {
	decoded, err := url.PathUnescape(s)
	if err != nil {
		decoded = s
	}
	for _, s := range []string{s, decoded} {
		for _, form := range []string{
			s, url.QueryEscape(s), strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), url.PathEscape(s),
			(&url.URL{Path: s}).EscapedPath(), (&url.URL{Fragment: s}).EscapedFragment(), url.User(s).String(),
		} {
			all = append(all, form, percentSigns.ReplaceAllStringFunc(form, strings.ToLower))
		}
	}
	return all
}

var percentSigns = regexp.MustCompile(`%[0-9A-F]{2}`)

// Word returns s without the secrets of MinWordLength bytes or more.
func (r *Redactor) Word(s string) string {
	if f := r.current(); f != nil {
		return f.words.Replace(s)
	}
	return s
}

// Text returns s without the secrets.
func (r *Redactor) Text(s string) string {
	f := r.current()
	if f == nil {
		return s
	}
	s = f.replace.Replace(s)
	if !strings.Contains(s, CutMark) {
		return s
	}
	var b strings.Builder
	for { // the cost is linear, also if a server repeats the mark
		part, rest, found := strings.Cut(s, CutMark)
		if !found {
			b.WriteString(s)
			return b.String()
		}
		kept := f.whole(part)
		if text, quoted := strings.CutSuffix(kept, `"`); quoted && len(kept) == len(part) {
			kept = f.whole(text) + `"`
		}
		b.WriteString(kept)
		b.WriteString(CutMark)
		s = rest
	}
}

// whole takes the start of a secret off the end of a text that was cut there.
func (f *forms) whole(text string) string {
	longest := 0
	for _, form := range f.all {
		for n := min(len(form)-1, len(text)); n >= max(MinLength, longest+1); n-- {
			if strings.HasSuffix(text, form[:n]) {
				longest = n
				break
			}
		}
	}
	if longest == 0 {
		return text
	}
	return text[:len(text)-longest] + Mark
}

// URLSecrets returns what is secret in an address with a password: itself, and
// what is sent in its place (RFC 7617).
func URLSecrets(address string) []string {
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

// Err returns err itself, or where its text has a secret an error without it.
func (r *Redactor) Err(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if clean := r.Text(text); clean != text {
		return errors.New(clean)
	}
	return err
}
