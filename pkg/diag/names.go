package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	// maxShown is how many names of a set a hint shows.
	maxShown = 5
	// smallSet is how many names are always searched for one that is near, and
	// maxSearches how often more of them are. So the work for a file is linear in
	// its names and mistakes, and the mistakes that people see have hints.
	smallSet    = 64
	maxSearches = 200
)

// Names is a set of names that a file or server defines, for hints about others.
// It is made once for each set, so that a mistake does not cost the size of the
// set. Its methods may be called on nil, which has no names. For one goroutine.
type Names struct {
	sorted   []string
	searches int
}

// NewNames returns the set of names. It takes the slice over.
func NewNames(names []string) *Names {
	slices.Sort(names)
	return &Names{sorted: slices.Compact(names)}
}

// All returns the names, sorted. The caller must not change them.
func (n *Names) All() []string {
	if n == nil {
		return nil
	}
	return n.sorted
}

// Has reports whether a name is in the set.
func (n *Names) Has(name string) bool {
	_, ok := slices.BinarySearch(n.All(), name)
	return ok
}

// Nearest is the function of this name for the set. It reports false without a
// search if sets as large as this one were searched often enough.
func (n *Names) Nearest(name string) (string, bool) {
	if !n.maySearch() {
		return "", false
	}
	return Nearest(name, n.sorted)
}

// Misspelt is the function of this name for the set, with the bound of
// [Names.Nearest].
func (n *Names) Misspelt(name string) (string, bool) {
	if !n.maySearch() {
		return "", false
	}
	return Misspelt(name, n.sorted)
}

func (n *Names) maySearch() bool {
	switch {
	case len(n.All()) <= smallSet:
		return n != nil
	case n.searches == maxSearches:
		return false
	}
	n.searches++
	return true
}

// List returns names for a sentence, as in `"a", "b" or "c"`: at most five, and how
// many more there are. Of more than five those come first that begin like name. It
// returns "" for no names.
func (n *Names) List(name string) string { return n.list(name, " or ") }

func (n *Names) list(name, last string) string {
	names := n.All()
	more := len(names) - maxShown
	if more <= 0 {
		return quoted(names, last)
	}
	// In the order of the set, names that begin alike stand side by side.
	at, _ := slices.BinarySearch(names, name)
	from, to := at, at
	for to-from < maxShown {
		before, after := 0, 0
		if from > 0 {
			before = sharedPrefix(names[from-1], name)
		}
		if to < len(names) {
			after = sharedPrefix(names[to], name)
		}
		switch {
		case max(before, after) < minAlike:
			shown := slices.Clone(names[from:to])
			for _, other := range names {
				if len(shown) == maxShown {
					break
				}
				if !slices.Contains(shown, other) {
					shown = append(shown, other)
				}
			}
			return quoted(shown, ", ") + fmt.Sprintf(" and %d more", more)
		case after >= before:
			to++
		default:
			from--
		}
	}
	return quoted(names[from:to], ", ") + fmt.Sprintf(" and %d more", more)
}

// minAlike is how many bytes two names share if they begin alike.
const minAlike = 2

func sharedPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Expected returns a hint about a name that is not in the set: the nearest one or,
// behind the words before, what List returns. It returns "" for no names.
func (n *Names) Expected(name, before string) string {
	return n.expected(name, before, " or ")
}

// ExpectedAll is Expected with "and" in the place of "or".
func (n *Names) ExpectedAll(name, before string) string {
	return n.expected(name, before, " and ")
}

func (n *Names) expected(name, before, last string) string {
	if len(n.All()) == 0 {
		return ""
	}
	return cmp.Or(Meant(n.Nearest(name)), before+n.list(name, last))
}

// List returns names for a sentence: sorted, quoted, each once, and joined as in
// `"a", "b" or "c"`. It returns "" for no names. It is for sets that the program
// closes; for those of files there is [Names].
func List(names []string) string {
	sorted := slices.Sorted(slices.Values(names))
	return quoted(slices.Compact(sorted), " or ")
}

// quoted joins names, the last one with a word of its own.
func quoted(names []string, last string) string {
	var b strings.Builder
	for i, name := range names {
		switch {
		case i > 0 && i == len(names)-1:
			b.WriteString(last)
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(Quote(name))
	}
	return b.String()
}
