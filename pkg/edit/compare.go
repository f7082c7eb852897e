package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// version is a text with what it means.
type version struct {
	text   []byte
	layout *config.Layout
	value  value.Value
}

// same returns an error if two versions of a file mean something else.
func same(kind part, before, after version) error {
	if bytes.Equal(before.text, after.text) {
		return nil
	}
	c := &comparison{grammar: theGrammar()}
	if err := c.values(before.value, after.value, kind); err != nil {
		return err
	}
	return c.comments(comments(before.text, before.layout), comments(after.text, after.layout))
}

// comparison checks that a formatted text means the same as the one before.
type comparison struct {
	grammar *grammar
	path    []string
}

func (c *comparison) unsafe(what string) error {
	at := "the file"
	if len(c.path) > 0 {
		at = "/" + strings.Join(c.path, "/")
	}
	return fmt.Errorf("%w: %s of %s would change", ErrUnsafe, what, at)
}

// values compares two values. Only the keys of maps whose order has no meaning
// may have changed places, and only the white space of expressions may differ.
func (c *comparison) values(a, b value.Value, kind part) error {
	switch {
	case a.Kind() != b.Kind():
		return c.unsafe("the type")
	case a.Kind() == value.Array:
		if a.Len() != b.Len() {
			return c.unsafe("the length")
		}
		for i, item := range a.Elems() {
			if err := c.at(strconv.Itoa(i), item, b.Elems()[i], c.grammar.item(kind)); err != nil {
				return err
			}
		}
		return nil
	case a.Kind() == value.Object:
		return c.maps(a, b, kind)
	case value.Same(a, b):
		return nil
	case kind == expression && a.Kind() == value.String && sameExpression(a.Str(), b.Str()):
		return nil
	}
	return c.unsafe("the value")
}

func (c *comparison) at(step string, a, b value.Value, kind part) error {
	c.path = append(c.path, step)
	err := c.values(a, b, kind)
	c.path = c.path[:len(c.path)-1]
	return err
}

func (c *comparison) maps(a, b value.Value, kind part) error {
	x, y := a.Entries(), b.Entries()
	if len(x) != len(y) {
		return c.unsafe("the number of keys")
	}
	for i, e := range x {
		other := y[i].Value
		if y[i].Key != e.Key {
			if !c.grammar.isOrdered(kind) {
				return c.unsafe("the order of the keys")
			}
			if !b.Has(e.Key) {
				return c.unsafe("the keys")
			}
			other = b.Get(e.Key)
		}
		if err := c.at(e.Key, e.Value, other, c.grammar.valueChild(kind, a, e.Key)); err != nil {
			return err
		}
	}
	return nil
}

// comments compares the comments of two texts, wherever they stand.
func (c *comparison) comments(before, after []string) error {
	slices.Sort(before)
	slices.Sort(after)
	if !slices.Equal(before, after) {
		return c.unsafe("the comments")
	}
	return nil
}

// comment is a comment at an offset.
type comment struct {
	at   int
	text string
}

// comments returns the comments of a text.
func comments(src []byte, root *config.Layout) []string {
	var texts []string
	for _, c := range commentsOf(src, root) {
		texts = append(texts, c.text)
	}
	return texts
}

// commentsOf returns the comments of a text in their order.
func commentsOf(src []byte, root *config.Layout) []comment {
	var found []comment
	at := 0
	between := func(to int) {
		for at < to {
			i := bytes.IndexByte(src[at:to], '#')
			if i < 0 {
				break
			}
			at += i
			if at > 0 && !bytes.ContainsRune([]byte(" \t\n"), rune(src[at-1])) {
				at++ // part of a name
				continue
			}
			end := lineEnd(src, at)
			found = append(found, comment{at, string(bytes.TrimRight(src[at:end], " \t"))})
			at = end
		}
		at = max(at, to)
	}
	var visit func(l *config.Layout)
	visit = func(l *config.Layout) {
		for _, item := range l.Items {
			visit(item)
		}
		if l.Items != nil || l.IsEmpty() || l.Kind != config.Scalar {
			return
		}
		between(l.Content)
		if isBlockScalar(l) {
			between(lineEnd(src, l.Content))
		}
		at = max(at, l.End)
	}
	visit(root)
	between(len(src))
	return found
}
