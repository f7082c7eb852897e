// Package regex runs regular expressions with the meaning that they have in
// JavaScript without the u flag: over UTF-16 units, with leftmost-first choice,
// captures that each turn of a loop forgets, lookaround and backreferences.
//
// A pattern is parsed here, by the grammar of ECMA-262. What never has to try
// again is matched here, too. What Go's regexp understands in the same way is
// given to it. Both take time linear in the text. The rest goes to github.com/dlclark/regexp2, which backtracks and is stopped by
// the context or after Limit.
package regex

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// SyntaxError is why a pattern is not a regular expression of JavaScript.
type SyntaxError struct {
	Pattern string // the whole pattern
	Offset  int    // the byte of Pattern where the trouble starts
	Reason  string // what is wrong there
}

// Error describes the failure in one line.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("regular expression /%s/, character %d: %s", e.Pattern, e.Offset+1, e.Reason)
}

// Regex is a compiled regular expression. It is immutable and safe for
// concurrent use.
type Regex struct {
	root   *node
	groups int

	plain     string         // the text that the whole pattern is; "" otherwise
	direct    *direct        // nil where a match may have to try again
	linear    *regexp.Regexp // nil where Go's regexp cannot run the pattern
	unfit     traits         // texts with any of these go to neither
	anchored  bool           // matches begin at the start of the text only
	context   bool           // a match depends on what stands before it
	size      int            // estimate of the program's length
	multiline bool
	fold      bool // a backreference has to ignore case

	limit     time.Duration // Limit
	resumed   func() (*regexp.Regexp, error)
	backtrack func() (*regexp2.Regexp, error)
}

// maxPattern bounds the length of a pattern in bytes.
const maxPattern = 1 << 16

// Compile parses a pattern as it stands between the slashes of a JavaScript
// literal. flags may hold i (ignore case) and m (^ and $ match at line ends,
// too); g means nothing here, because callers choose how many matches they want.
// The error is a *SyntaxError. Patterns are limited to 64 KB and to groups 200
// deep.
func Compile(pattern, flags string) (*Regex, error) {
	if len(pattern) > maxPattern {
		return nil, &SyntaxError{Pattern: pattern[:32] + "…", Reason: fmt.Sprintf("the pattern is %d bytes long: at most %d are allowed", len(pattern), maxPattern)}
	}
	ignoreCase, multiline := false, false
	for _, f := range flags {
		switch f {
		case 'i':
			ignoreCase = true
		case 'm':
			multiline = true
		case 'g':
		default:
			return nil, &SyntaxError{Pattern: pattern, Offset: len(pattern), Reason: fmt.Sprintf("unknown flag %q: expected i or m", f)}
		}
	}
	root, groups, err := parse(pattern, ignoreCase)
	if err != nil {
		return nil, err
	}
	r := &Regex{
		root: root, groups: groups, multiline: multiline, size: root.size(), limit: Limit,
		anchored: !multiline && root.anchored(),
		context:  root.uses(opLineStart, opWord, opNotWord),
		fold:     ignoreCase && root.uses(opBackref),
	}
	r.plain, _ = root.literal()
	r.resumed = sync.OnceValues(r.compileResumed)
	r.backtrack = sync.OnceValues(r.compileBacktrack)
	if r.plain != "" {
		return r, nil
	}
	if root.linear() && r.size <= maxLinearSize {
		if re, err := regexp.Compile(r.linearSource()); err == nil {
			r.linear = re
			r.direct = newDirect(root, multiline)
		}
	}
	if root.seesSurrogates() || root.nullable() {
		r.unfit |= hasSurrogates
	}
	if multiline && root.uses(opLineStart, opLineEnd) {
		r.unfit |= hasOtherNewline
	}
	if r.linear == nil {
		if _, err := r.backtrack(); err != nil {
			return nil, &SyntaxError{Pattern: pattern, Reason: err.Error()}
		}
	}
	return r, nil
}

// Processor shares processor time with others.
type Processor interface {
	// Acquire is called before a search that takes long and cannot yield. It
	// returns when that may begin, or ctx is done; end is called after it.
	Acquire(ctx context.Context) (end func())
}

// Groups returns the number of captures in the pattern.
func (r *Regex) Groups() int { return r.groups }

// MatchString reports whether s holds a match. Its errors are those of
// Scanner.Next. On texts that need no backtracking it allocates nothing.
func (r *Regex) MatchString(ctx context.Context, p Processor, s string) (bool, error) {
	if r.plain != "" {
		return strings.Contains(s, r.plain), nil
	}
	if r.fits(s) && !r.heavy(s) {
		if r.direct != nil {
			var room [8]int
			if found, decided := r.direct.find(s, 0, slice(room[:], 2*(r.groups+1))); decided {
				return found, nil
			}
		}
		return r.linear.MatchString(s), nil
	}
	var sc Scanner
	sc.Reset(r, s)
	return sc.Next(ctx, p)
}

// slice returns n integers, from room where it has that many.
func slice(room []int, n int) []int {
	if n <= len(room) {
		return room[:n]
	}
	return make([]int, n)
}

// fits reports whether linear may search s.
func (r *Regex) fits(s string) bool {
	return r.linear != nil && (r.unfit == 0 || r.unfit&traitsOf(s) == 0)
}

func (r *Regex) linearSource() string {
	var b strings.Builder
	d := linearDialect(r.multiline)
	d.emit(&b, r.root)
	return b.String()
}

// compileResumed compiles what searches from within a text: it takes one
// character before the place to search from, so that ^ and \b see it.
func (r *Regex) compileResumed() (*regexp.Regexp, error) {
	return regexp.Compile(`\A(?s:.)(?s:.*?)((?:` + r.linearSource() + `))`)
}

func (r *Regex) compileBacktrack() (*regexp2.Regexp, error) {
	var b strings.Builder
	d := backtrackDialect(r.multiline)
	d.emit(&b, r.root)
	options := regexp2.ECMAScript
	if r.fold {
		options |= regexp2.IgnoreCase
	}
	return regexp2.Compile(b.String(), options, regexp2.OptionMaxBacktrackingStackSize(maxStack))
}

// ErrTimeout is the error of a search that took longer than Limit.
var ErrTimeout = errors.New("the regular expression took too long: it may try exponentially many ways to match; make its repeated parts exclude each other")

// ErrTooComplex is the error of a search that needs more memory to backtrack
// than a search may have.
var ErrTooComplex = errors.New("the regular expression has too many ways to match this text: make its repeated parts exclude each other, or shorten the text")
