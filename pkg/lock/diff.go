package lock

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Difference is one difference between what is locked and what a server has now.
type Difference struct {
	// Server and Tool are names as the configuration has them. Tool is empty where
	// the difference is about the server.
	Server, Tool string
	// Path leads to what differs in the tool, as a JSON pointer such as
	// "/inputSchema/properties/path/type". It is empty for a tool or server as a
	// whole, and "/called" for a tool that both have and one has not locked.
	Path string
	// Was and Is are the values; undefined is absent.
	Was, Is value.Value
	// Documentation is true for the description of the tool, which does not change
	// what calls mean.
	Documentation bool
	// Note is true for what is shown and is no drift: the version of the server.
	Note bool
}

// called is the path of a tool that both have and only one has locked.
const called = "/called"

// maxShown is how many bytes of a value String shows.
const maxShown = 120

// String returns the difference as one line of plain text, without the names of
// server and tool.
func (d Difference) String() string {
	what := strings.TrimPrefix(d.Path, "/")
	switch {
	case d.Path == "" && d.Was.IsUndefined():
		return "added"
	case d.Path == "":
		return "removed"
	case d.Path == called && d.Was.IsUndefined():
		return "a node calls it, and it is not locked"
	case d.Path == called:
		return "no node calls it any more"
	case d.Was.IsUndefined():
		return fmt.Sprintf("%s: added %s", what, d.Is.Preview(maxShown))
	case d.Is.IsUndefined():
		return fmt.Sprintf("%s: removed %s", what, d.Was.Preview(maxShown))
	}
	was, is := differing(d.Was, d.Is)
	return fmt.Sprintf("%s: was %s, is %s", what, was, is)
}

// differing returns what two values are, as JSON: if one is long, from a little before
// the first difference.
func differing(was, is value.Value) (string, string) {
	if !was.LongerThan(maxShown) && !is.LongerThan(maxShown) {
		return was.JSON(), is.JSON()
	}
	show := func(text string) string { return value.FromString(text).Preview(maxShown) }
	a, b := was.Str(), is.Str()
	if was.Kind() != value.String || is.Kind() != value.String {
		a, b = was.JSON(), is.JSON()
		show = func(text string) string {
			if len(text) <= maxShown {
				return text
			}
			return strings.ToValidUTF8(text[:maxShown], "") + value.CutMark
		}
	}
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	for from = max(0, from-before); from > 0 && !utf8.RuneStart(a[from]); {
		from--
	}
	if from == 0 {
		return show(a), show(b)
	}
	return "… " + show(a[from:]), "… " + show(b[from:])
}

// before is how many bytes before the first difference are shown.
const before = 40

// Diff returns the differences of a tool that is locked from one that a server lists
// now, in the order of their places. At most maxDifferences are returned.
func (t *Tool) Diff(now *Tool) []Difference {
	c := &comparison{}
	is := now.parts()
	for i, was := range t.parts() {
		c.compare(was.key, was.of, is[i].of)
	}
	if t.Description != now.Description {
		c.add(Difference{Path: "/" + keyDescription, Was: text(t.Description), Is: text(now.Description), Documentation: true})
	}
	for i := range c.found {
		c.found[i].Tool = t.Name
	}
	return c.found
}

// Diff returns the differences of a server that is locked from what it is now:
// locked tools that are gone or differ, and the names of others that came or
// went, another authorization server, and whether it has the tasks that a tool needs. Its version, name and protocol revision are
// notes.
func (s *Server) Diff(now *Server) []Difference {
	var found []Difference
	for _, e := range []struct{ key, was, is string }{
		{keyName, s.ServerName, now.ServerName}, {keyRelease, s.Version, now.Version}, {keyProtocol, s.Protocol, now.Protocol},
	} {
		if e.was != e.is {
			found = append(found, Difference{Path: "/" + e.key, Was: text(e.was), Is: text(e.is), Note: true})
		}
	}
	if s.Issuer != now.Issuer { // without one now, the configuration names it
		found = append(found, Difference{Path: "/" + keyIssuer, Was: text(s.Issuer), Is: text(now.Issuer), Note: now.Issuer == ""})
	}
	if s.NoTasks != now.NoTasks {
		found = append(found, Difference{Path: "/" + keyTasks, Was: value.FromBool(!s.NoTasks), Is: value.FromBool(!now.NoTasks)})
	}
	for _, name := range union(s.ToolNames, now.ToolNames) {
		was, is := s.Tool(name), now.Tool(name)
		switch {
		case !now.Has(name):
			found = append(found, Difference{Tool: name, Was: text(name)})
		case !s.Has(name):
			found = append(found, Difference{Tool: name, Is: text(name)})
		case was == nil && is != nil:
			found = append(found, Difference{Tool: name, Path: called, Is: value.True})
		case was != nil && is == nil:
			found = append(found, Difference{Tool: name, Path: called, Was: value.True})
		case was != nil:
			found = append(found, was.Diff(is)...)
		}
	}
	for i := range found {
		found[i].Server = s.Name
	}
	return found
}

// Diff returns the differences of all servers, in the order of their names.
func (f *File) Diff(now *File) []Difference {
	var found []Difference
	var names [2][]string
	for i, of := range []*File{f, now} {
		for _, s := range of.Servers {
			names[i] = append(names[i], s.Name)
		}
	}
	for _, name := range union(names[0], names[1]) {
		was, is := f.Server(name), now.Server(name)
		switch {
		case is == nil:
			found = append(found, Difference{Server: name, Was: text(name)})
		case was == nil:
			found = append(found, Difference{Server: name, Is: text(name)})
		default:
			found = append(found, was.Diff(is)...)
		}
	}
	return found
}

// union returns the names of two sorted lists, sorted.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func text(s string) value.Value {
	if s == "" {
		return value.Undef
	}
	return value.FromString(s)
}

// maxDifferences bounds how many differences of one tool are found.
const maxDifferences = 100

// comparison compares values that are canonical.
type comparison struct {
	found []Difference
	path  []string // to the values that are compared
}

func (c *comparison) add(d Difference) {
	if len(c.found) < maxDifferences {
		c.found = append(c.found, d)
	}
}

var escapes = strings.NewReplacer("~", "~0", "/", "~1")

// compare compares two values, and below maxDepth as a whole.
func (c *comparison) compare(key string, was, is value.Value) {
	c.path = append(c.path, key)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	shallow := len(c.path) <= maxDepth
	switch {
	case shallow && was.Kind() == value.Object && is.Kind() == value.Object:
		var keys []string
		for _, e := range slices.Concat(was.Entries(), is.Entries()) {
			keys = append(keys, e.Key)
		}
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			c.compare(key, was.Get(key), is.Get(key))
		}
	case shallow && was.Kind() == value.Array && is.Kind() == value.Array && was.Len() == is.Len():
		for i, e := range was.Elems() {
			c.compare(strconv.Itoa(i), e, is.Elems()[i])
		}
	case was.Kind() == is.Kind() && value.Equal(was, is):
	default:
		c.add(Difference{Path: c.pointer(), Was: was, Is: is})
	}
}

// pointer returns the path as a JSON pointer (RFC 6901).
func (c *comparison) pointer() string {
	var b strings.Builder
	for _, key := range c.path {
		b.WriteByte('/')
		_, _ = escapes.WriteString(&b, key)
	}
	return b.String()
}
